package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// advice returns what to do about an error of a library, as a command or a flag, or an empty string. Libraries name fields and values
// only, because they do not know the flags of this program.
func advice(err error) string {
	var diverged *training.DivergedError
	var edited *pipeline.EditedError
	var lost *pipeline.LostError
	switch {
	case errors.As(err, &diverged):
		return fmt.Sprintf("ut train --resume %s --set training.schedule.%s=%.3g", diverged.Dir, diverged.Field, diverged.Value)
	case errors.As(err, &edited):
		return fmt.Sprintf("ut train --resume %s --set FIELD=VALUE", edited.Dir)
	case errors.As(err, &lost):
		return fmt.Sprintf("ut train --config %s --out DIRECTORY", filepath.Join(lost.Dir, "config.json"))
	}
	return ""
}
