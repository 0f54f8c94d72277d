package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"universal-transformer/task"
)

// heading is the first line of a file of segments.
const heading = `# segments of a text, one on a line; \n is a line break, \\ a backslash, and \+ begins inside a word` + "\n"

// WriteExamples writes lines, or segments below a heading, in the form that Reader.File reads.
func (c Text) WriteExamples(w io.Writer, v task.Vocabularies, examples []task.Example) error {
	buffered := bufio.NewWriter(w)
	if !c.Lines {
		_, _ = buffered.WriteString(heading) // Flush returns the error
	}
	for _, e := range examples {
		_, text := v.Original(e)
		if !c.Lines {
			if o, ok := e.Origin.(Origin); ok && o.inside {
				_, _ = buffered.WriteString(`\+`)
			}
			text = escapes.Replace(strings.ToValidUTF8(text, "")) // a segment of subwords may end inside a character
		}
		_, _ = buffered.WriteString(text + "\n")
	}
	return buffered.Flush()
}

var escapes = strings.NewReplacer("\n", `\n`, "\r", `\r`, `\`, `\\`)

// unescape reverses escapes.
func unescape(line string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(line, `\`)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		kind := after[:min(1, len(after))]
		meaning, known := map[string]string{"n": "\n", "r": "\r", `\`: `\`}[kind]
		if !known {
			return "", fmt.Errorf(`\%s has no meaning: write \\ for a backslash`, kind)
		}
		b.WriteString(meaning)
		line = after[1:]
	}
}

// readSegments reads the lines below the heading, each as an example.
func readSegments(v task.Vocabularies, lines string) (examples []task.Example, err error) {
	number := 1
	for line := range strings.Lines(lines) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		line, inside := strings.CutPrefix(line, `\+`)
		e, err := readSegment(v, line, inside)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		examples = append(examples, e)
	}
	if len(examples) == 0 {
		return nil, fmt.Errorf("there is no segment below the first line")
	}
	return examples, nil
}

func readSegment(v task.Vocabularies, line string, inside bool) (e task.Example, err error) {
	text, err := unescape(line)
	if err != nil {
		return e, err
	}
	tokens, err := v.Split(text)
	switch {
	case err != nil:
		return e, err
	case len(tokens) == 0:
		return e, fmt.Errorf("the segment is empty")
	}
	e.Target = encode(v.Target, tokens)
	e.Origin, _ = originOf(v, tokens, e.Target, inside)
	return e, nil
}
