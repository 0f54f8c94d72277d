package pipeline

import (
	"errors"
	"fmt"
	"io/fs"

	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/subword"
	"universal-transformer/task"
)

// Files of a run directory that define the ids. The second exists if text is split into subwords.
const (
	vocabularyFile = "vocabulary.json"
	tokenizerFile  = "tokenizer.json"
)

// writeVocabularies writes both, the tokenizer first: a vocabulary never exists without its tokenizer.
func writeVocabularies(log *runlog.Run, v task.Vocabularies) error {
	if v.Subwords != nil {
		if err := log.WriteFile(tokenizerFile, v.Subwords.File()); err != nil {
			return err
		}
	}
	return log.WriteJSON(vocabularyFile, v)
}

// readVocabularies reads the files of writeVocabularies. It is an error if the tokenizer has been replaced.
func readVocabularies(log *runlog.Run) (v task.Vocabularies, err error) {
	if err := log.ReadJSON(vocabularyFile, &v); err != nil || v.Tokenizer != vocab.Subwords {
		return v, err
	}
	file, err := log.ReadFile(tokenizerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return v, errors.New("tokenizer.json is missing: restore it")
	}
	if err != nil {
		return v, err
	}
	if v.Subwords, err = subword.ReadPieces(file); err != nil {
		return v, fmt.Errorf("tokenizer.json: %w", err)
	}
	if v.Subwords.Digest() != v.TokenizerDigest {
		return v, errors.New("tokenizer.json is not the one that the run was trained with: restore it")
	}
	return v, nil
}
