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

// Budget is the memory limit, in bytes, of the compiled graphs of a set of runners, as counted by [Graphs]: a few hundred graphs. The
// heap may grow to twice that between collections.
const Budget = 256 << 20

// maxIdle is the number of calls of other graphs after which an unused graph is freed. Plans follow the ponder time, so that most graphs
// of a long training are never used again. Compiling a graph takes about as long as calling it once or twice, so that freeing one that is
// used again costs little.
const maxIdle = 2000

// Graphs holds the compiled graphs of runners that share variables, within one memory budget. To make room, it frees the graph that
// was unused for the longest time, whatever its shape, plan or runner. If compiling is fast, it also frees graphs that are no longer
// used. This affects the duration of a run, never its results. It is not safe for concurrent use.
type Graphs struct {
	backend compute.Backend
	store   *model.Store
	mesh    *distributed.DeviceMesh // its devices share the rows of inputs; nil: there is one device
	budget  int
	used    []*compiled // in order of last use
	stats   Stats
}

// Stats counts compilations and their time.
type Stats struct {
	Alive     int           // number of graphs that are compiled now
	Bytes     int           // their approximate memory
	Compiled  int           // number of graphs compiled so far, including those that were freed
	Compiling time.Duration // total time of compilation
	Calls     int           // number of calls of graphs
}

// Line formats the statistics as one line, given the total time of the run.
func (s Stats) Line(elapsed time.Duration) string {
	return fmt.Sprintf("graphs: %d compiled, %d kept in about %d MiB; compiling took %.1f %% of the time", s.Compiled, s.Alive, s.Bytes>>20,
		100*s.Compiling.Seconds()/elapsed.Seconds())
}

// compiled is a graph of one runner, for given input shapes and one plan.
type compiled struct {
	runner *Runner
	key    string
	call   int // number of the last call
	executable
}

// executable is a compiled graph.
type executable interface {
	run(inputs []any) ([]*tensors.Tensor, error)
	size() int // about, in bytes
	free()
}

// NewGraphs returns an empty set over the variables of store.
func NewGraphs(backend compute.Backend, store *model.Store, budget int) *Graphs {
	return &Graphs{backend: backend, store: store, budget: budget}
}

// Runner returns a runner whose graphs are in the set. It uses full capacity if there is no planner, or if the backend takes more
// time to compile graphs of smaller capacity than they save.
func (s *Graphs) Runner(graph GraphBuilder, planner *Planner) *Runner {
	if engine.CompilesSlowly(s.backend) {
		planner = nil
	}
	return &Runner{graphs: s, graph: graph, planner: planner}
}

// Stats returns the statistics so far.
func (s *Graphs) Stats() Stats {
	stats := s.stats
	stats.Alive = len(s.used)
	return stats
}

// Close frees all graphs.
func (s *Graphs) Close() { s.free(func(*compiled) bool { return true }) }

// free frees the selected graphs.
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

// call runs the graph of a runner with a key, after compiling it with the given capacities if necessary.
func (s *Graphs) call(r *Runner, key string, c Capacities, inputs []any) ([]*tensors.Tensor, error) {
	s.stats.Calls++
	at := slices.IndexFunc(s.used, func(c *compiled) bool { return c.runner == r && c.key == key })
	if at >= 0 {
		found := s.used[at]
		found.call = s.stats.Calls
		s.used = append(slices.Delete(s.used, at, at+1), found)
		out, err := found.run(inputs)
		return out, engine.Plain(err)
	}
	exec, err := model.NewExec(s.backend, s.store, func(scope *model.Scope, nodes []*Node) []*Node { return r.build(scope, nodes, c) })
	if err != nil {
		return nil, err
	}
	exec.WithName("batches " + key)
	e, out, err := s.compile(exec, inputs)
	if err != nil {
		exec.Finalize() // it may be compiled
		return nil, engine.Plain(err)
	}
	if !engine.CompilesSlowly(s.backend) {
		s.free(func(c *compiled) bool { return s.stats.Calls-c.call > maxIdle })
	}
	for len(s.used) > 0 && s.stats.Bytes+e.size() > s.budget {
		oldest := s.used[0]
		s.free(func(c *compiled) bool { return c == oldest })
	}
	s.used = append(s.used, &compiled{r, key, s.stats.Calls, e})
	s.stats.Bytes += e.size()
	return out, nil
}

// compile compiles a graph and calls it once, which initializes the variables created by the graph.
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
	if err := s.initialize(); err != nil {
		return nil, nil, err
	}
	s.compiled(started)
	out, err := exec.Call(inputs...)
	return p, out, err
}

// initialize computes the initial values of new variables on the default backend, if this one compiles slowly: they are constants of a
// graph, and to XLA a constant is text, of hundreds of megabytes for a large model.
func (s *Graphs) initialize() error {
	if !engine.CompilesSlowly(s.backend) {
		return nil
	}
	host, err := engine.New(engine.Default)
	if err != nil {
		return err
	}
	defer host.Finalize()
	var created []*model.Variable
	for v := range s.store.IterVariables() {
		if !v.HasValue() {
			created = append(created, v)
		}
	}
	if err := s.store.InitializeVariables(host, nil); err != nil {
		return err
	}
	for _, v := range created {
		value, err := v.Value()
		if err == nil {
			err = value.ToLocal()
		}
		if err != nil {
			return fmt.Errorf("variable %s: %w", v.Path(), err)
		}
	}
	return nil
}

func (s *Graphs) compiled(started time.Time) {
	s.stats.Compiled++
	s.stats.Compiling += time.Since(started)
}
