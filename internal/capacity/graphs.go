package capacity

import (
	"fmt"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/distributed"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
)

// Budget is how much memory the compiled graphs of a set of runners may take, in bytes, as [Graphs] counts them: some hundred. The heap may be
// twice that between collections.
const Budget = 256 << 20

// Graphs is the compiled graphs of runners that share variables, within one budget: whatever its shape, plan or runner, the graph
// that was not used for longest is freed for a new one. What is compiled decides how long a run takes, never what it computes. Not safe for
// concurrent use.
type Graphs struct {
	backend compute.Backend
	store   *model.Store
	mesh    *distributed.DeviceMesh // rows of inputs are split over its devices; nil: one device does everything
	budget  int
	used    []*compiled // the last used stands last
	stats   Stats
}

// Stats counts what compiling takes.
type Stats struct {
	Alive     int           // graphs that are compiled now
	Bytes     int           // that they take, about
	Compiled  int           // graphs that were compiled so far, those included that were freed again
	Compiling time.Duration // how long that took
}

// Line is a line for the person who waits, given how long everything took.
func (s Stats) Line(elapsed time.Duration) string {
	return fmt.Sprintf("graphs: %d compiled, %d kept in about %d MiB; compiling took %.1f %% of the time", s.Compiled, s.Alive, s.Bytes>>20,
		100*s.Compiling.Seconds()/elapsed.Seconds())
}

// compiled is a graph of one runner, for inputs of some shapes and one plan.
type compiled struct {
	runner *Runner
	key    string
	executable
}

// executable is what remains of a graph that was compiled.
type executable interface {
	run(inputs []any) ([]*tensors.Tensor, error)
	size() int // about, in bytes
	free()
}

// NewGraphs makes an empty set over the variables of store.
func NewGraphs(backend compute.Backend, store *model.Store, budget int) *Graphs {
	return &Graphs{backend: backend, store: store, budget: budget}
}

// Runner makes a runner whose graphs are in the set. Without a planner there is always full capacity, and with one too on a backend where
// graphs of smaller capacity would take more time to compile than they save.
func (s *Graphs) Runner(graph GraphBuilder, planner *Planner) *Runner {
	if engine.CompilesSlowly(s.backend) {
		planner = nil
	}
	return &Runner{graphs: s, graph: graph, planner: planner}
}

// Stats is what was compiled so far.
func (s *Graphs) Stats() Stats {
	stats := s.stats
	stats.Alive = len(s.used)
	return stats
}

// Close frees all graphs.
func (s *Graphs) Close() { s.free(func(*compiled) bool { return true }) }

// free frees some graphs.
func (s *Graphs) free(which func(*compiled) bool) {
	s.used = slices.DeleteFunc(s.used, func(c *compiled) bool {
		if !which(c) {
			return false
		}
		s.stats.Bytes -= c.size()
		c.free()
		return true
	})
}

// call runs the graph of a runner for a key, which it compiles with the given capacities if it is not there.
func (s *Graphs) call(r *Runner, key string, c Capacities, inputs []any) ([]*tensors.Tensor, error) {
	at := slices.IndexFunc(s.used, func(c *compiled) bool { return c.runner == r && c.key == key })
	if at >= 0 {
		found := s.used[at]
		s.used = append(slices.Delete(s.used, at, at+1), found)
		return found.run(inputs)
	}
	exec, err := model.NewExec(s.backend, s.store, func(scope *model.Scope, nodes []*Node) []*Node { return r.build(scope, nodes, c) })
	if err != nil {
		return nil, err
	}
	exec.WithName("batches " + key)
	e, out, err := s.compile(exec, inputs)
	if err != nil {
		return nil, err
	}
	for len(s.used) > 0 && s.stats.Bytes+e.size() > s.budget {
		oldest := s.used[0]
		s.free(func(c *compiled) bool { return c == oldest })
	}
	s.used = append(s.used, &compiled{r, key, e})
	s.stats.Bytes += e.size()
	return out, nil
}

// compile compiles a graph and calls it once, which initializes the variables that the graph has made.
func (s *Graphs) compile(exec *model.Exec, inputs []any) (executable, []*tensors.Tensor, error) {
	started := time.Now()
	if s.mesh != nil {
		e, out, err := s.compileSplit(exec, inputs)
		s.compiled(started)
		return e, out, err
	}
	p, err := compile(exec, s.backend, s.store, inputs)
	if err != nil {
		return nil, nil, err
	}
	s.compiled(started)
	out, err := exec.Call(inputs...)
	return p, out, err
}

func (s *Graphs) compiled(started time.Time) {
	s.stats.Compiled++
	s.stats.Compiling += time.Since(started)
}
