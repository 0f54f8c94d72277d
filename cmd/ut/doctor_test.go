package main

import (
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine"
)

// A problem says what to do. What is not a problem has none.
// Caught when planted: a problem of every processor without bfloat16, a folder that is never written to.
func TestFindings(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		found           finding
		part, says, fix string
	}{
		"scalar":    {kernels("scalar", "", ""), "kernels", "cpu uses scalar", "use a processor with AVX2"},
		"AVX2":      {kernels("avx2", "", ""), "kernels", "products=bf16 is not for this processor", ""},
		"AMX":       {kernels("avx512", "amx", ""), "kernels", "cpu:products=bf16 uses amx; cpu:products=int8 is not for this processor", ""},
		"VNNI":      {kernels("avx512", "", "vnni"), "kernels", "bf16 is not for this processor; cpu:products=int8 uses vnni", ""},
		"no plugin": {plugins(nil)[0], "XLA", "no plugin", ""},
		"plugin":    {plugins([]engine.Plugin{{Name: "cuda", Path: "/x.so", Platform: "CUDA", Devices: []string{"a", "b"}}})[0], "XLA", "xla:cuda: /x.so, platform CUDA", ""},
		"broken":    {plugins([]engine.Plugin{{Name: "cuda", Path: "/x.so", Problem: "version 9 is too old"}})[0], "XLA", "xla:cuda", "version 9 is too old: install a plugin that fits"},
		"disk":      {disk(dir), "disk", dir, ""},
		"no folder": {disk(filepath.Join(dir, "none")), "disk", filepath.Join(dir, "none"), "choose another folder with --out"},
	} {
		f := c.found
		if f.Part != c.part || !strings.Contains(f.Found, c.says) || !strings.Contains(f.Problem, c.fix) || (f.Problem != "") != (c.fix != "") && name != "disk" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files remain: %v", left)
	}
}
