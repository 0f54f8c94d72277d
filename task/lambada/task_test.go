package lambada

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/tasktest"
)

func TestConformance(t *testing.T) {
	plain, openAI := data(t), data(t)
	openAI.Version = OpenAI
	for name, c := range map[string]task.Definition{
		"language":                          Language{Data: plain, Length: 20},
		"language, other version":           Language{Data: openAI, Length: 20},
		"language, default length":          Language{Data: plain},
		"language, subwords":                inSubwords(plain),
		"language, subwords, other version": inSubwords(openAI),
		"reading":                           Reading{Data: plain},
		"reading, hidden":                   Reading{Data: plain, Hidden: 0.5},
		"reading, last":                     Reading{Data: plain, LastOnly: true},
		"reading, annotated":                Reading{Data: plain, Hidden: 0.2, Annotated: 0.6},
		"reading, other version, hundred":   Reading{Data: Data{Path: openAI.Path, Prose: openAI.Prose, Version: OpenAI, Vocabulary: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			tasktest.Run(t, opened(t, c))
			tasktest.Files(t, c, opened(t, c), strings.Contains(name, "other version"))
		})
	}
}

// inSubwords is a language model of few subwords.
func inSubwords(d Data) Language {
	d.MinCount = 0
	return Language{Data: d, Length: 40, InSubwords: true, Choice: subword.Choice{TokenizerSize: 300}}
}

// Words are known from the books that are learned: not from the development set, the test, the book that is kept out; and the rare and
// the less frequent ones are not. Ids of padding, end and unknown are no words'.
// Caught when planted: a vocabulary of all books, of the passages; MinCount ignored; the least frequent kept.
func TestVocabularyIsOfTrainingTextOnly(t *testing.T) {
	d := data(t)
	for _, c := range []task.Definition{Language{Data: d}, Reading{Data: d}} {
		v := opened(t, c).Vocabularies().Target
		for word, want := range map[string]bool{"anna": true, "dora": true, "of": true, "xantippe": false, "saw": false, "gudrun": false, "number3-400": false} {
			if id, ok := v.ID(word); ok != want || ok && id <= vocab.End {
				t.Errorf("%s: %q is known: %v, with id %d", c, word, ok, id)
			}
		}
		if unknown, ok := v.Unknown(); !ok || int(unknown) != v.Size()-1 {
			t.Errorf("%s: <unknown> has id %d of %d", c, unknown, v.Size())
		}
	}
	d.Vocabulary = 3
	words := opened(t, Language{Data: d}).Vocabularies().Target.Tokens()
	if len(words) != 3 || !slices.Contains(words, "the") || slices.Contains(words, "anna") {
		t.Errorf("the three most frequent words are %q", words)
	}
}

// A piece begins where a sentence does, is a part of one book, and an epoch has most of the text; no piece has words of the kept book.
// Caught when planted: pieces that go on in the next book, offsets that are the same in all epochs.
func TestPieces(t *testing.T) {
	tk := opened(t, Language{Data: data(t), Length: 24})
	v := tk.Vocabularies().Target
	count, starts := len(tk.corpus.ids)/24, map[string]bool{}
	covered := map[string]bool{}
	for i := range 9 * count {
		words := v.Decode(tk.Training(1, int64(i)).Target)
		text := strings.Join(words, " ")
		if words[0] != "then" || strings.Contains(text, "falk") {
			t.Fatalf("piece %d is %q", i, text)
		}
		has := func(names ...string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(words, name) })
		}
		if has("anna", "boris", "carla") && has("dora", "emil") {
			t.Errorf("piece %d is of two books: %q", i, text)
		}
		if i < count {
			starts[text] = true
		} else {
			covered[text] = true
		}
	}
	if len(starts) < count*2/3 || len(covered) < count {
		t.Errorf("%d pieces of %d differ in the first epoch, %d in those after", len(starts), count, len(covered))
	}
}

// A training passage of reading stands in a book as it is; its answer is a content word that stands in the context, which is the
// fewest sentences that have 50 words. With last_only it is the last of its sentence. Hidden words are markers throughout.
// Caught when planted: contexts that reach into the book before, answers out of the sentence, function words; a hidden word left as
// it is in the sentence.
func TestTrainingPassages(t *testing.T) {
	for _, c := range []Reading{{Data: data(t)}, {Data: data(t), LastOnly: true}} {
		tk := opened(t, c)
		list := tk.corpus.candidates(c)
		if len(list) < 50 {
			t.Fatalf("%d passages", len(list))
		}
		last := 0
		for _, candidate := range list {
			p := tk.corpus.passage(candidate)
			context := p.context()
			if !slices.Contains(context, p.answer()) || !isContent(p.answer()) || len(context) < 50 || len(context) > 150 || context[0] != "then" || p.sentence()[0] != "then" {
				t.Fatalf("the passage %q, question from %d", p.words, p.question)
			}
			if end := penEnd(context); len(context)-end >= 50 {
				t.Fatalf("the context %q could begin later", context)
			}
			if strings.Contains(strings.Join(context, " "), "anna") && strings.Contains(strings.Join(context, " "), "dora") {
				t.Fatal("a context of two books")
			}
			if tk.corpus.word(tk.corpus.ids[candidate.answer+1]) == "." {
				last++
			}
		}
		if c.LastOnly != (last == len(list)) {
			t.Errorf("last only is %v, and %d of %d answers are last words", c.LastOnly, last, len(list))
		}
	}
}

// What is withheld is no more and no less than the answers that stand in their sentence already, and those that the word before them goes
// on with at a fiftieth of its places or more, the answer's own not counted, all counted on the text as it stands. A book of words drawn at
// random has answers that pass. Caught when planted: the answer looked for in the context too, the place itself counted, a share of the
// answer's places.
func TestWithheld(t *testing.T) {
	d, rng := data(t), rand.New(rand.NewPCG(3, 4))
	var book strings.Builder
	for range 80 {
		for range 10 + rng.IntN(10) {
			n := int(40 * rng.Float64() * rng.Float64()) // some words are frequent
			fmt.Fprintf(&book, "%c%c ", 'a'+n/6, 'p'+n%6)
		}
		book.WriteString(". ")
	}
	write(t, d.Prose, "random.txt", book.String())
	tk := opened(t, Reading{Data: d})
	text, withheld := tk.corpus.words(0, len(tk.corpus.ids)), tk.corpus.candidates(Reading{Withheld: true})
	told := map[string]int{}
	for _, of := range tk.corpus.candidates(Reading{}) {
		p := tk.corpus.passage(of)
		before, places, together := text[of.answer-1], 0, -1
		for i, w := range text {
			if w == before {
				places++
				if i+1 < len(text) && text[i+1] == p.answer() {
					together++
				}
			}
		}
		why := "kept"
		switch {
		case slices.Contains(p.sentence(), p.answer()):
			why = "in its sentence"
		case 50*together >= places:
			why = "told by the word before"
		}
		told[why]++
		if kept := slices.Contains(withheld, of); kept != (why == "kept") {
			t.Fatalf("%q after %q, %d of %d places, %s: kept is %v", p.answer(), before, together, places, why, kept)
		}
	}
	if told["kept"] < 3 || told["in its sentence"] < 3 || told["told by the word before"] < 3 {
		t.Errorf("shows nothing: %v", told)
	}
}

// Annotated learns nine of ten passages of the development set, but for those that the test has and those whose answer does not stand in
// the context, as often as it says; the tenth passages are the development set then. Other passages are of the books as before.
// Caught when planted: the tenth learned too; a passage of the test learned; the share of the books.
func TestAnnotated(t *testing.T) {
	d, rng := data(t), rand.New(rand.NewPCG(7, 1))
	lines := strings.Split(strings.TrimSpace(passages(rng, 40)), "\n")
	lines[13] = strings.Split(string(read(t, d.Path, Test)), "\n")[5]
	lines[24] = strings.ReplaceAll(lines[24], "xantippe has", "anna has")
	lines[24] = lines[24][:strings.LastIndex(lines[24], " ")] + " harbours"
	write(t, d.Path, Development, strings.Join(lines, "\n")+"\n")
	const n, share = 4000, 0.3
	tk := opened(t, Reading{Data: d, Annotated: share})
	kept := texts(tk.sets.development)
	if len(kept) != 4 {
		t.Errorf("%d passages are left, want 4", len(kept))
	}
	sources := map[string]int{} // with the number of the passage, which no other has
	for i, line := range lines {
		if kept[line] != (i%10 == 0) {
			t.Errorf("passage %d is left: %v", i, kept[line])
		}
		sources[number(strings.Fields(line))] = i
	}
	learned := map[int]int{}
	q := newQuestions(tk, Reading{Data: d, Annotated: share}, mustAnnotated(t, d))
	for i := range n {
		if p := q.learned(1, int64(i)); p.words[0] == "``" {
			learned[sources[number(p.words)]]++
		}
	}
	total := 0
	for i := range lines {
		if want := i%10 != 0 && i != 13 && i != 24; want != (learned[i] > 0) {
			t.Errorf("passage %d is learned %d times", i, learned[i])
		}
		total += learned[i]
	}
	if got := float64(total) / n; math.Abs(got-share) > 0.03 {
		t.Errorf("%.3f of the passages learned are annotated, want %v", got, share)
	}
}

// number is the number in a passage.
func number(words []string) string { return words[slices.Index(words, "at")+1] }

func mustAnnotated(t *testing.T, d Data) []passage {
	t.Helper()
	s, err := d.readSets()
	if err != nil {
		t.Fatal(err)
	}
	return s.annotated()
}

// penEnd is where the second sentence begins.
func penEnd(words []string) int { return slices.Index(words, ".") + 1 }

// Markers stand for the words that are not known: equal words have one marker, also where the answer stands; what is hidden in training
// is hidden everywhere; markers are drawn in training and follow the text elsewhere; where all are used up words are <unknown>.
// Caught when planted: a new marker for every place, markers for function words, the answer's id taken from the vocabulary.
func TestMarkers(t *testing.T) {
	tk := opened(t, Reading{Data: data(t), Hidden: 0.6})
	v := tk.Vocabularies()
	source, target := v.Text(tk.coding.question(newPassage(strings.Fields("xantippe took the lantern of yorick . and then xantippe went on to yorick"), 1)))
	if want := "<word-1> took the lantern of <word-2> . <question> and then <word-1> went on to <blank>"; source != want || target != "<word-2>" {
		t.Errorf("%q, %q", source, target)
	}
	source, target = v.Text(tk.coding.question(newPassage(strings.Fields("anna took it . then came boris"), 1)))
	if want := "anna took <word-1> . <question> then <word-2> <blank>"; source != want || target != "boris" {
		t.Errorf("%q, %q", source, target)
	}
	if _, target = v.Text(tk.coding.question(newPassage(strings.Fields("anna took the lantern . then came yorick"), 1))); target != vocab.UnknownToken {
		t.Errorf("an answer that nothing can give is %q", target)
	}
	var many []string
	for i := range 70 {
		many = append(many, fmt.Sprintf("name%d", i))
	}
	source, _ = v.Text(tk.coding.question(newPassage(append(many, ".", "then", "name1"), 1)))
	if n := strings.Count(source, vocab.UnknownToken); n != 70-markers {
		t.Errorf("%d of 70 names are <unknown>: %q", n, source)
	}
	hiddenAnswers, numbers := 0, map[vocab.ID]bool{}
	for i := range int64(300) {
		e := tk.Training(1, i)
		if !slices.Contains(tk.coding.context(e.Source), e.Target[0]) {
			source, target := v.Text(e)
			t.Fatalf("the answer %q does not stand in %q", target, source)
		}
		if isMarker(v.Target.Token(e.Target[0])) {
			hiddenAnswers++
			numbers[e.Target[0]] = true
		}
	}
	// of 300 answers each is hidden with probability 0.6: outside of these bounds once in 10^9 (six deviations of 8.5)
	if hiddenAnswers < 129 || hiddenAnswers > 231 || len(numbers) < 40 {
		t.Errorf("%d of 300 answers are hidden, behind %d markers", hiddenAnswers, len(numbers))
	}
}

// Passages are told apart by how often the answer stands before the last sentence; that it stands in the last sentence does not count.
// Caught when planted: the whole passage counted, the joined spelling compared with single tokens, only the first token compared.
func TestByOccurrence(t *testing.T) {
	tk := opened(t, Language{Data: data(t)})
	tk.sets.test = nil
	for _, text := range []string{"he saw a lamp . she had the key", "a key lay there . she had the key", "the key , a key . she had the key", "key key key . she had the key", "a lamp . the key was the key"} {
		tk.sets.test = append(tk.sets.test, newPassage(strings.Fields(text), 1))
	}
	got := map[string]int{}
	for _, c := range tk.ByOccurrence() {
		got[c.Name] = len(c.Examples)
	}
	if want := map[string]int{"answer not in the context": 2, "answer once in the context": 1, "answer twice or more": 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	contraction := newPassage(strings.Fields("i did n't , did not , n't did , did n't . no , i did n't"), 2)
	if n := contraction.occurrences(); n != 2 {
		t.Errorf("a contraction of two tokens occurs %d times, want 2", n)
	}
}

// The own control set is of the book that is kept out, whose passages nobody has chosen: not all answers stand in their contexts.
func TestOwnControl(t *testing.T) {
	tk := opened(t, Reading{Data: data(t)})
	there := 0
	for _, p := range tk.sets.control {
		if text := strings.Join(p.words, " "); strings.Contains(text, "anna") || !strings.Contains(text, "falk") && !strings.Contains(text, "gudrun") {
			t.Fatalf("the control passage %q is not of the book", text)
		}
		if slices.Contains(p.context(), p.answer()) {
			there++
		}
	}
	if n := len(tk.sets.control); n < 150 || there == 0 || there > n {
		t.Errorf("%d of %d answers stand in their contexts", there, n)
	}
	var names []string
	for _, c := range tk.Cases() {
		names = append(names, fmt.Sprint(c.Name, len(c.Examples)))
	}
	if got := strings.Join(names[1:], " "); got != "development40 test60" {
		t.Errorf("cases: %s", got)
	}
	if _, err := (Reading{Data: Data{Path: "x", Version: Plain, KeptOut: "kept.txt"}}).Open(); err == nil || !strings.Contains(err.Error(), "prose is empty") {
		t.Error(err)
	}
}

// The authors' archive, unpacked, has all that is needed: novels in folders, a list of words, a control set.
// Caught when planted: the list read in another order, its counts taken for words, MinCount ignored.
func TestAuthorsArchive(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	write(t, dir, Development, passages(rng, 20))
	write(t, dir, Test, passages(rng, 20))
	write(t, dir, Control, passages(rng, 9))
	write(t, dir, WordList, "the\t900\nthen\t700\nof\t500\nanna\t400\nrarely\t1\nxantippe\t3\n")
	write(t, dir, filepath.Join(Novels, "Adventure", "1.txt"), story(rng, 100, "Anna"))
	write(t, dir, filepath.Join(Novels, "Romance", "2.txt"), story(rng, 100, "Boris"))
	tk := opened(t, Language{Data: Data{Path: dir, Version: Plain, MinCount: 2, Vocabulary: 5}, Length: 30})
	if got := strings.Join(tk.Vocabularies().Target.Tokens(), " "); got != "the then of anna xantippe" {
		t.Errorf("the words are %q", got)
	}
	if n := len(tk.sets.control); n != 9 {
		t.Errorf("%d control passages", n)
	}
	if notes := strings.Join(tk.Notes(), "\n"); !strings.Contains(notes, "training text: 2 books") || strings.Contains(notes, "own,") {
		t.Errorf("notes: %s", notes)
	}
}

// What is known of the last words comes first, and lines in two sets are counted.
func TestNotes(t *testing.T) {
	d := data(t)
	shared := "anna came . then boris saw anna\n"
	write(t, d.Path, Development, shared+"anna came . then boris saw xantippe\n")
	write(t, d.Path, Test, "boris came . then anna saw nobody\n"+shared)
	notes := strings.Join(opened(t, Language{Data: d}).Notes(), "\n")
	for _, want := range []string{"development: of 2 last words 1 are known (50.0 %)", "test: of 2 last words 1 are known", "1 lines of the development set are also in the test set", "own, unselected passages of kept.txt"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}

// A line to answer is a passage without its last word; words that were never seen have markers, and are listed only where no
// marker is left for them. Caught when planted: all words that were never seen listed.
func TestReader(t *testing.T) {
	c := Reading{Data: data(t)}
	tk := opened(t, c)
	in, err := c.Reader(tk.Vocabularies()).Read("xantippe took the lantern . then boris went on to")
	if err != nil || len(in.Source) != len(in.Labels) || strings.Join(in.Labels, " ") != "xantippe took the lantern . <question> then boris went on to <blank>" || len(in.Unknown) > 0 {
		t.Errorf("%+v, %v", in, err)
	}
	var names []string
	for i := range markers + 2 {
		names = append(names, fmt.Sprintf("name%d", i))
	}
	in, err = c.Reader(tk.Vocabularies()).Read(strings.Join(names, " ") + " . then went")
	if want := names[markers:]; err != nil || !slices.Equal(in.Unknown, want) {
		t.Errorf("unknown are %q, %v, want %q", in.Unknown, err, want)
	}
	for text, want := range map[string]string{"": "empty", "one sentence": "the passage has one sentence", "a . <blank> b": "reserved", "a . \xff": "UTF-8"} {
		if _, err := c.Reader(tk.Vocabularies()).Read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, definition := range []task.Definition{c, Language{Data: c.Data}} {
		examples, notes, err := definition.Reader(tk.Vocabularies()).File(filepath.Join(c.Path, Test))
		if err != nil || len(examples) != 60 || !strings.Contains(strings.Join(notes, " "), "of 60 last words 40 are known") {
			t.Errorf("%s: %d examples, %q, %v", definition, len(examples), notes, err)
		}
		if _, _, err := definition.Reader(tk.Vocabularies()).File(filepath.Join(c.Path, OpenAITest)); err == nil || !strings.Contains(err.Error(), OpenAITest+":1: the file has the version openai") {
			t.Errorf("%s reads the other version: %v", definition, err)
		}
	}
}

// The version openai is typed as it is printed, and split as its passages are.
// Caught when planted: words split at spaces.
func TestReadsPrintedText(t *testing.T) {
	d := data(t)
	d.Version = OpenAI
	reading, language := Reading{Data: d}, Language{Data: d}
	in, err := reading.Reader(opened(t, reading).Vocabularies()).Read("\u201cAnna didn't see it,\u201d he said. Boris went on to")
	if want := "`` anna did n't see it , '' he said . <question> boris went on to <blank>"; err != nil || strings.Join(in.Labels, " ") != want {
		t.Errorf("%q, %v, want %q", in.Labels, err, want)
	}
	v := opened(t, language).Vocabularies()
	ids, err := language.Reader(v).Target("Then Boris, and Anna.")
	if got := strings.Join(v.Target.Decode(ids), " "); err != nil || got != "then boris , and anna ." {
		t.Errorf("%q, %v", got, err)
	}
}

// No file of LAMBADA is a book, and no book has a passage as a line, under whatever name. Caught before it was looked for: a vocabulary of
// the test's words.
func TestPassagesAreNotLearned(t *testing.T) {
	d := data(t)
	test := string(read(t, d.Path, Test))
	for name, content := range map[string]string{
		Development: "x", Control: "x", WordList: "the\t3\n", "below/" + Test: "x", "mine.txt": "A book.\n" + test[:strings.Index(test, "\n")] + " \r\nThe end.\n",
	} {
		d := data(t)
		write(t, d.Prose, name, content)
		if _, err := (Language{Data: d}).Open(); err == nil || !strings.Contains(err.Error(), "must not be in the training text") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who has the other version only is told how it is read.
func TestOtherVersionIsThere(t *testing.T) {
	d := data(t)
	if err := os.Remove(filepath.Join(d.Path, Test)); err != nil {
		t.Fatal(err)
	}
	if _, err := (Language{Data: d}).Open(); err == nil || !strings.Contains(err.Error(), Test) || !strings.Contains(err.Error(), "task.version=openai") {
		t.Error(err)
	}
}
