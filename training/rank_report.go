package training

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"strings"

	"universal-transformer/engine"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
)

// report is the message of a rank to the others about an update.
type report struct {
	interrupted      bool    // its context has ended
	parameters, data uint32  // checksums: of the parameters, and of the batches of all ranks
	norm, cpu        float64 // of the gradient; CPU time of the rank so far, in seconds
	batches          []computed
}

// computed is the result of one batch: the packed tally, and the capacity it needed.
type computed struct {
	tally  []float32
	demand capacity.Demand
}

// headLength is the number of numbers before those of batches.
const headLength = 5

// numbers encodes the report as numbers.
func (r report) numbers() []float64 {
	list := []float64{0, float64(r.parameters), float64(r.data), r.norm, r.cpu}
	if r.interrupted {
		list[0] = 1
	}
	for _, b := range r.batches {
		demand := b.demand.Numbers()
		list = append(list, float64(len(b.tally)), float64(len(demand)))
		for _, v := range b.tally {
			list = append(list, float64(v))
		}
		list = append(list, demand...)
	}
	return list
}

// errShort is the error of numbers that are not a report.
var errShort = errors.New("a rank's report about an update is too short: all ranks need the same build")

// reportOf decodes a report.
func reportOf(list []float64) (r report, err error) {
	take := func(n float64) (part []float64) {
		if !(n >= 0 && n <= float64(len(list))) {
			err = errShort
			return make([]float64, headLength)
		}
		part, list = list[:int(n)], list[int(n):]
		return part
	}
	head := take(headLength)
	r.interrupted, r.parameters, r.data, r.norm, r.cpu = head[0] != 0, uint32(head[1]), uint32(head[2]), head[3], head[4]
	for len(list) > 0 && err == nil {
		lengths := take(2)
		var b computed
		for _, v := range take(lengths[0]) {
			b.tally = append(b.tally, float32(v))
		}
		demand := take(lengths[1])
		if err == nil {
			b.demand, err = capacity.DemandOf(demand)
		}
		r.batches = append(r.batches, b)
	}
	return r, err
}

// reports returns the reports of all ranks.
func (t *Trainer) reports(own report) ([]report, error) {
	lists, err := t.group.Gather(own.numbers())
	if err != nil {
		return nil, err
	}
	reports := make([]report, len(lists))
	for rank, list := range lists {
		if reports[rank], err = reportOf(list); err != nil {
			return nil, err
		}
	}
	return reports, nil
}

// Ends of errors about ranks that differ.
const (
	otherData  = " differ from those of rank 0: all hosts need the same files"
	otherBuild = " differ from those of rank 0: all need the same build, the same kind of processor and the same backend"
)

// difference returns an error if ranks have other data or parameters than rank 0.
func (t *Trainer) difference(reports []report) error {
	var data, parameters []string
	for rank, r := range reports {
		if r.data != reports[0].data {
			data = append(data, strconv.Itoa(rank))
		}
		if r.parameters != reports[0].parameters {
			parameters = append(parameters, strconv.Itoa(rank))
		}
	}
	switch {
	case data != nil:
		return fmt.Errorf("update %d: the training data of rank %s%s", t.step, strings.Join(data, ", "), otherData)
	case parameters != nil:
		return fmt.Errorf("update %d: the parameters of rank %s%s", t.step, strings.Join(parameters, ", "), otherBuild)
	}
	return nil
}

// compareFirst compares what all ranks compute for the first batch of the update at hand, once in a Run. Gradients are summed over ranks, so
// that all have the same parameters even if one computes its batches wrongly: checksums of parameters do not show that. It returns an
// error that a rank had before.
func (t *Trainer) compareFirst(data uint32, plans []*capacity.ShapePlan, err error) error {
	if t.alone() || t.compared {
		return err
	}
	t.compared = true
	first := report{data: data}
	if err == nil {
		err = withMemoryHint(t.gradient(&first, 0, plans[0], (t.step-1)*int64(t.Config.Batches())))
	}
	if err == nil {
		err = t.takeSums(&first)
	}
	if err = t.group.Agree(err); err != nil {
		return err
	}
	reports, err := t.reports(first)
	if err != nil {
		return err
	}
	var others []string
	for rank, r := range reports {
		if r.data != reports[0].data {
			return t.group.Agree(errors.New("the training data of rank " + strconv.Itoa(rank) + otherData))
		}
		if !t.sameGradients(reports[0], r) {
			others = append(others, strconv.Itoa(rank))
		}
	}
	if others == nil {
		return nil
	}
	return t.group.Agree(fmt.Errorf("the gradients of rank %s for the same batch%s", strings.Join(others, ", "), otherBuild))
}

// takeSums describes the accumulated gradients by a checksum and their norm, and clears them.
func (t *Trainer) takeSums(r *report) error {
	squares := 0.0
	_, err := t.eachSum(func(_ int, sum []float32) {
		for _, v := range sum {
			bits := math.Float32bits(v)
			r.parameters = crc32.Update(r.parameters, castagnoli, []byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
			squares += float64(v) * float64(v)
		}
		clear(sum)
	})
	r.norm = math.Sqrt(squares)
	return err
}

// sameGradients reports whether two ranks have computed the same for one batch: the same bits or, if the backend does not repeat them,
// about the same loss and norm.
func (t *Trainer) sameGradients(a, b report) bool {
	if engine.Repeats(t.Backend) {
		return a.parameters == b.parameters
	}
	loss := func(r report) float64 { return objective.Unpack(r.batches[0].tally).MeanLoss() }
	return len(a.batches) == 1 && len(b.batches) == 1 && about(a.norm, b.norm) && about(loss(a), loss(b))
}

// about reports whether two numbers differ by at most one percent. Two that are NaN or the same infinity do not differ.
func about(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 0.01*math.Max(math.Abs(a), math.Abs(b))
}
