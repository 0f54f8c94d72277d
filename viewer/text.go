package viewer

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	narrowest    = 40 // minimum width in columns
	longestLabel = 3  // characters; with longer labels, positions are rows instead of columns
	bold         = "\x1b[1m"
	faint        = "\x1b[2m"
	red          = "\x1b[31m"
	plain        = "\x1b[0m"
)

// textWriter collects lines for a terminal of the given width.
type textWriter struct {
	bytes.Buffer
	width  int
	colour bool
}

// WriteText writes the question, the answer and the ponder times for a terminal. A step of a position is a block, shaded by the
// weight of the step's state in the output. Lines have at most width columns where tokens permit; colour enables terminal escapes.
func WriteText(w io.Writer, t *Trace, width int, colour bool) error {
	if err := t.Validate(); err != nil {
		return err
	}
	t = t.asWritten()
	out := &textWriter{width: max(narrowest, width), colour: colour}
	out.heading(t)
	adaptive, shown := false, slices.Concat(t.Source, t.Output)
	for _, part := range []struct {
		name  string
		stack *Stack
	}{{"Encoder", t.Encoder}, {"Decoder", t.Decoder}} {
		if part.stack == nil {
			continue
		}
		out.WriteByte('\n')
		for i, line := range wrapped(part.name+": "+part.stack.summary(), out.width) {
			if rest, named := strings.CutPrefix(line, part.name); named && i == 0 {
				line = out.style(bold, part.name) + rest
			}
			fmt.Fprintln(out, line)
		}
		out.WriteByte('\n')
		out.chart(part.stack)
		adaptive = adaptive || len(part.stack.Weights) > 0
		shown = append(shown, part.stack.Tokens...)
	}
	if adaptive {
		out.WriteByte('\n')
		out.faint("a block is a step; its weight in the result: ░\u00a0<¼  ▒\u00a0<½  ▓\u00a0<¾  █\u00a0more")
	}
	if explained := signs(shown); explained != "" {
		if !adaptive {
			out.WriteByte('\n')
		}
		out.faint(explained[1:])
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (o *textWriter) style(code, text string) string {
	if !o.colour {
		return text
	}
	return code + text + plain
}

// heading writes the question, the answer, the reference and the model.
func (o *textWriter) heading(t *Trace) {
	var facts []string
	for _, fact := range []string{t.Task, t.Model} {
		if fact != "" {
			facts = append(facts, printable(fact))
		}
	}
	if len(facts) > 0 {
		if line := strings.Join(facts, " · "); columns(line) <= o.width {
			facts = []string{line}
		}
		for _, fact := range facts {
			o.faint(fact)
		}
	}
	o.quote("asked", t.asked())
	if text := t.unread(); text != "" {
		o.labelled("not known", text+" (read as <unknown>)")
	}
	o.quote("answered", quote{t.marks(), separator(t.Output)})
	if t.Exit != "" {
		o.labelled("exit", printable(t.Exit))
	}
	if len(t.Reference) > 0 {
		o.quote("expected", quoted(t.Reference))
		o.labelled("", t.verdict())
	}
}

// faint writes a text in faint letters, wrapped at the width.
func (o *textWriter) faint(text string) {
	for _, line := range wrapped(text, o.width) {
		fmt.Fprintln(o, o.style(faint, line))
	}
}

// indent is the width of a label, in columns.
const indent = 10

// labelled writes a text beside its label, wrapped at the width.
func (o *textWriter) labelled(label, text string) {
	for _, line := range wrapped(text, o.width-indent) {
		fmt.Fprintf(o, "%-*s%s\n", indent, label, line)
		label = ""
	}
}

// wrapped splits a text at spaces into lines of at most a number of columns, where words permit. No-break spaces become spaces.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case columns(line)+1+columns(word) > width:
			lines = append(lines, strings.TrimRight(line, " "))
			line = word
		default:
			line += " " + word
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// quote writes tokens as running text, wrapped at the width.
func (o *textWriter) quote(label string, q quote) {
	if len(q.Marks) == 0 {
		return
	}
	fmt.Fprintf(o, "%-*s", indent, label)
	column := indent
	for i, m := range q.Marks {
		m.Token = strings.TrimSuffix(m.Token, "\n")
		between := ""
		if i > 0 {
			between = q.Separator
		}
		if need := columns(between) + columns(m.Token); column > indent && column+need > o.width {
			fmt.Fprintf(o, "\n%*s", indent, "")
			column, between = indent, ""
		}
		column += columns(between) + columns(m.Token)
		if m.Wrong {
			m.Token = o.style(red, m.Token)
		}
		o.WriteString(between + m.Token)
	}
	o.WriteByte('\n')
}

// chart draws columns for short tokens, and a row per position for words.
func (o *textWriter) chart(s *Stack) {
	tokens := labels(s.Tokens)
	if wide := widest(tokens); wide > longestLabel {
		o.rows(s, tokens, wide)
	} else {
		o.columns(s, tokens, wide+1)
	}
}

// columns writes blocks above the tokens, in as many bands as the width requires.
func (o *textWriter) columns(s *Stack, tokens []string, each int) {
	const axis = 5
	size := max(1, (o.width-axis)/each)
	for from := 0; from < len(tokens); from += size {
		to := min(from+size, len(tokens))
		if from > 0 {
			o.WriteByte('\n')
		}
		for t := s.steps() - 1; t >= 0; t-- {
			line := o.style(faint, fmt.Sprintf("%3d │", t+1))
			for i := from; i < to; i++ {
				line += strings.Repeat(" ", each-1) + block(s, t, i)
			}
			fmt.Fprintln(o, strings.TrimRight(line, " "))
		}
		line := o.style(faint, "steps")
		for _, token := range tokens[from:to] {
			line += strings.Repeat(" ", each-columns(token)) + token
		}
		fmt.Fprintln(o, line)
	}
}

// rows writes position, token and blocks side by side.
func (o *textWriter) rows(s *Stack, tokens []string, wide int) {
	label := min(wide, max(8, o.width-s.steps()-11))
	for i, token := range tokens {
		token = cut(token, label)
		blocks := ""
		for t := range s.steps() {
			blocks += block(s, t, i)
		}
		fmt.Fprintf(o, "%s  %s%s  %s %s\n", o.style(faint, fmt.Sprintf("%4d", i+1)), token,
			strings.Repeat(" ", label-columns(token)), strings.TrimRight(blocks, " "), number(s.Updates[i]))
	}
}

// block returns step t (from 0) of position i: empty if the position has halted, otherwise shaded by the weight of the step.
func block(s *Stack, t, i int) string {
	if float64(t) >= s.Updates[i] {
		return " "
	}
	if len(s.Weights) == 0 {
		return "█"
	}
	shades := []string{"░", "▒", "▓", "█"}
	return shades[min(3, max(0, int(4*s.Weights[t][i])))]
}

// cut shortens a token to a number of terminal columns.
func cut(token string, limit int) string {
	if columns(token) <= limit {
		return token
	}
	left := limit - columns("…")
	for i, r := range token {
		if left -= columns(string(r)); left < 0 {
			return token[:i] + "…"
		}
	}
	return token
}

// printable replaces everything in a text that a terminal could interpret. It keeps spaces.
func printable(text string) string {
	words := strings.Fields(text)
	return strings.Join(visibleAll(words), " ")
}
