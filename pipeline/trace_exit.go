package pipeline

import (
	"context"
	"reflect"

	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/viewer"
)

// TraceWith is Trace with an exit in place of the model's own. It affects no other call, and compiles graphs that are not kept.
func (m *Model) TraceWith(ctx context.Context, text string, e halting.Exit) (*viewer.Trace, error) {
	if reflect.ValueOf(e).IsZero() {
		return m.Trace(ctx, text)
	}
	changed, err := m.withExit(e)
	if err != nil {
		return nil, err
	}
	exited := &Model{
		Run: m.Run, Vocabularies: m.Vocabularies, Step: m.Step, graph: changed, trained: m.trained, exit: e, store: m.store, backend: m.backend, reader: m.reader,
		checkpoint: m.checkpoint, log: m.log, queue: m.queue,
	}
	return exited.trace(ctx, text, func(queries []decoding.Query) ([]decoding.Hypothesis, error) { return exited.answerAlone(ctx, queries) })
}

// answerAlone decodes with a decoder that is not kept. Others compute between two tokens.
func (m *Model) answerAlone(ctx context.Context, queries []decoding.Query) (found []decoding.Hypothesis, err error) {
	for i := range queries {
		queries[i].OnToken = m.queue.OnToken
	}
	err = m.queue.InTurns(ctx, func(pause func()) error {
		d, err := m.decoding()
		if err != nil {
			return err
		}
		defer d.Close()
		found, err = d.Answer(ctx, queries, decoding.Method{}, 0, pause)
		return err
	})
	return found, err
}
