package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/internal/archive"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/textfile"
	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

const tokenizerHelp = `tokenizer trains and applies subword vocabularies. train learns a byte-level BPE, as in GPT-2, and
writes a tokenizer.json that the Hugging Face libraries can read. encode and decode also read other
people's tokenizer.json files and the subword vocabulary files of tensor2tensor.

Of the models that tokenizer.json allows, only byte-level BPE is supported: it is language-
independent and lossless, and its ids are tested to equal those of the Python library tokenizers
without special tokens. The files of GPT-2, GPT-4, GPT-4o, gpt-oss, Llama 3, Qwen 2 and 3 and
Mistral Nemo can be read, with their patterns for words, form NFC and added tokens.
WordPiece, Unigram (SentencePiece), and BPE with other pre-tokenizers or normalizers are rejected
by name, because slightly different ids would degrade a model silently. To use such a vocabulary,
either train a byte-level BPE on the same text, or split the text into pieces with its own
library, separate the pieces by spaces, and use the tokenizer whitespace (tasks table and text). Set
truncation and padding to null in the file: they would change the ids.`

func newTokenizer() *cobra.Command {
	c := &cobra.Command{
		Use:   "tokenizer",
		Short: "Train and apply subword vocabularies",
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
		Short: "Train a subword vocabulary on text",
		Long: `train reads UTF-8 text (also .gz), one sentence per line, and repeatedly merges the most frequent
pair of adjacent tokens until the vocabulary has the size --size. The same text gives the same file.
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
			if trainer.Size == 0 {
				return usagef("--size is 0: it must be at least %d", subword.MinSize)
			}
			if err := atLeastOne(c, "min-count"); err != nil {
				return err
			}
			if err := trainer.Validate(); err != nil {
				return usageError{fmt.Errorf("--%w", err)}
			}
			return trainTokenizer(c, &trainer, args, out)
		}),
	}
	c.Flags().IntVar(&trainer.Size, "size", 8000, "size of the vocabulary in `tokens`, including 256 bytes and 2 special tokens")
	c.Flags().IntVar(&trainer.MinCount, "min-count", 1, "merge only pairs that occur at least this `number` of times")
	c.Flags().StringVar(&out, "out", "tokenizer.json", "`file` to write, - for the standard output")
	standardFlag(c, "out")
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
	if err := writeOutput(c, out, content.Bytes()); err != nil {
		return err
	}
	note, name := "", out
	if out == standard {
		name = "the vocabulary"
	}
	if bpe.Size() < trainer.Size {
		note = ", as no further pair is frequent enough"
	}
	_, err = fmt.Fprintf(besides(c, out), "%s: %d tokens from %s%s\n", name, bpe.Size(), quantity.Regular(int(trainer.Lines()), "lines"), note)
	return err
}

// countWords counts the words of the files.
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
		switch {
		case errors.Is(err, subword.ErrText):
			return fmt.Errorf("%s: %w: %w", path, err, textfile.EncodingError(path, ""))
		case errors.Is(err, subword.ErrNUL):
			return fmt.Errorf("%s: %w: remove such bytes with: %s", path, err, textfile.Convert(path, `tr -d '\000'`, ".text"))
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// checkFiles returns the total size of the files. It returns an error if one of them is missing or is also the output.
func checkFiles(paths []string, out string) (size int64, err error) {
	var keep []kept
	if old, err := os.Stat(out); err == nil && old.IsDir() {
		return 0, fmt.Errorf("--out %s is a folder: name a file in it", out)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return 0, missingFile(err, "FILE", "a text to train on")
		case info.IsDir():
			return 0, fmt.Errorf("%s is a folder: name its files", path)
		}
		size += info.Size()
		keep = append(keep, kept{path, "a file to train on"})
	}
	return size, checkOutput("out", out, keep...)
}

// A readerFunc is a function as an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func newTokenizerEncode() *cobra.Command {
	tokens := false
	c := &cobra.Command{
		Use:   "encode TOKENIZER",
		Short: "Convert text to ids",
		Long: `encode reads text from the standard input and writes the ids of each line on one line. Line ends are
not encoded, and no special tokens are added; the spelling of a special token is encoded as text.
With --tokens it writes the pieces instead, with "Ġ" (BPE) or "␣" (tensor2tensor) for a space.`,
		Example: `  ut tokenizer encode tokenizer.json < text > ids
  echo "A dog runs." | ut tokenizer encode tokenizer.json --tokens`,
		Args: arguments("TOKENIZER"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			t, err := subword.Open(args[0])
			if err != nil {
				return missingFile(err, "TOKENIZER", "a tokenizer.json, as ut tokenizer train writes it")
			}
			return eachLine(c, func(line string) (string, error) {
				ids, err := t.Encode(line)
				return spelled(t, ids, tokens), err
			})
		}),
	}
	c.Flags().BoolVar(&tokens, "tokens", false, "write pieces instead of ids")
	return c
}

// spelled joins ids, or their pieces, with spaces.
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
		Short: "Convert ids to text",
		Long: `decode reads ids from the standard input, separated by spaces, and writes the text of each line.
Special tokens are omitted.`,
		Example: `  ut tokenizer decode tokenizer.json < ids > text`,
		Args:    arguments("TOKENIZER"),
		RunE: prompt(func(c *cobra.Command, args []string) error {
			t, err := subword.Open(args[0])
			if err != nil {
				return missingFile(err, "TOKENIZER", "a tokenizer.json, as ut tokenizer train writes it")
			}
			return eachLine(c, func(line string) (string, error) {
				var ids []vocab.ID
				for _, word := range strings.Fields(line) {
					id, err := strconv.ParseInt(word, 10, 32)
					if err != nil {
						return "", fmt.Errorf("%q is not an id", word)
					}
					ids = append(ids, vocab.ID(id))
				}
				return t.Decode(ids)
			})
		}),
	}
}

// eachLine applies change to every line of the standard input and writes the results. A line with an error is reported, and its result is
// an empty line.
func eachLine(c *cobra.Command, change func(string) (string, error)) error {
	lines, bad := readLines(c.InOrStdin()), newBadLines(c)
	for {
		batch, end := lines.next(c.Context(), maxLines)
		var out bytes.Buffer
		for _, line := range batch {
			bad.lines++
			changed, err := "", line.err
			if err == nil {
				changed, err = change(line.text)
			}
			if err != nil {
				bad.report(bad.lines, err)
			}
			if err == nil || !bad.byHand {
				out.WriteString(changed + "\n")
			}
		}
		if _, err := c.OutOrStdout().Write(out.Bytes()); err != nil {
			return err
		}
		if end == io.EOF {
			return bad.end()
		}
		if end != nil {
			return end
		}
	}
}
