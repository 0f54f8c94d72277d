package pipeline

import "universal-transformer/task"

// Samples returns at most n inputs that the model can read, from the test examples of a task that draws them. Tasks that read files have
// none: a run is used without its data.
func (m *Model) Samples(n int) []string {
	list := []string{}
	if len(m.Run.Files()) > 0 {
		return list
	}
	opened, err := m.Run.Task.Value.Open()
	if err != nil {
		return list
	}
	examples, err := opened.HeldOut(task.TestSeed, task.Selection{Count: n})
	if err != nil {
		return list
	}
	for _, e := range examples {
		if source, _ := m.Vocabularies.Text(e); source != "" {
			if _, err := m.Read(source); err == nil {
				list = append(list, source)
			}
		}
	}
	return list
}
