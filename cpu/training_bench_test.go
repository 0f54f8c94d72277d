//go:build unix

package cpu_test

import (
	"syscall"
	"testing"
)

func benchmarkTraining(b *testing.B, c transformer, config string) {
	t := c.trainer(newBackend(b, config))
	t.step()
	t.step()
	before := cpuTime()
	for b.Loop() {
		t.step()
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1e6, "cpu-ms/op")
}

// cpuTime is what this process has used of all cores, in nanoseconds: on a shared machine it says more than the clock.
func cpuTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func BenchmarkTraining(b *testing.B) {
	for name, c := range map[string]transformer{"128": base, "512": wide} {
		for _, config := range []string{"cpu", "cpu:threads=1", "cpu:products=bf16", "cpu:threads=1,products=bf16", "go:ops_sequential"} {
			b.Run(name+"/"+config, func(b *testing.B) { benchmarkTraining(b, c, config) })
		}
	}
}
