package exec

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// Memory is the memory that this process can still allocate, and its limit.
type Memory struct {
	Free  int    // bytes
	Used  int    // bytes that it has allocated
	Limit string // name of the tightest limit
}

// ReadMemory returns the memory according to the system files below root: what is available on the machine, the limits of control
// groups of both versions, and GOMEMLIMIT. A limit that cannot be read is ignored.
func ReadMemory(root string) Memory {
	pages := strings.Fields(read(root, "proc/self/statm"))
	m := Memory{Free: math.MaxInt, Limit: "no limit"}
	if len(pages) > 1 {
		m.Used = number(pages[1]) * os.Getpagesize()
	}
	bound := func(free int, limit string) {
		if free < m.Free {
			m.Free, m.Limit = max(free, 0), limit
		}
	}
	if kib, ok := field(read(root, "proc/meminfo"), "MemAvailable:"); ok {
		bound(kib*1024, "the memory that is available on this machine")
	}
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0" && parts[1] == "":
			controlGroup(root, "sys/fs/cgroup", parts[2], "memory.max", "memory.current", "inactive_file", bound)
			controlGroup(root, "sys/fs/cgroup/unified", parts[2], "memory.max", "memory.current", "inactive_file", bound)
		case parts[1] == "memory":
			controlGroup(root, "sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", bound)
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		bound(int(limit)-m.Used, "GOMEMLIMIT")
	}
	if limit, ok := addressSpace(); ok && len(pages) > 0 {
		bound(limit-number(pages[0])*os.Getpagesize(), "the limit of the address space (ulimit -v)")
	}
	return m
}

// controlGroup reads the limits of a control group and of its parents. Cached files that are not in use count as free.
func controlGroup(root, mount, group, limit, usage, idle string, bound func(int, string)) {
	for {
		dir := path.Join(mount, group)
		maximum, err := strconv.Atoi(strings.TrimSpace(read(root, path.Join(dir, limit))))
		if err == nil && maximum < math.MaxInt/2 {
			cached, _ := field(read(root, path.Join(dir, "memory.stat")), idle)
			bound(maximum-number(strings.TrimSpace(read(root, path.Join(dir, usage))))+cached, "the control group's "+limit)
		}
		if group == "/" || group == "." || group == "" {
			return
		}
		group = path.Dir(group)
	}
}

func read(root, name string) string {
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// field returns the number after a name at the beginning of a line.
func field(text, name string) (int, bool) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			return number(words[1]), true
		}
	}
	return 0, false
}

// number parses a number, and returns 0 for invalid text.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// Room returns the current memory, with idle arenas counted as free.
func (m *Machine) Room() Memory {
	room := m.Memory()
	idle := min(m.arenas.bytes(), room.Used)
	if room.Free < math.MaxInt-idle {
		room.Free += idle
	}
	room.Used -= idle
	return room
}

// bytes returns the size of the idle arenas.
func (l *arenas) bytes() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.idle {
		n += a.bytes
	}
	return n
}

// Need returns the memory that an execution takes, without and with its parameters.
func (p *Program) Need() (own, whole int) {
	for i, s := range p.Results {
		if i >= len(p.Donors) || p.Donors[i] < 0 {
			own += p.Slots[s].Bytes
		}
	}
	own += p.arenas()
	whole = own
	for _, s := range p.Params {
		whole += p.Slots[s].Bytes
	}
	return own, whole
}

// arenas returns the memory of the program and of its largest closure.
func (p *Program) arenas() int {
	maximum := 0
	for _, c := range p.Children {
		maximum = max(maximum, c.arenas())
	}
	return p.ArenaBytes + p.Machine.Threads*p.ScratchBytes + maximum
}
