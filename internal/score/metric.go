package score

import (
	"encoding/json"
	"fmt"
	"math"

	"universal-transformer/internal/strictjson"
)

// A Metric is one named result of an evaluation: an accuracy or another number.
type Metric struct {
	Name     string
	Value    float64  // NaN if there was nothing to measure
	Accuracy Accuracy // counts of an accuracy; zero for other metrics
}

// Share returns the metric of an accuracy.
func Share(name string, a Accuracy) Metric { return Metric{Name: name, Value: a.Value(), Accuracy: a} }

// Figure returns a metric that is not an accuracy.
func Figure(name string, value float64) Metric { return Metric{Name: name, Value: value} }

// String returns "0.9512 (0.9458..0.9561, 6659 of 7000)" for accuracies, "12.34" for other metrics.
func (m Metric) String() string {
	switch {
	case m.Accuracy.Total > 0:
		return m.Accuracy.String()
	case math.IsNaN(m.Value):
		return "none"
	}
	return fmt.Sprintf("%.4g", m.Value)
}

// metricJSON is a metric as JSON; the fields of accuracies are left out for other metrics.
type metricJSON struct {
	Name    string   `json:"name"`
	Value   *float64 `json:"value"` // null if it is not finite
	Correct *int     `json:"correct,omitempty"`
	Total   *int     `json:"total,omitempty"`
	Low     *float64 `json:"low,omitempty"` // of the 95 % interval
	High    *float64 `json:"high,omitempty"`
}

// MarshalJSON writes {"name": "accuracy", "value": 0.9, "correct": 9, "total": 10, "low": 0.59, "high": 0.98}, and for metrics that are
// not accuracies {"name": "perplexity per token", "value": 12.3}.
func (m Metric) MarshalJSON() ([]byte, error) {
	j := metricJSON{Name: m.Name}
	if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
		j.Value = &m.Value
	}
	if m.Accuracy.Total > 0 {
		low, high := m.Accuracy.Interval95()
		j.Correct, j.Total, j.Low, j.High = &m.Accuracy.Correct, &m.Accuracy.Total, &low, &high
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the output of MarshalJSON strictly, like that of [Accuracy].
func (m *Metric) UnmarshalJSON(data []byte) error {
	var j struct {
		Name string `json:"name"`
		counts
	}
	if err := strictjson.Decode(data, &j); err != nil {
		return err
	}
	accuracy, err := j.accuracy()
	if err != nil {
		return fmt.Errorf("metric %q: %w", j.Name, err)
	}
	*m = Metric{Name: j.Name, Value: math.NaN(), Accuracy: accuracy}
	if j.Value != nil {
		m.Value = *j.Value
	}
	return nil
}
