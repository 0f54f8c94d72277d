package main

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"
)

// Any --seeds is rejected in one line, or gives the requested number of distinct seeds.
func FuzzSeeds(f *testing.F) {
	for _, text := range []string{"3", "4-6", "1,3", "18446744073709551615", "18446744073709551614-18446744073709551615", "0", "1-2000", " 1 , 2", "3-1", "-1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seeds, err := parseSeeds(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		seen := map[uint64]bool{}
		for _, s := range seeds {
			if seen[s] {
				t.Fatalf("%q has the seed %d twice", text, s)
			}
			seen[s] = true
		}
		if n, err := strconv.Atoi(text); len(seeds) == 0 || err == nil && len(seeds) != n {
			t.Fatalf("%q gives %d seeds", text, len(seeds))
		}
	})
}

// The lines of any standard input are the texts between line ends, without a byte order mark.
func FuzzReadLines(f *testing.F) {
	for _, text := range []string{"", "a\r\nb\n", "\xef\xbb\xbfa", "\xff\xfea\x00", "a\n\n\nb", "\r\n\r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := readLines(strings.NewReader(text))
		var got []string
		var err error
		for err == nil {
			var some []input
			some, err = lines.next(context.Background(), maxLines)
			for _, line := range some {
				if line.err != nil {
					t.Fatalf("%q: %v", text, line.err)
				}
				got = append(got, line.text)
			}
		}
		if wide := strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff"); wide != (err != io.EOF) {
			t.Fatalf("%q ends with %v", text, err)
		} else if wide {
			return
		}
		var want []string
		for line := range strings.Lines(strings.TrimPrefix(text, "\xef\xbb\xbf")) {
			want = append(want, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Fatalf("%q has the lines %q, want %q", text, got, want)
		}
	})
}
