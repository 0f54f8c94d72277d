package score

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Confusion counts answers by the true and the predicted class.
type Confusion struct {
	Classes []string `json:"classes"`
	Counts  [][]int  `json:"counts"` // Counts[i][j]: answers of true class i that were predicted as j

	at map[string]int // of each class in Classes; nil before the first answer is counted
}

// NewConfusion returns a confusion without answers. It adds the missing classes when they are counted. No two classes may have the same name.
func NewConfusion(classes []string) *Confusion {
	c := &Confusion{Classes: slices.Clone(classes), Counts: make([][]int, len(classes))}
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(classes))
	}
	return c
}

// index returns the number of a class, which is added if it is missing.
func (c *Confusion) index(name string) int {
	if c.at == nil {
		c.at = make(map[string]int, len(c.Classes))
		for i, name := range c.Classes {
			c.at[name] = i
		}
	}
	if at, ok := c.at[name]; ok {
		return at
	}
	c.at[name] = len(c.Classes)
	for i := range c.Counts {
		c.Counts[i] = append(c.Counts[i], 0)
	}
	c.Classes = append(c.Classes, name)
	c.Counts = append(c.Counts, make([]int, len(c.Classes)))
	return len(c.Classes) - 1
}

// Add counts an answer.
func (c *Confusion) Add(truth, predicted string) {
	i, j := c.index(truth), c.index(predicted)
	c.Counts[i][j]++
}

// A ClassScore is the quality of the answers on one class. A quotient without a denominator is 0, as in scikit-learn.
type ClassScore struct {
	Class     string  `json:"class"`
	Precision float64 `json:"precision"` // share of the answers with this class that are correct
	Recall    float64 `json:"recall"`    // share of the examples of this class that are answered correctly
	F1        float64 `json:"f1"`        // harmonic mean of both
	Support   int     `json:"support"`   // number of examples of this class
	Predicted int     `json:"predicted"` // number of answers with this class
}

// Scores returns the scores of every class.
func (c *Confusion) Scores() []ClassScore {
	list, support, predicted := make([]ClassScore, len(c.Classes)), make([]int, len(c.Classes)), make([]int, len(c.Classes))
	for i, row := range c.Counts {
		for j, n := range row {
			support[i] += n
			predicted[j] += n
		}
	}
	for i, name := range c.Classes {
		list[i] = classScore(name, c.Counts[i][i], predicted[i], support[i])
	}
	return list
}

func classScore(name string, correct, predicted, support int) ClassScore {
	return ClassScore{
		Class: name, Precision: quotient(correct, predicted), Recall: quotient(correct, support), F1: quotient(2*correct, predicted+support),
		Support: support, Predicted: predicted,
	}
}

func quotient(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Accuracy is the share of correct answers.
func (c *Confusion) Accuracy() (a Accuracy) {
	for i, row := range c.Counts {
		a.Correct += row[i]
		for _, n := range row {
			a.Total += n
		}
	}
	return a
}

// MacroF1 is the mean of F1 over the classes that an example or an answer has.
func (c *Confusion) MacroF1() float64 {
	sum, n := 0.0, 0
	for _, s := range c.Scores() {
		if s.Support+s.Predicted > 0 {
			sum, n = sum+s.F1, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// Limits of what fits on a screen.
const (
	maxMatrix = 12 // classes of a matrix
	maxScores = 30 // classes of a table of scores
	maxName   = 40 // characters of a class
	maxHead   = 12 // characters of a class above a column
)

// Lines formats the scores of the classes, and the matrix unless there are too many classes for it.
func (c *Confusion) Lines() []string {
	const corner = "true class"
	width, cell := len(corner), len("000000")
	for _, name := range c.Classes {
		n := utf8.RuneCountInString(name)
		width, cell = max(width, min(n, maxName)), max(cell, min(n, maxHead))
	}
	lines := scoreLines(c.Scores(), width, "class", "examples")
	if len(c.Classes) > maxMatrix {
		return lines
	}
	head := pad(corner, width)
	for _, name := range c.Classes {
		head += fmt.Sprintf("  %*s", cell, cut(name, cell)) // fmt counts characters
	}
	lines = append(lines, head+"  answered")
	for i, row := range c.Counts {
		text := pad(c.Classes[i], width)
		for _, n := range row {
			text += fmt.Sprintf("  %*d", cell, n)
		}
		lines = append(lines, text)
	}
	return lines
}

// pad returns a text of the given width.
func pad(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0))
}

// cut shortens a text to the given width.
func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:width-1]) + "…"
	}
	return text
}
