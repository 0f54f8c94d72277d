package experiment

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/report"
	"universal-transformer/task/babi"
	"universal-transformer/viewer"
)

// figures draws the paper's stories of the cell's task beside its result: attention, and ponder times for task 3 if there are any. Words that a
// training file does not have may keep a story from being read; then it has no figure, and say tells why.
func (c Cell) figures(t *Trained, say func(string)) error {
	result := report.File(c.Results, c.Run.Name, c.Run.Task.Babi.Task, c.Run.Seed)
	draw := func(figure int, trace *viewer.Trace, write func(io.Writer, *viewer.Trace) error) error {
		var b bytes.Buffer
		if err := write(&b, trace); err != nil {
			return err
		}
		path := report.StoryFile(result, figure)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return atomicfile.Write(path, b.Bytes())
	}
	for _, s := range babi.Stories {
		if n := c.Run.Task.Babi.Task; n != s.Task && n != 0 {
			continue
		}
		trace, err := t.traceStory(s.Text)
		if err != nil {
			say(fmt.Sprintf("figure %d is not drawn: %v", s.Figure, err))
			continue
		}
		if err := draw(s.Figure, trace, viewer.WriteAttentionSVG); err != nil {
			return err
		}
		if s.Task == 3 && t.adaptive() {
			if err := draw(3, trace, viewer.WritePonderSVG); err != nil {
				return err
			}
		}
	}
	return nil
}
