package cpu

import (
	"fmt"
	"log"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/kernel"
)

// BackendName is the name under which the backend registers itself: GOMLX_BACKEND=cpu, or compute.NewWithConfig("cpu").
const BackendName = "cpu"

func init() {
	compute.Register(BackendName, New)
}

// Backend compiles graphs to fused loops and matrix products and runs them on the cores of this machine. All methods may be called
// concurrently.
type Backend struct {
	machine   *exec.Machine
	finalized atomic.Bool

	spare         spare    // memory of finalized buffers
	replayReasons sync.Map // reasons that have been logged

	mu          sync.Mutex
	fallback    compute.Backend // the portable backend, created by the first graph that needs it
	fallbackErr error
	executables map[*executable]struct{} // to release their arenas in Finalize
}

var _ compute.Backend = (*Backend)(nil)

var warnScalarOnce sync.Once

// New returns a backend for a configuration, which consists of options separated by commas.
//
//	avx512, avx2, neon, scalar
//	                      use these kernels (an error if this processor lacks them)
//	threads=N             use N cores; the default is GOMAXPROCS
//	share=N               share work between threads from N elements on; the default is 8192
//	products=bf16         round the operands of float32 products to bfloat16, and sum in float32
//	products=int8         round the operands of float32 products by parameters to int8; for inference
//	least=N               ... in products of at least N columns and terms, and rows unless the right operand is a parameter; the default is 32
func New(config string) (compute.Backend, error) {
	o, err := parseOptions(config)
	if err != nil {
		return nil, err
	}
	kernels, err := o.kernels()
	if err != nil {
		return nil, err
	}
	machine := exec.NewMachine(kernels, o.threads, o.share)
	machine.LeastRounded = o.least
	return &Backend{machine: machine, executables: make(map[*executable]struct{})}, nil
}

// CheckOptions returns an error unless New reads the configuration. Kernels that this processor lacks are valid here.
func CheckOptions(config string) error {
	_, err := parseOptions(config)
	return err
}

// Threads returns the number of threads of a backend with this configuration, or 0 if New does not read it.
func Threads(config string) int {
	o, err := parseOptions(config)
	if err != nil {
		return 0
	}
	return o.threads
}

// options is a parsed configuration.
type options struct {
	level          string // of the kernels: avx512, avx2, neon or scalar; "" means the best available
	threads, share int
	products       string // bf16 or int8: round the operands of products
	least          int    // see New
}

// kernels returns the kernels of the options. It returns an error if this processor lacks them.
func (o options) kernels() (set *kernel.Set, err error) {
	named := o.level != ""
	if named {
		set, err = kernel.Named(o.level)
	} else if set = kernel.Best(); set.Level == kernel.LevelScalar {
		warnScalarOnce.Do(func() { log.Printf("cpu: %s", kernel.ScalarReason) })
	}
	switch {
	case err != nil:
		return nil, err
	case o.products == bfloat16Products:
		return set.WithBFloat16(named)
	case o.products == int8Products:
		return set.WithInt8(named)
	}
	return set, nil
}

// Values of the option products.
const (
	bfloat16Products = "bf16"
	int8Products     = "int8"
)

// leastRounded is the size from which on rounding the operands makes products faster.
const leastRounded = 32

// maxThreads is far above the number of cores of any machine.
const maxThreads = 4096

func parseOptions(config string) (o options, err error) {
	o = options{threads: runtime.GOMAXPROCS(0), share: 8192, least: leastRounded}
	given := map[string]bool{}
	for option := range strings.SplitSeq(config, ",") {
		key, value, valued := strings.Cut(strings.TrimSpace(option), "=")
		if given[key] && key != "" {
			return o, fmt.Errorf("option %q is given twice", key)
		}
		given[key] = true
		switch {
		case key == "" && !valued:
		case slices.Contains([]string{"avx512", "avx2", "neon", "scalar"}, key) && !valued:
			if o.level != "" {
				return o, fmt.Errorf("options %q and %q are both given: choose one", o.level, key)
			}
			o.level = key
		case key == "products" && valued:
			if o.products = value; value != bfloat16Products && value != int8Products {
				return o, fmt.Errorf("products is %q: it must be bf16 or, for inference, int8; leave it out for float32", value)
			}
		case key == "threads" && valued:
			if o.threads, err = strconv.Atoi(value); err != nil || o.threads < 1 || o.threads > maxThreads {
				return o, fmt.Errorf("threads is %q: it must be a whole number from 1 to %d", value, maxThreads)
			}
		case key == "share" && valued:
			if o.share, err = strconv.Atoi(value); err != nil || o.share < 1 {
				return o, fmt.Errorf("share is %q: it must be a whole number of at least 1", value)
			}
		case key == "least" && valued:
			if o.least, err = strconv.Atoi(value); err != nil || o.least < 1 {
				return o, fmt.Errorf("least is %q: it must be a whole number of at least 1", value)
			}
		default:
			return o, fmt.Errorf("option %q is not known: there are avx512, avx2, neon, scalar, threads=N, share=N, products=bf16, products=int8, least=N", option)
		}
	}
	if o.least != leastRounded && o.products == "" {
		return o, fmt.Errorf("least is %d without products=bf16 or int8: it says which products are rounded", o.least)
	}
	return o, nil
}

// Name returns "cpu".
func (b *Backend) Name() string { return BackendName }

// String returns "cpu".
func (b *Backend) String() string { return BackendName }

// rounded returns the kernels that round the operands of products, and the value of the option products, or nil.
func (b *Backend) rounded() (*kernel.Gemm, string) {
	if k := b.machine.Kernels; k.ByParameter != nil {
		return k.ByParameter, int8Products
	}
	return b.machine.Kernels.Rounded, bfloat16Products
}

// Description names the kernels and the number of threads.
func (b *Backend) Description() string {
	kernels := string(b.machine.Kernels.Level)
	if rounded, _ := b.rounded(); rounded != nil {
		kernels += ", products in " + rounded.Name
	}
	return fmt.Sprintf("SIMD CPU backend (%s, %d threads)", kernels, b.machine.Threads)
}

// Options returns the configuration of the backend as New reads it: "avx512,threads=2,products=bf16".
func (b *Backend) Options() string {
	text := fmt.Sprintf("%s,threads=%d", b.machine.Kernels.Level, b.machine.Threads)
	rounded, products := b.rounded()
	if rounded == nil {
		return text
	}
	text += ",products=" + products
	if b.machine.LeastRounded != leastRounded {
		text += fmt.Sprintf(",least=%d", b.machine.LeastRounded)
	}
	return text
}

// InferenceOnly returns the option that makes gradients on this backend useless, or "".
func (b *Backend) InferenceOnly() string {
	if b.machine.Kernels.ByParameter != nil {
		return "products=" + int8Products
	}
	return ""
}

// Threads returns the number of threads.
func (b *Backend) Threads() int { return b.machine.Threads }

// NumDevices returns 1: the host is the only device.
func (b *Backend) NumDevices() int { return 1 }

// DeviceDescription describes the host.
func (b *Backend) DeviceDescription(compute.DeviceNum) string { return "host" }

// Capabilities lists the operations and types that graphs may use. See Unsupported for what runs on the portable backend instead.
func (b *Backend) Capabilities() compute.Capabilities { return capabilities.Clone() }

// Finalize releases the memory kept between executions and stops the worker threads.
func (b *Backend) Finalize() {
	if b.finalized.Swap(true) {
		return
	}
	b.mu.Lock()
	executables := b.executables
	b.executables = nil
	fallback := b.fallback
	b.mu.Unlock()
	for e := range executables {
		e.release()
	}
	b.machine.Close()
	b.spare.drop()
	if fallback != nil {
		fallback.Finalize()
	}
}

// IsFinalized reports whether Finalize was called.
func (b *Backend) IsFinalized() bool { return b.finalized.Load() }

// portable returns the portable backend, in its deterministic mode: its parallel mode can deadlock.
func (b *Backend) portable() (compute.Backend, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fallback == nil && b.fallbackErr == nil {
		b.fallback, b.fallbackErr = newPortable()
	}
	return b.fallback, b.fallbackErr
}
