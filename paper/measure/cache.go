package measure

import (
	"context"
	"fmt"

	"universal-transformer/paper"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/lambada"
)

// cachedSets measures the sets of a language model of table 3 again, with a continuous cache whose constants are chosen on the development
// set. Other models, and sets without a development set, have none.
func cachedSets(ctx context.Context, m *pipeline.Model, sets []task.Case, log func(string)) (list []MetricSet, err error) {
	if _, ok := m.Run.Task.Value.(lambada.Language); !ok {
		return nil, nil
	}
	by, e := m.Run.Task.Value.Measure(m.Vocabularies), m.Evaluator()
	for _, c := range sets {
		if c.Name != "development" {
			continue
		}
		best, err := e.TuneCache(ctx, by, c.Examples)
		if err != nil {
			return nil, err
		}
		log(fmt.Sprintf("%s: chosen on the development set", best))
		e.Cache = &best
	}
	if e.Cache == nil {
		return nil, nil
	}
	for _, c := range sets {
		row, err := e.Measure(ctx, by, c.Examples)
		if err != nil {
			return nil, err
		}
		list = append(list, metricSet(c.Name+paper.WithCache, row))
	}
	return list, nil
}
