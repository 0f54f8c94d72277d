package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"universal-transformer/engine"
)

type short struct{ error }

func (short) Memory() (need, have int) { return 3, 2 }

func TestPlain(t *testing.T) {
	inner := short{errors.New("needs 3 GiB")}
	if got := engine.Plain(fmt.Errorf("func38 failed: %w", inner)); got != error(inner) {
		t.Errorf("%v", got)
	}
	if other := errors.New("other"); engine.Plain(other) != other || engine.Plain(nil) != nil {
		t.Error("other errors change")
	}
}
