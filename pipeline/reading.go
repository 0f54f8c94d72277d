package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"universal-transformer/experiment"
	"universal-transformer/internal/elapsed"
	"universal-transformer/task"
)

// OpenTask reads the data of a run's task. While that takes long, log receives the time so far; it may be nil. If ctx ends first, it returns
// the error of ctx at once.
func OpenTask(ctx context.Context, r experiment.Run, log func(string)) (task.Task, error) {
	return openTaskWith(ctx, r, nil, log)
}

// openTaskWith is like [OpenTask], with the vocabularies of an earlier run unless they are nil.
func openTaskWith(ctx context.Context, r experiment.Run, v *task.Vocabularies, log func(string)) (task.Task, error) {
	if v == nil {
		return reported(ctx, log, r.OpenTask)
	}
	return reported(ctx, log, func() (task.Task, error) { return r.OpenTaskWith(*v) })
}

// reported runs work that reads data. If ctx ends first, it returns without waiting for it, and always with the error of ctx. While the work
// takes long, log receives the time so far; it may be nil.
func reported[T any](ctx context.Context, log func(string), work func() (T, error)) (T, error) {
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.value, o.err = work()
	}()
	if log != nil {
		defer elapsed.Report(func(d time.Duration) { log(fmt.Sprintf("reading the data: %s so far", d)) })()
	}
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.value, cmp.Or(ctx.Err(), o.err)
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
