package cpu

import (
	"runtime"
	"strings"
	"testing"
)

// Options are as they were given, and one that is wrong is named with what is valid.
// Caught when planted: a number that is not looked at, an option that is passed over.
func TestOptions(t *testing.T) {
	for config, want := range map[string]options{
		"": {threads: runtime.GOMAXPROCS(0), share: 8192, least: 32}, "threads=3": {threads: 3, share: 8192, least: 32},
		" share=32 ,threads=2,": {threads: 2, share: 32, least: 32}, "threads=1,products=bf16": {threads: 1, share: 8192, products: "bf16", least: 32},
		"threads=1,products=int8":         {threads: 1, share: 8192, products: "int8", least: 32},
		"least=1,threads=1,products=bf16": {threads: 1, share: 8192, products: "bf16", least: 1},
		"avx512,threads=1":                {level: "avx512", threads: 1, share: 8192, least: 32}, "neon,threads=1": {level: "neon", threads: 1, share: 8192, least: 32},
	} {
		if got, err := parseOptions(config); err != nil || got != want {
			t.Errorf("%q is %+v, %v, want %+v", config, got, err, want)
		}
	}
	if got, err := (options{level: "scalar"}).kernels(); err != nil || got.Level != "scalar" {
		t.Errorf("scalar is %+v, %v", got, err)
	}
	foreign := map[string]string{"arm64": "avx2"}[runtime.GOARCH]
	if foreign == "" {
		foreign = "neon"
	}
	if err := CheckOptions(foreign); err != nil {
		t.Error(err)
	}
	if _, err := New(foreign); err == nil || !strings.Contains(err.Error(), "this build has no "+foreign+" kernels") {
		t.Errorf("%s on %s: %v", foreign, runtime.GOARCH, err)
	}
	for config, want := range map[string]string{
		"threads=0": `threads is "0": it must be a whole number from 1`, "threads=1000000": `threads is "1000000"`, "threads": `option "threads" is not known`,
		"share=x": `share is "x"`, "scalar=2": `option "scalar=2" is not known`, "sse": `option "sse" is not known: there are avx512, avx2, neon, scalar, threads=N, share=N, products=bf16, products=int8, least=N`, "=1": `option "=1"`,
		"products=fp8": `products is "fp8": it must be bf16 or, for inference, int8`, "products": `option "products" is not known`, "least=0,products=bf16": `least is "0": it must be a whole number`,
		"threads=1,avx2, threads=4": `option "threads" is given twice`, "scalar,scalar": `option "scalar" is given twice`, "avx2,threads=1,scalar": `options "avx2" and "scalar" are both given`,
		"least=4": "least is 4 without products=bf16 or int8",
	} {
		if got, err := parseOptions(config); err == nil || !strings.Contains(err.Error(), want) || CheckOptions(config) == nil {
			t.Errorf("%q is %+v, %v, want %q", config, got, err, want)
		}
	}
}

// Whatever the configuration is, it is refused in one line or has numbers that a machine can be made with.
func FuzzOptions(f *testing.F) {
	for _, config := range []string{"", "avx512", "neon", "avx2,threads=2", "scalar,share=1", "threads=99999999999999999999", "threads=0x3", ",,=", "share=-1", "products=bf16,least=2", "products=int8", "products=", "least=8"} {
		f.Add(config)
	}
	f.Fuzz(func(t *testing.T, config string) {
		o, err := parseOptions(config)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		if o.threads < 1 || o.threads > maxThreads || o.share < 1 || o.least < 1 {
			t.Fatalf("%q is %+v", config, o)
		}
	})
}
