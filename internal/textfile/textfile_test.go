package textfile_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"universal-transformer/internal/textfile"
)

// A byte order mark is passed over, and what is no text of a bounded size is refused by its name.
// Caught when planted: a mark that is kept; a bound that lets one more byte through.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for content, want := range map[string]string{
		"": "", "a": "a", "ab": "ab", "\xef\xbb\xbfab\n": "ab\n", "\xef\xbb": "\xef\xbb", "12345": "12345", "\xef\xbb\xbf\xef\xbb\xbf": "\xef\xbb\xbf",
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := textfile.Read(path, 5); err != nil || string(got) != want {
			t.Errorf("%q is read as %q, %v", content, got, err)
		}
		if err := iotest.TestReader(textfile.NewReader(strings.NewReader(content), 5), []byte(want)); err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if err := iotest.TestReader(textfile.NewReaderWithMark(strings.NewReader(content), 9), []byte(content)); err != nil {
			t.Errorf("%q with its mark: %v", content, err)
		}
	}
	for content, want := range map[string]string{"123456": "larger than 5 bytes", "\xff\xfea\x00": "UTF-16", "\xfe\xff\x00a": "UTF-16"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := textfile.Read(path, 5); err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %q, %v", content, got, err)
		}
	}
	for place, want := range map[string]string{filepath.Dir(path): "is a folder", os.DevNull: "is a device", path + "x": "no such file"} {
		if _, err := textfile.Read(place, 5); err == nil || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// Line ends that are CR alone are refused in files of lines and in prose, NUL in prose; both name the command that repairs the file.
// Caught when planted: CRLF refused, a CR at the end refused, a CR after the first line refused, a position that starts anew in every part.
func TestLineEndsAndNUL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const cr, nul = `line ends are CR alone: convert them with: tr '\r' '\n'`, "is NUL: this is no text; remove such bytes with: tr -d"
	long := strings.Repeat("x", 70_000)
	for content, want := range map[string]string{
		"a\r\nb\r\n": "", "a\r": "", "a\nb\rc": "", "": "", "\r": "", long + "\rb": "", "a\rb": cr, "a\tb\rc\td\r": cr, "\xef\xbb\xbfa\r" + long + "\n": cr,
		"\x00": "byte 1 " + nul, "ab\nc\x00": "byte 5 " + nul, long + "\x00": "byte 70001 " + nul,
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(textfile.NewProseReader(strings.NewReader(content), 1<<20))
		if want == "" && (err != nil || string(got) != content) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.20q: %.20q, %v, want %q", content, got, err, want)
		}
		lines, err := io.ReadAll(textfile.NewLineReader(iotest.HalfReader(strings.NewReader(content)), 1<<20))
		if refused := want == cr; refused != (err != nil) || refused && !strings.Contains(err.Error(), cr) || !refused && string(lines) != content {
			t.Errorf("%.20q: the lines are %.20q, %v", content, lines, err)
		}
		if _, err := textfile.Read(path, 1<<20); err != nil {
			t.Errorf("%.20q: %v", content, err)
		}
	}
}

// What is read is the text without its mark, however it comes, or is refused in one line.
func FuzzReader(f *testing.F) {
	for _, text := range []string{"", "ab\n", "\xef\xbb\xbfa", "\xef\xbb", "\xff\xfea\x00", "\xfe\xff", "123456789"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 8
		got, err := io.ReadAll(textfile.NewReader(strings.NewReader(text), limit))
		slow, slowErr := io.ReadAll(textfile.NewReader(iotest.OneByteReader(strings.NewReader(text)), limit))
		want := strings.TrimPrefix(text, "\xef\xbb\xbf")
		wide := strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff")
		if refused := wide || len(want) > limit; (err != nil) != refused || (slowErr != nil) != refused {
			t.Fatalf("%q: %v, byte by byte %v", text, err, slowErr)
		}
		if err == nil && (string(got) != want || string(slow) != want) {
			t.Fatalf("%q is read as %q, byte by byte as %q", text, got, slow)
		}
	})
}
