package exec

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// The tightest limit counts, wherever it is: the machine, a group of either version, or a group around it; what a group has cached is free.
// Caught when planted: only the innermost group; usage or cache not counted; "max" and v1's huge number taken for limits.
func TestReadMemory(t *testing.T) {
	const gib = 1 << 30
	machine := map[string]string{"proc/meminfo": "MemTotal: 25165824 kB\nMemAvailable:    8388608 kB\n", "proc/self/statm": "5000 1000 1 1 0 1 0"}
	for what, c := range map[string]struct {
		files map[string]string
		free  int
		limit string
	}{
		"machine": {map[string]string{}, 8 * gib, "the memory that is available on this machine"},
		"v2": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4294967296\n", "sys/fs/cgroup/a/b/memory.current": "2147483648\n",
			"sys/fs/cgroup/a/b/memory.stat": "anon 5\ninactive_file 1073741824\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 3 * gib, "the control group's memory.max"},
		"v2, the group around": {map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
			"sys/fs/cgroup/a/memory.current": "536870912\n",
		}, gib / 2, "the control group's memory.max"},
		"v2, in its own namespace": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "2147483648\n", "sys/fs/cgroup/memory.current": "1073741824\n",
		}, gib, "the control group's memory.max"},
		"v1": {map[string]string{
			"proc/self/cgroup": "4:memory:/x\n1:cpu:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "3221225472\n",
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1073741824\n", "sys/fs/cgroup/memory/x/memory.stat": "total_inactive_file 0\n",
		}, 2 * gib, "the control group's memory.limit_in_bytes"},
		"v1, outside": {map[string]string{
			"proc/self/cgroup": "4:memory:/not/there\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 8 * gib, "the memory that is available on this machine"},
		"used up": {map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1\n", "sys/fs/cgroup/memory.current": "1073741824\n",
		}, 0, "the control group's memory.max"},
	} {
		root := t.TempDir()
		for _, files := range []map[string]string{machine, c.files} {
			for name, content := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := ReadMemory(root)
		if got.Free != c.free || got.Limit != c.limit || got.Used != 1000*os.Getpagesize() {
			t.Errorf("%s: %+v, want %d free by %s", what, got, c.free, c.limit)
		}
	}
	if got := ReadMemory(t.TempDir()); got.Free != math.MaxInt || got.Used != 0 {
		t.Errorf("nothing can be read: %+v", got)
	}
}

// What executions have given back is free.
func TestIdleArenasAreFree(t *testing.T) {
	m := &Machine{Memory: func() Memory { return Memory{Free: 1000, Used: 90_000} }}
	defer m.arenas.shutdown()
	a := m.arenas.acquire(50_000)
	if got := m.Room(); got.Free != 1000 || got.Used != 90_000 {
		t.Errorf("while an arena is lent: %+v", got)
	}
	m.arenas.release(a)
	if got := m.Room(); got.Free != 51_000 || got.Used != 40_000 {
		t.Errorf("after it was given back: %+v", got)
	}
}
