// Package progress reports the progress of a long task: its state, measurements, and the remaining time. On a terminal it updates one
// line; elsewhere it writes a line from time to time. It reports nothing about tasks of less than two seconds.
package progress

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	minDuration  = 2 * time.Second        // tasks that take less are not reported
	refreshEvery = 100 * time.Millisecond // on a terminal
	lineEvery    = 10 * time.Second       // elsewhere
	barWidth     = 16
)

// A Field is a measurement in addition to the count, made by [Number] or [Rate].
type Field string

// Number returns a named value with three significant digits: "loss 0.231".
func Number(name string, value float64) Field {
	return Field(name + " " + digits(value))
}

// Rate returns a value per time with its unit: "18.2k tokens/s".
func Rate(value float64, unit string) Field {
	for _, scale := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if value >= scale.size {
			return Field(digits(value/scale.size) + scale.name + " " + unit)
		}
	}
	return Field(digits(value) + " " + unit)
}

// digits formats three significant digits, without an exponent if the number is readable without one.
func digits(value float64) string {
	if size := math.Abs(value); size >= 1000 && size < 1e6 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.3g", value)
}

// A Progress reports on one task. It must be used by one goroutine.
type Progress struct {
	w     io.Writer
	what  string
	total int64
	now   func() time.Time

	bar  *progressbar.ProgressBar // nil if w is not a terminal
	wide func() int               // columns of the terminal

	early     bool // see MayEndEarly
	start     time.Time
	startStep int64
	written   time.Time // time of the last written line; zero before the first
	line      string    // the newest line
	lineSaid  bool
	ended     bool
}

// New returns a progress that reports to w on total pieces, each called what ("step"). If total is not positive, it is unknown: the
// line then shows the count and no remaining time.
func New(w io.Writer, total int64, what string) *Progress {
	columns := func() int { return 0 }
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		columns = func() int {
			width, _, _ := term.GetSize(int(file.Fd()))
			return width
		}
		return newProgress(w, total, what, true, columns, time.Now)
	}
	return newProgress(w, total, what, false, columns, time.Now)
}

func newProgress(w io.Writer, total int64, what string, terminal bool, columns func() int, now func() time.Time) *Progress {
	p := &Progress{w: w, what: what, total: total, now: now, start: now(), wide: columns}
	if terminal {
		p.bar = progressbar.NewOptions64(max(total, -1), progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(barWidth),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(), progressbar.OptionSetRenderBlankState(false))
	}
	return p
}

// StartAt declares that step pieces were done earlier, by a previous run. They do not count in rates and the remaining time.
func (p *Progress) StartAt(step int64) {
	p.start, p.startStep = p.now(), step
}

// MayEndEarly declares that the task may end before all pieces are done, so that the remaining time is at most what is shown.
func (p *Progress) MayEndEarly() { p.early = true }

// Update reports that step pieces are done. It is cheap enough to be called after every piece.
func (p *Progress) Update(step int64, fields ...Field) {
	now := p.now()
	elapsed := now.Sub(p.start)
	p.line, p.lineSaid = p.render(step, elapsed, fields), false
	every := lineEvery
	if p.bar != nil {
		every = refreshEvery
	}
	if elapsed < minDuration || !p.written.IsZero() && now.Sub(p.written) < every {
		return
	}
	p.written = now
	p.writeLine(step)
}

// writeLine writes the newest line. It ignores errors.
func (p *Progress) writeLine(step int64) {
	p.lineSaid = true
	if p.bar == nil {
		_, _ = fmt.Fprintln(p.w, p.line)
		return
	}
	line := p.line
	if room := p.wide() - barWidth - 10; room > 0 && len(line) > room { // a line that wraps cannot be updated
		line = line[:room]
	}
	p.bar.Describe(line)
	_ = p.bar.Set64(step)
}

// Done ends the report. The last line remains if the task took more than two seconds.
func (p *Progress) Done() {
	if p.written.IsZero() || p.ended {
		return
	}
	p.ended = true
	if p.bar != nil {
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s\n", p.line)
	} else if !p.lineSaid {
		_, _ = fmt.Fprintln(p.w, p.line)
	}
}

// render returns the line: count, fields, remaining time.
func (p *Progress) render(step int64, elapsed time.Duration, fields []Field) string {
	count := fmt.Sprintf("%s %d", p.what, step)
	if p.total > 0 {
		count += fmt.Sprintf("/%d", p.total)
	}
	parts := []string{count}
	for _, f := range fields {
		parts = append(parts, string(f))
	}
	if done := step - p.startStep; done > 0 && p.total > step {
		left := time.Duration(math.MaxInt64)
		if nanoseconds := float64(elapsed) / float64(done) * float64(p.total-step); nanoseconds < math.MaxInt64 {
			left = time.Duration(nanoseconds)
		}
		text := formatDuration(left) + " left"
		if p.early {
			text = "at most " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "  ")
}

// formatDuration formats a duration for people: seconds below an hour, minutes above.
func formatDuration(d time.Duration) string {
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}
