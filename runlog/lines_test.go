package runlog

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// The lines of metrics that are read, without checksums as earlier versions wrote them: rows, the bytes that are intact, and the error.
// Caught when planted: a first line that does not count; steps of 2^53; a later line that names a version passed over.
func TestParseMetrics(t *testing.T) {
	const first = `{"version":"0.1.0"}` + "\n"
	for _, c := range []struct {
		text string
		rows int
		size int
		want string // of the error; "" for none
	}{
		{"", 0, 0, ""}, {first, 0, len(first), ""}, {first + `{"step":`, 0, len(first), ""},
		{first + "{\"step\":0}\n", 1, len(first) + 11, ""}, {"{\"step\":3}\n{\"step\":3}\n", 2, 22, ""},
		{"{\"step\":3}\n{\"step\":2}\n", 1, 11, "2: step 2 is not an integer of at least 3"},
		{"{\"step\":1.5}\n", 0, 0, "1: step 1.5 is not"}, {"{\"step\":-1}\n", 0, 0, "1: step -1 is not an integer of at least 0"},
		{"{\"step\":9007199254740991}\n", 1, 26, ""}, {"{\"step\":9007199254740992}\n", 0, 0, "1: step 9.007199254740992e+15 is not"},
		{"{\"step\":\"1\"}\n", 0, 0, "1: step 1 is not"}, {"{\"loss\":1}\n", 0, 0, "1: step <nil> is not"},
		{first + first, 0, len(first), "2: step <nil> is not"}, {`{"version":"1","step":4}` + "\n", 1, 25, ""},
		{"{\"step\":1,\"crc32\":\"12345678\"}\n", 0, 0, "1: damaged: its content does not match its checksum"},
		{"{\"step\":1,\"crc32\":\"1\"}\n", 0, 0, "1: damaged: it has no valid checksum"}, {"7\n", 0, 0, "1: not a JSON object"},
	} {
		found, err := parseMetrics([]byte(c.text), preceding{})
		if len(found.rows) != c.rows || len(found.ends) != c.rows || found.size != int64(c.size) || (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %d rows of %d bytes, %v, want %d of %d, %q", c.text, len(found.rows), found.size, err, c.rows, c.size, c.want)
		}
		for i, row := range found.rows {
			if _, left := row[checksumKey]; left || row.Step() < 0 || found.ends[i] > found.size {
				t.Errorf("%q: row %v ends at %d", c.text, row, found.ends[i])
			}
		}
	}
}

// A line has a checksum if its end has the form of one, also if there is nothing before it.
func TestChecksumOfLines(t *testing.T) {
	for line, want := range map[string]string{
		`,"crc32":"00000000"}`: "true damaged: its content does not match its checksum", `{,"crc32":"00000000"}`: "true damaged: its content does not match its checksum",
		`{"a":1,"crc32":"00000000"}` + "\n": "true damaged: its content does not match its checksum",
		`"crc32":"fcb6e20c"}`:               "false <nil>", "": "false <nil>", `{"a":1,"crc32":"0000000"}`: "false <nil>", `{"a":1}` + "\n": "false <nil>",
		string(checked([]byte(`{"a":1}`))): "true <nil>",
	} {
		has, err := check([]byte(line))
		if got := fmt.Sprint(has, " ", err); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	if got := string(checked([]byte(`{"a":1}`))); got != `{"a":1,"crc32":"`+fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(`{"a":1}`)))+"\"}\n" {
		t.Errorf("a line is %s", got)
	}
}

// Files that are set aside get a number if the name is taken. Caught when planted: a name used twice.
func TestAsideName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []string{".damaged", ".damaged-2", ".damaged-3"} {
		got, err := asideName(path)
		if err != nil || got != path+want {
			t.Fatalf("%s, %v, want %s", got, err, want)
		}
		if err := os.WriteFile(got, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The version names the first twelve digits of the commit, and whether files were changed after it.
func TestVersionOfBuild(t *testing.T) {
	for _, c := range []struct{ revision, modified, want string }{
		{"0123456789abcdef", "false", number + "+0123456789ab"}, {"0123456789abcdef", "true", number + "+0123456789ab.modified"},
		{"short", "", number + "+short"}, {"", "true", number},
	} {
		settings := []debug.BuildSetting{{Key: "-race", Value: "true"}, {Key: "vcs.modified", Value: c.modified}}
		if c.revision != "" {
			settings = append(settings, debug.BuildSetting{Key: "vcs.revision", Value: c.revision})
		}
		if got := version(&debug.BuildInfo{Main: debug.Module{Path: modulePath}, Settings: settings}); got != c.want {
			t.Errorf("revision %q, modified %q: %s, want %s", c.revision, c.modified, got, c.want)
		}
	}
}

// In programs of other modules, the version names the version of this module or the commit in it, and not the commit of the program.
// Caught when planted: the commit of the program; the version of a module that a folder replaces.
func TestVersionInOtherPrograms(t *testing.T) {
	folder := &debug.Module{Path: "../universal-transformer"}
	for _, c := range []struct {
		version string
		replace *debug.Module
		want    string
	}{
		{"v0.0.0-20261130194743-70be9d05caaf", nil, number + "+70be9d05caaf"},
		{"v0.2.1-0.20261130194743-70be9d05caaf", nil, number + "+70be9d05caaf"},
		{"v0.2.1-pre.0.20261130194743-70be9d05caaf", nil, number + "+70be9d05caaf"},
		{"v0.2.1", nil, number + "+v0.2.1"},
		{"(devel)", nil, number},
		{"", nil, number},
		{"v0.2.1", folder, number},
		{"v0.0.0", &debug.Module{Path: "example.com/fork", Version: "v0.0.0-20261130194743-0123456789ab"}, number + "+0123456789ab"},
	} {
		info := &debug.BuildInfo{
			Main:     debug.Module{Path: "example.com/program"},
			Deps:     []*debug.Module{{Path: "example.com/other", Version: "v9.9.9"}, {Path: "universal-transformer", Version: c.version, Replace: c.replace}},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "ffffffffffffffff"}, {Key: "vcs.modified", Value: "true"}},
		}
		if got := version(info); got != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.version, c.replace, got, c.want)
		}
	}
	if got := version(&debug.BuildInfo{Main: debug.Module{Path: "example.com/program"}}); got != number {
		t.Errorf("without modules: %s", got)
	}
}

// The version is blanked in place, with one comma, so that the rest is valid JSON whose lines and columns stay.
func TestWithoutVersion(t *testing.T) {
	blank := func(n int) string { return strings.Repeat(" ", n) }
	for text, want := range map[string]string{
		`{"version":"1","a":2}`:         `{` + blank(14) + `"a":2}`,
		`{"a":2,"version":"1"}`:         `{"a":2` + blank(14) + `}`,
		`{"version":"1"}`:               `{` + blank(13) + `}`,
		"{\n \"version\":\n 1 ,\n}":     "{\n \"version\":\n 1 ,\n}", // not JSON
		"{\n\"version\":\n1\n,\"a\":2}": fmt.Sprintf("{\n%s\n%s\n%s\"a\":2}", blank(10), blank(1), blank(1)),
		`{"a":{"version":1}}`:           `{"a":{"version":1}}`, `["version"]`: `["version"]`, `{"a":"version"}`: `{"a":"version"}`,
	} {
		if got := string(withoutVersion([]byte(text))); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
