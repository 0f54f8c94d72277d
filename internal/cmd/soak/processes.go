//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	ut "universal-transformer"
)

// digits returns the configuration of a small model with adaptive halting that reverses numbers, for so many updates, however good it gets.
func digits(steps int64) (ut.Run, error) {
	run, err := ut.Recipe("demo")
	if err != nil {
		return run, err
	}
	return run.Set(fmt.Sprintf("training.steps=%d", steps), "training.stop.accuracy=0")
}

// trainServed trains the model of the service.
func trainServed(ctx context.Context, dir string, steps int64) error {
	run, err := digits(steps)
	if err != nil {
		return err
	}
	_, err = ut.Train(ctx, run, dir, ut.TrainOptions{})
	return err
}

// train trains without end, with validation and checkpoints, and prints samples of the process.
func train(ctx context.Context, o options) error {
	run, err := digits(100_000_000)
	if err != nil {
		return err
	}
	var updates atomic.Int64
	go printSamples(ctx, "training", o.every, updates.Load)
	_, err = ut.Train(ctx, run, o.dir, ut.TrainOptions{Progress: func(p ut.Progress) { updates.Store(p.Step) }})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// serve serves the model of the run directory like the service in docs/embedding.md, and prints its address and samples of the process.
func serve(ctx context.Context, o options) error {
	model, err := ut.Load(o.dir, ut.LoadOptions{})
	if err != nil {
		return err
	}
	defer model.Close()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	var requests atomic.Int64
	go printSamples(ctx, "service", o.every, requests.Load)
	handler := service(model)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		requests.Add(1)
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// service is the handler of docs/embedding.md: one answer per line of a request's body.
func service(model *ut.Model) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		answers, err := model.Decode(r.Context(), lines, ut.DecodeOptions{MaxSource: 1000})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for i, a := range answers {
			if a.Err != nil {
				http.Error(w, fmt.Sprintf("line %d: %v", i+1, a.Err), http.StatusUnprocessableEntity)
				return
			}
		}
		for _, a := range answers {
			fmt.Fprintln(w, a.Text)
		}
	})
}
