package subword

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
)

// shortTexts calls yield with all texts of up to four characters, all of five of fewer characters, and random ones of twelve.
func shortTexts(yield func(text string)) {
	product := func(alphabet string, n int) {
		characters := []rune(alphabet)
		text := make([]rune, n)
		var fill func(at int)
		fill = func(at int) {
			if at == n {
				yield(string(text))
				return
			}
			for _, c := range characters {
				text[at] = c
				fill(at + 1)
			}
		}
		fill(0)
	}
	for n := 1; n < 5; n++ {
		product("aA1 \n's/\u01c5\u0301\u05d0\u017f", n)
	}
	product("aB1 \n'!", 5)
	state := uint64(12345)
	for range 5000 {
		var text strings.Builder
		for range 12 {
			state = state*6364136223846793005 + 1442695040888963407
			text.WriteByte("aB12 \t\r\n'l!/"[state>>33%12])
		}
		yield(text.String())
	}
}

// The words of 44,427 texts by each published pattern are those of the Python package regex: testdata/splits.py prints the checksums of
// their lengths.
// Caught when planted: a line end alone in front of blanks; the last blank of a run left out of its place.
func TestSplitsEqualPython(t *testing.T) {
	patterns := []string{gpt2Pattern}
	for _, digits := range []string{digit, threeDigits} {
		patterns = append(patterns, ending+`|`+prefix+`\p{L}+|`+digits+`| ?[^\s\p{L}\p{N}]+[\r\n]*`+blanks)
		for _, end := range []string{"", ending + `?`} {
			patterns = append(patterns, endsInLower+end+`|`+beginsInCaps+end+`|`+digits+`| ?[^\s\p{L}\p{N}]+[\r\n/]*`+blanks)
		}
	}
	for i, want := range []uint32{0x2e6c2dcd, 0x4f2d7944, 0x485b5e7c, 0xca8098ee, 0xd07c70c5, 0x23e7d667, 0x753d17d1} {
		split, sum := splitters[patterns[i]], crc32.NewIEEE()
		shortTexts(func(text string) {
			var line []byte
			for rest := text; len(rest) > 0; {
				n := split(rest)
				line = fmt.Appendf(line, " %d", n)
				rest = rest[n:]
			}
			_, _ = sum.Write(append(line[1:], '\n'))
		})
		if got := sum.Sum32(); got != want {
			t.Errorf("pattern %d, %s: checksum %#x, want %#x", i, patterns[i], got, want)
		}
	}
}

// Merging with a queue gives what the definition gives: as long as there is a pair with a merge, the leftmost of the lowest rank is merged.
func TestMergeWordByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	merged := 0
	for range 3000 {
		merges := map[pair]merge{}
		for rank := range rng.IntN(8) {
			p := pair{vocab.ID(rng.IntN(3 + rank)), vocab.ID(rng.IntN(3 + rank))}
			if _, ok := merges[p]; !ok {
				merges[p] = merge{int32(rank), vocab.ID(3 + rank)}
			}
		}
		ids := make([]vocab.ID, rng.IntN(12))
		for i := range ids {
			ids[i] = vocab.ID(rng.IntN(3))
		}
		want := slices.Clone(ids)
		for {
			best, at := merge{rank: 100}, -1
			for i := range len(want) - 1 {
				if m, ok := merges[pair{want[i], want[i+1]}]; ok && m.rank < best.rank {
					best, at = m, i
				}
			}
			if at < 0 {
				break
			}
			want = slices.Replace(want, at, at+2, best.id)
			merged++
		}
		if got := mergeWord(slices.Clone(ids), merges, nil); !slices.Equal(got, want) {
			t.Fatalf("%v becomes %v, want %v with %v", ids, got, want, merges)
		}
		seed, calls := rng.Uint64(), [2]int{}
		random := func(calls *int) func() bool {
			rng := rand.New(rand.NewPCG(seed, 1))
			return func() bool { *calls++; return rng.IntN(3) == 0 }
		}
		want = withDropout(slices.Clone(ids), merges, random(&calls[0]))
		if got := mergeWord(slices.Clone(ids), merges, random(&calls[1])); !slices.Equal(got, want) || calls[0] != calls[1] {
			t.Fatalf("%v with dropout becomes %v after %d draws, want %v after %d", ids, got, calls[1], want, calls[0])
		}
	}
	if merged < 1000 {
		t.Errorf("%d merges: the case shows nothing", merged)
	}
}

// withDropout is algorithm 1 of Provilkov et al. (2020): of all merges that are possible, in order, the first that is not skipped is done, until
// none is left.
func withDropout(ids []vocab.ID, merges map[pair]merge, drop func() bool) []vocab.ID {
	for {
		var possible []candidate
		for i := range len(ids) - 1 {
			if m, ok := merges[pair{ids[i], ids[i+1]}]; ok {
				possible = append(possible, candidate{merge: m, at: i})
			}
		}
		slices.SortFunc(possible, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.at, b.at)) })
		done := slices.IndexFunc(possible, func(candidate) bool { return !drop() })
		if done < 0 {
			return ids
		}
		ids = slices.Replace(ids, possible[done].at, possible[done].at+2, possible[done].id)
	}
}

// Training merges what counting again after each merge finds: the most frequent pair, of equal counts the one with the smaller ids.
func TestTrainByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 5))
	for trial := range 60 {
		counts := map[string]int64{}
		for range 1 + rng.IntN(12) {
			word := make([]byte, 1+rng.IntN(7))
			for i := range word {
				word[i] = "abc"[rng.IntN(3)]
			}
			counts[string(word)] += 1 + rng.Int64N(4)
		}
		_, bytes := alphabet()
		c := newCorpus(counts, bytes)
		words := map[string][]vocab.ID{}
		for word := range counts {
			for _, b := range []byte(word) {
				words[word] = append(words[word], bytes[b])
			}
		}
		least := 1 + rng.Int64N(3)
		for next := vocab.ID(300); ; next++ {
			pairs := map[pair]int64{}
			for word, ids := range words {
				for i := range len(ids) - 1 {
					pairs[pair{ids[i], ids[i+1]}] += counts[word]
				}
			}
			var want pair
			for p, n := range pairs {
				if m := pairs[want]; n > m || n == m && (p.left < want.left || p.left == want.left && p.right < want.right) {
					want = p
				}
			}
			got, where, ok := c.nextPair(least)
			if wanted := len(pairs) > 0 && pairs[want] >= least; ok != wanted || ok && got != want {
				t.Fatalf("trial %d: %v is next, %v; want %v, %d times of at least %d", trial, got, ok, want, pairs[want], least)
			}
			if !ok {
				break
			}
			c.merge(got, next, where)
			for word, ids := range words {
				for i := 0; i+1 < len(ids); i++ {
					if (pair{ids[i], ids[i+1]}) == want {
						ids = slices.Replace(ids, i, i+2, next)
					}
				}
				words[word] = ids
			}
		}
	}
}

// A queue sorts. Caught when planted: a child that is never looked at.
func TestQueueSorts(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	for n := range 40 {
		q := queue[int]{before: func(a, b int) bool { return a < b }}
		var all []int
		for range n {
			v := rng.IntN(20)
			all = append(all, v)
			q.push(v)
		}
		slices.Sort(all)
		for i, want := range all {
			if got, ok := q.pop(); got != want || !ok {
				t.Fatalf("item %d of %v is %d", i, all, got)
			}
		}
		if _, ok := q.pop(); ok {
			t.Fatal("an empty queue has an item")
		}
	}
}

// Files of tensor2tensor: quotes are taken off in pairs, the last of equal pieces counts, and empty lines have ids.
func TestReadT2TLines(t *testing.T) {
	p, err := readT2T([]byte("'<pad>_'\n\"<EOS>_\"\n's\n\"t\n'u\"\n'\n''\n\n'v_'\nw'\n  'x y'  \nv_\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"<pad>_", "<EOS>_", "'s", `"t`, `'u"`, "", "", "", "v_", "w'", "x y", "v_"}; !slices.Equal(p.pieces, want) || p.longest != 6 || p.ids["v_"] != 11 || len(p.ids) != 8 {
		t.Errorf("pieces %q, the longest has %d bytes, ids %v", p.pieces, p.longest, p.ids)
	}
	if _, err := readT2T([]byte("<pad>\n<EOS>\n")); err == nil {
		t.Error("no piece besides padding and end")
	}
	for _, begin := range []string{"<pad>\n<EOS_>\n", "<pd>_\n<EOS>_\n"} {
		if _, err := readT2T([]byte(begin + "a_\n")); err == nil {
			t.Errorf("%q is no beginning", begin)
		}
	}
	for r := range rune(0x180) {
		if want := strings.ContainsRune(`\_u;0123456789<>padEOS'"stvwxy `, r); p.alphabet[r] != want {
			t.Errorf("%q in the alphabet: %v", r, p.alphabet[r])
		}
	}
}

// Tokens of tensor2tensor: letters and numbers, and what is between; single blanks only at the ends. Escapes are undone, if they are
// characters.
func TestTokensOfT2T(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, " ": {" "}, "a b": {"a", "b"}, " a": {" ", "a"}, "a ": {"a", " "}, "a  b": {"a", "  ", "b"}, "a, b2!": {"a", ", ", "b2", "!"},
		"  a": {"  ", "a"}, "é٣ x": {"é٣", "x"}, "- -": {"- -"}, " a b ": {" ", "a", "b", " "},
	} {
		if got := splitT2T(text); !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
	p := &T2T{alphabet: map[rune]bool{'a': true, '\\': true, '_': true, ';': true, '9': true}}
	for token, want := range map[string]string{"a": "a_", "b": `\98;_`, `\_`: `\\\u_`, "é9": `\233;9_`, "": "_"} {
		if got := p.escape(token); got != want || unescape(strings.TrimSuffix(got, "_")) != token {
			t.Errorf("%q is escaped as %q, want %q", token, got, want)
		}
	}
	for escaped, want := range map[string]string{`\1114112;`: "〓", `\55296;`: "〓", `\1114111;`: "\U0010ffff", `\99999999999;`: "〓", `\4294967393;`: "〓", `\97;\u\\`: `a_\`, `\x\;`: `\x\;`} {
		if got := unescape(escaped); got != want {
			t.Errorf("%q is %q, want %q", escaped, got, want)
		}
	}
	if (&T2T{}).Token(0) != "<id 0>" || (&T2T{pieces: []string{"a b"}}).Token(-1) != "<id -1>" || (&T2T{pieces: []string{"a b"}}).Token(0) != "a␣b" || (&T2T{}).ModelIDs() != nil {
		t.Error("tokens are named otherwise")
	}
}

// Ids of a published BPE come two later, and the special ids decode to nothing.
func TestShiftedIDs(t *testing.T) {
	pieces, ids := alphabet()
	bpe, err := newBPE(gpt2(), pieces[2:], nil, nil, unknown{id: none})
	if err != nil {
		t.Fatal(err)
	}
	s := shifted{bpe}
	if got, err := s.Encode("a!"); err != nil || !slices.Equal(got, []vocab.ID{ids['a'], ids['!']}) || ids['!'] != 2 || s.Size() != 258 || s.ModelIDs() != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := s.Decode([]vocab.ID{0, 2, 1, ids['a'], 2}); err != nil || got != "!a!" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range [][]vocab.ID{{258}, {-1}} {
		if _, err := s.Decode(bad); err == nil {
			t.Errorf("%v is decoded", bad)
		}
	}
	for id, want := range map[vocab.ID]string{0: "<pad>", 1: "<end>", 2: "!", 257: "Ń", 258: "<id 258>", -1: "<id -1>"} {
		if got := s.Token(id); got != want {
			t.Errorf("token %d is %q, want %q", id, got, want)
		}
	}
	named := shifted{&BPE{pieces: []string{"<unk>", vocab.EndToken, "x"}}}
	if got := named.Token(3); got != "<id 3>" || named.Token(4) != "x" {
		t.Errorf("a piece that is spelled like the end is %q", got)
	}
}

// A piece that is only the end of a token adds nothing: tensor2tensor drops empty tokens, and the words beside one still have a space between
// them.
func TestEmptyTokensOfT2T(t *testing.T) {
	p, err := readT2T([]byte("'<pad>_'\n'<EOS>_'\n'a_'\n'_'\n'b_'\n'!_'\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ids  []vocab.ID
		want string
	}{{[]vocab.ID{2, 4}, "a b"}, {[]vocab.ID{2, 3, 4}, "a b"}, {[]vocab.ID{3, 3, 2, 3, 3, 4, 3}, "a b"}, {[]vocab.ID{2, 3, 5, 3, 4}, "a!b"}} {
		if got, err := p.Decode(c.ids); err != nil || got != c.want {
			t.Errorf("%v is %q, %v, want %q", c.ids, got, err, c.want)
		}
	}
}
