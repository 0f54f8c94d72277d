package report

import (
	"fmt"
	"math"
	"strings"
)

// count is "1 task", "2 tasks".
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return thousands(n) + " " + what
}

// thousands writes 105242 as 105,242.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// spread is mean ± deviation, and of one value the value.
func spread(format string, values []float64) string {
	mean, deviation := moments(values)
	if math.IsNaN(deviation) {
		return fmt.Sprintf(format, mean)
	}
	return fmt.Sprintf(format+" ± "+format, mean, deviation)
}

// and joins words: "a", "a and b", "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// numbered is "task 3", "tasks 7 and 8", "tasks 4 to 6".
func numbered(tasks []int) string {
	if len(tasks) == 1 {
		return fmt.Sprintf("task %d", tasks[0])
	}
	var runs []string
	for i := 0; i < len(tasks); {
		j := i
		for j+1 < len(tasks) && tasks[j+1] == tasks[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			runs = append(runs, fmt.Sprint(tasks[i]))
		case 1:
			runs = append(runs, fmt.Sprint(tasks[i]), fmt.Sprint(tasks[j]))
		default:
			runs = append(runs, fmt.Sprintf("%d to %d", tasks[i], tasks[j]))
		}
		i = j + 1
	}
	return "tasks " + and(runs)
}

// orMissing is a cell, or the word for one without a result.
func orMissing(cell string) string {
	if cell == "" {
		return "missing"
	}
	return cell
}
