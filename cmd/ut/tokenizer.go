package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/internal/archive"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

const tokenizerHelp = `tokenizer trains and applies subword vocabularies. train learns a byte-level BPE, as in GPT-2, and
writes a tokenizer.json that the Hugging Face libraries can read. encode and decode also read other
people's tokenizer.json files and the subword vocabulary files of tensor2tensor.

Of the models that tokenizer.json allows, only byte-level BPE is supported: it is language-
independent and lossless, and its ids are tested to equal those of the Python library tokenizers.
WordPiece, Unigram (SentencePiece), and BPE with other pre-tokenizers or normalizers are rejected
by name, because slightly different ids would degrade a model silently. To use such a vocabulary,
either train a byte-level BPE on the same text, or split the text into pieces with its own
library, separate them with blanks, and use the tokenizer whitespace (tasks table and text). Set
truncation and padding to null in the file: they would change the ids.`

func newTokenizer() *cobra.Command {
	c := &cobra.Command{
		Use:   "tokenizer",
		Short: "Make and use a vocabulary of subwords",
		Long:  tokenizerHelp,
		Example: `  ut tokenizer train train.en train.de --size 8000 --out tokenizer.json
  echo "A dog runs." | ut tokenizer encode tokenizer.json --tokens`,
	}
	parent(c, newTokenizerTrain(), newTokenizerEncode(), newTokenizerDecode())
	return c
}

func newTokenizerTrain() *cobra.Command {
	out, trainer := "", subword.Trainer{}
	c := &cobra.Command{
		Use:   "train FILE...",
		Short: "Make a vocabulary of the subwords of a text",
		Long: `train reads UTF-8 text (also .gz), one sentence per line, and repeatedly merges the most frequent
pair of adjacent tokens until the vocabulary has the wanted size. The same text gives the same file.
Padding has id 0, the end of a sequence id 1.`,
		Example: `  ut tokenizer train train.en train.de
  ut tokenizer train train.en train.de --size 32000 --min-count 2 --out en-de.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("FILE is missing")
			}
			return nil
		},
		RunE: prompt(func(c *cobra.Command, args []string) error {
			if err := trainer.Validate(); err != nil {
				return usageError{fmt.Errorf("--%w", err)}
			}
			return trainTokenizer(c, &trainer, args, out)
		}),
	}
	c.Flags().IntVar(&trainer.Size, "size", 8000, "`tokens` of the vocabulary, 256 bytes and 2 special ones included")
	c.Flags().IntVar(&trainer.MinCount, "min-count", 1, "`times` that two pieces must stand together to be merged")
	c.Flags().StringVar(&out, "out", "tokenizer.json", "`file` to write")
	return c
}

func trainTokenizer(c *cobra.Command, trainer *subword.Trainer, paths []string, out string) error {
	if err := countWords(c, trainer, paths, out); err != nil {
		return err
	}
	var line *progress.Progress
	trainer.Progress = func(done, total int) error {
		if line == nil {
			line = progress.New(c.ErrOrStderr(), int64(total), "merge")
		}
		line.Update(int64(done))
		return c.Context().Err()
	}
	bpe, err := trainer.Train()
	if line != nil {
		line.Done()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	var content bytes.Buffer
	if err := bpe.Write(&content); err != nil {
		return err
	}
	if err := atomicfile.Write(out, content.Bytes()); err != nil {
		return err
	}
	note := ""
	if bpe.Size() < trainer.Size {
		note = ", as no other pieces stand together often enough"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %d tokens from %d lines%s\n", out, bpe.Size(), trainer.Lines(), note)
	return err
}

// countWords reads the files.
func countWords(c *cobra.Command, trainer *subword.Trainer, paths []string, out string) error {
	total, err := checkFiles(paths, out)
	if err != nil {
		return err
	}
	line := progress.New(c.ErrOrStderr(), total>>20, "MB")
	defer line.Done()
	read := int64(0)
	for _, path := range paths {
		f, err := textfile.Open(path)
		if err != nil {
			return err
		}
		plain, _, err := archive.Decompress(bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
			if err := c.Context().Err(); err != nil {
				return 0, err
			}
			n, err := f.Read(p)
			read += int64(n)
			line.Update(read >> 20)
			return n, err
		}), 64<<10))
		if err == nil {
			err = trainer.Count(plain)
		}
		f.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// checkFiles gives the size of the files, none of which may be the one to write, before any work is done.
func checkFiles(paths []string, out string) (size int64, err error) {
	old, err := os.Stat(out)
	if err == nil && old.IsDir() {
		return 0, fmt.Errorf("--out %s is a folder: name a file in it", out)
	}
	if folder, err := os.Stat(filepath.Dir(out)); err != nil || !folder.IsDir() {
		return 0, fmt.Errorf("%s cannot be written: there is no folder %s", out, filepath.Dir(out))
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return 0, err
		case info.IsDir():
			return 0, fmt.Errorf("%s is a folder: name its files", path)
		case old != nil && os.SameFile(info, old):
			return 0, usagef("--out %s is a file to train on", out)
		}
		size += info.Size()
	}
	return size, nil
}

// A readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func newTokenizerEncode() *cobra.Command {
	tokens := false
	c := &cobra.Command{
		Use:   "encode TOKENIZER",
		Short: "Turn text into ids",
		Long: `encode reads a text from the standard input and writes the ids of every line on a line, without
special tokens: a line that spells one is text like any other. What ends a line is no part of it.
With --tokens it writes the pieces, a blank in them as "Ġ" (BPE) or "␣" (tensor2tensor).`,
		Example: `  ut tokenizer encode tokenizer.json < text > ids
  echo "A dog runs." | ut tokenizer encode tokenizer.json --tokens`,
		Args: arguments("TOKENIZER"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			t, err := subword.Open(args[0])
			if err != nil {
				return err
			}
			return eachLine(c, func(line string) (string, error) {
				ids, err := t.Encode(line)
				return spelled(t, ids, tokens), err
			})
		}),
	}
	c.Flags().BoolVar(&tokens, "tokens", false, "write pieces, not their ids")
	return c
}

// spelled writes ids, or their pieces, with blanks between them.
func spelled(t subword.Tokenizer, ids []vocab.ID, tokens bool) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		if tokens {
			words[i] = t.Token(id)
		} else {
			words[i] = strconv.Itoa(int(id))
		}
	}
	return strings.Join(words, " ")
}

func newTokenizerDecode() *cobra.Command {
	return &cobra.Command{
		Use:   "decode TOKENIZER",
		Short: "Turn ids into text",
		Long: `decode reads ids from the standard input, separated by blanks, and writes the text of every line.
Special tokens are left out.`,
		Example: `  ut tokenizer decode tokenizer.json < ids > text`,
		Args:    arguments("TOKENIZER"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			t, err := subword.Open(args[0])
			if err != nil {
				return err
			}
			return eachLine(c, func(line string) (string, error) {
				var ids []vocab.ID
				for _, word := range strings.Fields(line) {
					id, err := strconv.ParseInt(word, 10, 32)
					if err != nil {
						return "", fmt.Errorf("%q is no id", word)
					}
					ids = append(ids, vocab.ID(id))
				}
				return t.Decode(ids)
			})
		}),
	}
}

// eachLine writes what becomes of every line of the standard input. A line that cannot be changed is reported and leaves an empty line.
func eachLine(c *cobra.Command, change func(string) (string, error)) error {
	lines, told := readLines(c.InOrStdin()), newComplaints(c)
	for {
		batch, end := lines.next(c.Context(), maxLines)
		var out bytes.Buffer
		for _, line := range batch {
			told.lines++
			changed, err := "", line.err
			if err == nil {
				changed, err = change(line.text)
			}
			if err != nil {
				told.complain(told.lines, err)
			}
			if err == nil || !told.byHand {
				out.WriteString(changed + "\n")
			}
		}
		if _, err := c.OutOrStdout().Write(out.Bytes()); err != nil {
			return err
		}
		if end == io.EOF {
			return told.end()
		}
		if end != nil {
			return end
		}
	}
}
