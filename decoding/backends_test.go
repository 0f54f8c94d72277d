package decoding

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// A renamed backend has another name, and shares its memory or does not.
type renamed struct {
	compute.Backend
	name   string
	shared bool
}

func (r renamed) Name() string           { return r.name }
func (r renamed) HasSharedBuffers() bool { return r.shared }

// Rows are copied in place only on backends that share their memory and compile fast; on slow ones there are few graphs.
func TestBackends(t *testing.T) {
	config := universal.Config{TargetVocabulary: 4, Width: 2, Heads: 1, Transition: universal.FeedForward{Filter: 2}, Halting: halting.Fixed{Steps: 1}}
	for _, c := range []struct {
		name              string
		memory            bool
		shared, fewGraphs bool
	}{{"cpu", true, true, false}, {"cpu", false, false, false}, {"xla", true, false, true}, {"xla", false, false, true}} {
		d, err := New(renamed{enginetest.Backend(t), c.name, c.memory}, model.NewStore(), universal.Decoder{Config: config})
		if err != nil {
			t.Fatal(err)
		}
		if d.shared != c.shared || d.fewGraphs != c.fewGraphs {
			t.Errorf("%s, shared memory %v: rows are copied in place: %v, few graphs: %v", c.name, c.memory, d.shared, d.fewGraphs)
		}
		d.Close()
	}
}
