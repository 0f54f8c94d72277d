package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"universal-transformer/internal/textfile"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/training"
)

// advice returns the command that helps after an error of a library, or an empty string. Libraries name only fields and values, as they do
// not know the flags of this program.
func advice(err error) string {
	var diverged *training.DivergedError
	var edited *pipeline.EditedError
	var lost *pipeline.LostError
	var data *task.MissingDataError
	var changed *pipeline.DataError
	var long *pipeline.LengthError
	switch {
	case errors.As(err, &long) && long.Tokens <= pipeline.MaxTokens:
		return fmt.Sprintf("--max-source %d", long.Tokens)
	case errors.As(err, &diverged) && diverged.Initial:
		return ""
	case errors.As(err, &diverged) && diverged.Saved < 0 && diverged.Broken != "":
		return fmt.Sprintf("ut train --config %s --out DIRECTORY --set training.schedule.%s=%.3g", textfile.Quoted(filepath.Join(diverged.Dir, "config.json")), diverged.Field, diverged.Value)
	case errors.As(err, &diverged):
		return fmt.Sprintf("ut train --resume %s --set training.schedule.%s=%.3g", textfile.Quoted(diverged.Dir), diverged.Field, diverged.Value)
	case errors.As(err, &edited):
		return fmt.Sprintf("ut train --resume %s --set FIELD=VALUE", textfile.Quoted(edited.Dir))
	case errors.As(err, &lost):
		return fmt.Sprintf("ut train --config %s --out DIRECTORY", textfile.Quoted(filepath.Join(lost.Dir, "config.json")))
	case errors.As(err, &changed):
		return fmt.Sprintf("ut train --resume %s --accept-data", textfile.Quoted(changed.Dir))
	case errors.As(err, &data):
		return fmt.Sprintf("ut data %s downloads it", data.Set)
	case errors.Is(err, subword.ErrTrainTokenizer):
		return "create one with ut tokenizer train"
	case errors.Is(err, pipeline.ErrNoClasses), errors.Is(err, pipeline.ErrNoTags):
		return "use ut decode"
	case errors.Is(err, pipeline.ErrTags):
		return "use ut tag"
	case errors.Is(err, pipeline.ErrNoSequences):
		return "use ut answer for stories, ut classify for other texts"
	case errors.Is(err, pipeline.ErrNoData):
		return "for example --vocabulary 10000 --length 32"
	}
	return ""
}
