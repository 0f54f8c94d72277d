package measure

import (
	"fmt"
	"sync"

	"universal-transformer/experiment/recipes"
	"universal-transformer/task/execute"
)

// ProgramTests says how many of the programs that a run of table 6 was tested on have an operation. Generators of tests are deterministic, so
// they are counted without the run.
type ProgramTests struct {
	Maximum, Kind  execute.Census
	LastDigitFirst bool // whether answers begin with their last digit, which is an easier task
}

// testsOf is what ProgramTests depends on.
type testsOf struct {
	program               execute.Program
	operation, kind       string
	ofMaximum, ofThisKind int
}

// counted holds the tests that were counted: it takes half a second, and pages ask for the same ones again and again.
var counted sync.Map

// CountPrograms counts the test programs of a recipe by an operation: those of the maximum length and nesting, and those of a kind.
func CountPrograms(recipe, operation, kind string, ofMaximum, ofThisKind int) (ProgramTests, error) {
	r, err := recipes.Named(recipe)
	if err != nil {
		return ProgramTests{}, err
	}
	p, ok := r.Run().Task.Value.(execute.Program)
	if !ok {
		return ProgramTests{}, fmt.Errorf("%s has no programs", recipe)
	}
	p.TrainingOperations, p.TrainingSparseFactors, p.TrainingLongest = "", false, 0 // tests do not depend on them
	key := testsOf{p, operation, kind, ofMaximum, ofThisKind}
	if known, ok := counted.Load(key); ok {
		return known.(ProgramTests), nil
	}
	t := ProgramTests{LastDigitFirst: p.LittleEndFirst}
	if t.Maximum, t.Kind, err = p.Census(operation, ofMaximum, kind, ofThisKind); err == nil {
		counted.Store(key, t)
	}
	return t, err
}
