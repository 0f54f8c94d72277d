package pipeline

import "universal-transformer/universal"

// ReplaceGraph gives the model another graph over the same weights.
func (m *Model) ReplaceGraph(graph universal.Model) { m.graph = graph }
