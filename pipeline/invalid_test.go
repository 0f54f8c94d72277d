package pipeline

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/training"
)

// Texts have a maximum length, whether they are classified, tagged or scored: 10,000 tokens, or what the caller says. A classifier scores nothing.
// Caught when planted: no limit of classes, none of tags, a limit of 10,000 that the caller cannot change, scores of a classifier.
func TestLongTexts(t *testing.T) {
	classifier, tagger := untrained(t), untrained(t)
	defer classifier.Close()
	defer tagger.Close()
	tagger.Run.Task.Value = tags.Tags{}
	tagger.Run.Model.Value = experiment.Tagger{Universal: classifier.Run.Model.Value.(experiment.Classifier).Universal}
	tagger.graph = tagger.Run.Model.Value.Build(tagger.Vocabularies, 1)
	classifier.reader, tagger.reader = letters{}, letters{}
	copier, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer copier.Close()
	for _, c := range []struct {
		tokens, maxSource int
		want              string
	}{
		{3, 3, ""}, {4, 3, "4 tokens are more than the limit, 3: shorten the line, or allow more"},
		{10_001, 0, "10001 tokens are more than the limit, 10000: shorten the line, or allow more"},
	} {
		texts := []string{"ab", strings.Repeat("b", c.tokens)}
		classified, err := classifier.ClassifyAll(t.Context(), texts, c.maxSource)
		if err != nil || classified[0].Err != nil || len(classified[0].Steps) != 2 {
			t.Fatalf("%+v, %v", classified, err)
		}
		refused(t, c, classified[1].Err, c.want)
		tagged, err := tagger.Tag(t.Context(), texts, c.maxSource)
		if err != nil || tagged[0].Err != nil {
			t.Fatalf("%+v, %v", tagged, err)
		}
		refused(t, c, tagged[1].Err, c.want)
		scored, err := copier.Score(t.Context(), []Pair{{"12", "12"}, {strings.Repeat("1", c.tokens), "1"}, {"1", strings.Repeat("1", c.tokens)}}, c.maxSource)
		if err != nil || scored[0].Err != nil {
			t.Fatalf("%+v, %v", scored, err)
		}
		refused(t, c, scored[1].Err, c.want)
		refused(t, c, scored[2].Err, c.want)
	}
	for _, m := range []*Model{classifier, tagger} {
		if _, err := m.Score(t.Context(), []Pair{{"ab", "x"}}, 0); err == nil || !strings.Contains(err.Error(), "so it cannot score texts") {
			t.Errorf("a model of %s scores: %v", m.Run.Task.Value, err)
		}
	}
}

// A protocol that is invalid, or that asks for something without effect, is an error before anything is read. Caught when planted: lengths
// without a limit; each case of a beam accepted; Check without the checks of examples and caches; each field beside File accepted.
func TestInvalidProtocols(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, c := range []struct {
		p    Protocol
		want string
	}{
		{Protocol{MaxLength: math.MaxInt}, "MaxLength is 9223372036854775807: give 1 to 1000000, or 0 for the default"},
		{Protocol{MaxLength: -1}, "MaxLength is -1: give 1 to 1000000"},
		{Protocol{Beam: decoding.Beam{Alpha: 0.6}}, "beam width is 0"}, {Protocol{Beam: decoding.Beam{Best: 2}}, "beam width is 0"},
		{Protocol{Beam: decoding.Beam{Width: 2, Alpha: -3}}, "alpha is -3"},
		{Protocol{Beam: decoding.Beam{Width: 2}, TeacherForced: true}, "leave out the beam"},
		{Protocol{Beam: decoding.Beam{Alpha: 1}, TeacherForced: true}, "leave out the beam"},
		{Protocol{MaxLength: 5, TeacherForced: true}, "leave out the beam and the maximum length"},
		{Protocol{Selection: task.Selection{Count: -3}}, "count is -3: it must be positive"},
		{Protocol{Selection: task.Selection{Validation: true}}, "validation is true, but"}, {Protocol{Selection: task.Selection{Hard: true}}, "hard is true, but"},
		{Protocol{Selection: task.Selection{Length: 4}}, "length is 4, but"}, {Protocol{Selection: task.Selection{From: 2, Mix: 5}}, "mix is 5, but"},
		{Protocol{Cache: &Cache{Theta: 1, Lambda: 0.5}, TuneCache: true}, "Protocol.Cache and Protocol.TuneCache are both set: choose one"},
	} {
		c.p.File = "nowhere.tsv"
		_, err := m.Evaluate(t.Context(), c.p)
		refused(t, c.p, err, c.want)
		if strings.HasPrefix(c.want, "MaxLength") || c.p.Beam != (decoding.Beam{}) || c.p.TeacherForced {
			continue
		}
		_, err = Check(t.Context(), m.Run, c.p, nil)
		if found := new(ProtocolError); !errors.As(err, &found) {
			t.Errorf("%+v: Check returns %v", c.p, err)
		}
		refused(t, c.p, err, c.want)
	}
}

// greedyTable is a task that allows answers of any length.
type greedyTable struct{ table.Table }

func (greedyTable) AnswerLimit(int) int { return math.MaxInt }

// No answer may be longer than a million tokens, whatever a task or a checkpoint says.
// Caught when planted: each of the two without the limit.
func TestLargestAnswerLimit(t *testing.T) {
	for _, r := range []experiment.Run{{Task: experiment.Task{Value: greedyTable{}}}, {Task: experiment.Task{Value: table.Table{}}}} {
		m := &Model{Run: r, checkpoint: &runlog.Checkpoint{Meta: map[string]string{training.LongestTargetKey: strconv.Itoa(math.MaxInt)}}}
		if got := m.AnswerLimit(17); got != 1_000_000 {
			t.Errorf("%T: %d tokens", r.Task.Value, got)
		}
	}
}

// full is a backend that has no memory for a model's weights.
type full struct{ compute.Backend }

var errFull = errors.New("full")

func (full) NewSharedBuffer(compute.DeviceNum, shapes.Shape) (compute.Buffer, any, error) {
	return nil, nil, errFull
}

func (full) BufferFromFlatData(compute.DeviceNum, any, shapes.Shape) (compute.Buffer, error) {
	return nil, errFull
}

// A model whose weights cannot be kept is not returned. Caught when planted: a model together with the error.
func TestLoadWithoutMemory(t *testing.T) {
	if m, err := Load("testdata/copier", full{enginetest.Backend(t)}); m != nil || err == nil {
		t.Errorf("%v, %v", m, err)
	}
}
