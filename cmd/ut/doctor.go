package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/provenance"
	"universal-transformer/runlog"
)

// A finding is what ut doctor found about a part of the machine.
type finding struct {
	Part    string `json:"part"`
	Found   string `json:"found"`
	Problem string `json:"problem"` // with what to do about it; "" if there is none
}

func newDoctor() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine this machine: processor, kernels, plugins, MPI, memory, disk",
		Long: `doctor prints what the program found on this machine and which of it makes training slow or
impossible, with what to do about it. Its exit code is 1 if there is a problem.

The fastest kernels of the backend cpu need AVX-512 or AVX2 (amd64) or NEON (arm64), and AMX or
AVX-512 BF16 for --backend cpu:products=bf16, AVX-512 VNNI or AVX2 for cpu:products=int8. XLA
plugins and MPI are optional.

With --json: an array of objects with the fields part, found and problem ("" if there is none).`,
		Example: `  ut doctor
  ut doctor --json`,
		Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error {
			list, problems := examine("."), 0
			for _, f := range list {
				if f.Problem != "" {
					problems++
				}
			}
			if asJSON {
				if err := writeJSON(c.OutOrStdout(), list); err != nil {
					return err
				}
			} else {
				for _, f := range list {
					fmt.Fprintf(c.OutOrStdout(), "%-10s %s\n", f.Part, f.Found)
					if f.Problem != "" {
						fmt.Fprintf(c.OutOrStdout(), "%-10s problem: %s\n", "", f.Problem)
					}
				}
			}
			switch problems {
			case 0:
				return nil
			case 1:
				return errors.New("1 problem was found")
			}
			return fmt.Errorf("%d problems were found", problems)
		}),
	}
	jsonFlag(c, &asJSON)
	return c
}

// examine returns the findings about this machine and a folder for runs.
func examine(folder string) []finding {
	bfloat16 := cpu.BFloat16()
	list := []finding{
		{"version", fmt.Sprintf("%s, %s, %s/%s", runlog.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH), ""},
		processor(), kernels(cpu.Kernels(), bfloat16, cpu.Int8()),
	}
	list = append(list, plugins(engine.Plugins())...)
	return append(list, launched(), memory(), disk(folder))
}

// processor describes the processor and how many threads compute.
func processor() finding {
	f := finding{"processor", fmt.Sprintf("%s; %d threads of %d processors", provenance.CPU(), runtime.GOMAXPROCS(0), runtime.NumCPU()), ""}
	if has := features(); len(has) > 0 {
		f.Found += "; " + strings.Join(has, ", ")
	}
	if n := runtime.GOMAXPROCS(0); n > runtime.NumCPU() {
		f.Problem = fmt.Sprintf("%d threads share %d processors: unset GOMAXPROCS", n, runtime.NumCPU())
	}
	return f
}

// kernels describes the kernels that were chosen.
func kernels(level, bfloat16, integer string) finding {
	f := finding{"kernels", "cpu uses " + level, ""}
	for _, products := range []struct{ option, kernels string }{{"bf16", bfloat16}, {"int8", integer}} {
		if products.kernels != "" {
			f.Found += fmt.Sprintf("; cpu:products=%s uses %s", products.option, products.kernels)
		} else {
			f.Found += fmt.Sprintf("; cpu:products=%s is not for this processor", products.option)
		}
	}
	if level == "scalar" {
		f.Problem = "plain loops are many times slower than vector kernels: use a processor with AVX2, AVX-512 or NEON, or in a virtual machine pass on the features of the host's processor"
	}
	return f
}

// plugins describes the XLA plugins.
func plugins(found []engine.Plugin) (list []finding) {
	if len(found) == 0 {
		return []finding{{"XLA", "no plugin, or not compiled in (docs/accelerators.md says how); the backend cpu needs none", ""}}
	}
	for _, p := range found {
		f := finding{"XLA", pluginLine(p), ""}
		if p.Problem != "" {
			f.Problem = fmt.Sprintf("%s: install a plugin that fits, or remove it (docs/accelerators.md)", p.Problem)
		}
		list = append(list, f)
	}
	return list
}

// launched describes MPI.
func launched() finding {
	f := finding{"MPI", "not compiled in; build with -tags mpi to train on several hosts (docs/hosts.md)", ""}
	_, size := parallel.Launched()
	if parallel.WithMPI {
		f.Found = fmt.Sprintf("compiled in; this is one of %d processes", size)
	} else if size > 1 {
		f.Problem = fmt.Sprintf("a launcher started %d processes, but each would train alone: use a program with MPI", size)
	}
	return f
}

// Least sizes, in bytes, below which training a small model is likely to fail.
const (
	leastFree = 512 << 20
	leastDisk = 1 << 30
)

// memory describes the memory of the machine, or of its control group.
func memory() finding {
	available, limit := engine.AvailableMemory()
	if available == math.MaxInt {
		return finding{"memory", "unknown on this system", ""}
	}
	f := finding{"memory", fmt.Sprintf("%s (%s)", gibibytes(uint64(available)), limit), ""}
	if available < leastFree {
		f.Problem = "training needs more: end other programs, raise the limit of the container, or lower training.batch.tokens"
	}
	return f
}

// disk describes the file system of a folder, in which it writes a file.
func disk(folder string) finding {
	path, err := filepath.Abs(folder)
	if err != nil {
		path = folder
	}
	f := finding{"disk", path, ""}
	file, err := os.CreateTemp(folder, ".doctor-*.tmp")
	if err != nil {
		f.Problem = fmt.Sprintf("nothing can be written here (%v): choose another folder with --out", oneLine(err))
		return f
	}
	file.Close()
	os.Remove(file.Name())
	if free := freeDisk(folder); free > 0 {
		f.Found += ", " + gibibytes(free) + " free"
		if free < leastDisk {
			f.Problem = "checkpoints may not fit: free some space, or choose another folder with --out"
		}
	}
	return f
}

func gibibytes(n uint64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }
