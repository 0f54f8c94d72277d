package capacity

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Whatever plans a checkpoint holds, they are refused in one line, or graphs can be built with them, also after more was observed.
func FuzzPlanner(f *testing.F) {
	shape := Shape{Rows: 3, Source: 5, Target: 4}
	p := Planner{}
	demand := [][3]int32{{15, 3, 5}, {7, 3, 4}, {2, 1, 2}, {}}
	for range 5 {
		p.observe(p.For(shape), 7, needed{encoder: demand, decoder: demand[1:]})
	}
	written, err := json.Marshal(p)
	if err != nil || p.Shapes[0].Encoder.Units == nil {
		f.Fatalf("%s, %v", written, err)
	}
	f.Add(written)
	f.Add(bytes.Replace(written, []byte(`"rows":3`), []byte(`"rows":4`), 1))
	f.Add([]byte(`{"shapes":[{"rows":3,"source_length":5,"target_length":4,"encoder":{"peaks":[{}],"units":[[1,1,33]]}}]}`))
	f.Add([]byte(`{"shapes":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p *Planner
		if json.Unmarshal(data, &p) != nil {
			return
		}
		if err := p.Validate(); err != nil || p == nil {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of more than one line: %q", err)
			}
			return
		}
		for range 4 {
			plan := p.For(shape)
			c := plan.capacities()
			if err := c.Source.Validate(shape.Rows, shape.Source); err != nil {
				t.Fatal(err)
			}
			if err := c.Target.Validate(shape.Rows, shape.Target); err != nil {
				t.Fatal(err)
			}
			p.observe(plan, 7, needed{encoder: demand, decoder: demand[1:]})
			p.grow(plan, 7, needed{overflow: true, encoder: demand, decoder: demand[1:]})
		}
	})
}
