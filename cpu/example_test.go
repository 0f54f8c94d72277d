package cpu_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// freezeVariables promises that the variables of a model do not change any more, so that products pack them once.
func freezeVariables(backend compute.Backend, store *model.Store) error {
	for v := range store.IterVariables() {
		value, err := v.Value()
		if err != nil {
			return err
		}
		buffer, err := value.Buffer(backend, 0)
		if err != nil {
			return err
		}
		buffer.(interface{ Freeze() }).Freeze()
	}
	return nil
}

// The weights of a model that is not trained further are frozen before it is used.
func Example_freeze() {
	backend, err := compute.NewWithConfig("cpu:threads=1")
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Finalize()
	store := model.NewStore()
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, x *Node) *Node {
		return layers.Dense(scope.WithInitializer(initializer.One), x, false, 4)
	})
	if err != nil {
		log.Fatal(err)
	}
	defer exec.Finalize()
	for range 2 {
		y, err := exec.Call1([][]float32{{1, 2, 3}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(y.Value())
		if err := freezeVariables(backend, store); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// [[6 6 6 6]]
	// [[6 6 6 6]]
}

// GOMLX_BACKEND=cpu gives the backend to programs that name none.
func TestEnvironment(t *testing.T) {
	t.Setenv(compute.ConfigEnvVar, "cpu:scalar,threads=3")
	backend, err := compute.New()
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	if d := backend.Description(); compute.ConfigEnvVar != "GOMLX_BACKEND" || !strings.Contains(d, "scalar, 3 threads") {
		t.Errorf("%s gives %q", compute.ConfigEnvVar, d)
	}
}
