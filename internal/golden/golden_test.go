package golden

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/engine"
	"universal-transformer/halting"
)

func TestEveryCaseAgreesInBothPrecisions(t *testing.T) {
	backend, err := engine.New(engine.Default)
	if err != nil {
		t.Fatal(err)
	}
	files, err := List("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		for _, precision := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			c, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(c.Name+"/"+precision.String(), func(t *testing.T) {
				differences, err := c.Check(backend, precision)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range differences {
					t.Error(line)
				}
			})
		}
	}
}

// A check that cannot fail checks nothing: the wrong semantics, and a hair's breadth in one weight, must be found.
func TestDifferencesAreFound(t *testing.T) {
	backend, err := engine.New(engine.Default)
	if err != nil {
		t.Fatal(err)
	}
	differ := func(t *testing.T, change func(c *Case)) {
		c, err := Read("testdata/adaptive_frozen.safetensors")
		if err != nil {
			t.Fatal(err)
		}
		change(c)
		differences, err := c.Check(backend, dtypes.Float64)
		if err != nil {
			t.Fatal(err)
		}
		if len(differences) == 0 {
			t.Error("nothing differs")
		}
	}
	t.Run("other semantics", func(t *testing.T) {
		differ(t, func(c *Case) { c.Model.Halting = halting.Graves(c.Model.Halting.(halting.Frozen)) })
	})
	t.Run("one bit of one weight", func(t *testing.T) {
		differ(t, func(c *Case) { c.tensors["weight.encoder.transition.inner.weight"].Data[4] ^= 1 })
	})
	t.Run("another ponder weight", func(t *testing.T) {
		differ(t, func(c *Case) { c.PonderWeight += 1e-6 })
	})
}
