package training

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

// alone reports whether there are no other ranks.
func (t *Trainer) alone() bool { return t.group.Size() == 1 }

// onRankZero runs a function on rank 0 only, such as writing or validating. Every rank returns its error.
func (t *Trainer) onRankZero(do func() error) error {
	var err error
	if t.group.Rank() == 0 {
		err = do()
	}
	return t.group.Agree(err)
}

// shareState sends rank 0's state to all ranks.
func (t *Trainer) shareState() error {
	if t.alone() {
		return nil
	}
	data, err := json.Marshal(t.state)
	if err = t.group.Agree(err); err != nil {
		return err
	}
	if data, err = t.group.Broadcast(data); err != nil {
		return err
	}
	return t.group.Agree(t.replaceState(data))
}

// replaceState replaces the state by an encoded one.
func (t *Trainer) replaceState(encoded []byte) error {
	var s state
	if err := json.Unmarshal(encoded, &s); err != nil {
		return err
	}
	if plan := t.state.CapacityPlan; plan != nil { // the one that the graphs have
		*plan, s.CapacityPlan = *s.CapacityPlan, plan
	}
	t.state = s
	return nil
}

// shareCheckpoint sends rank 0's checkpoint to all ranks, nil if it has none.
func (t *Trainer) shareCheckpoint(c *runlog.Checkpoint) (*runlog.Checkpoint, error) {
	if t.alone() {
		return c, nil
	}
	var data []byte
	var err error
	if c != nil {
		meta := map[string]string{stepKey: strconv.FormatInt(c.Step, 10), StateKey: c.Meta[StateKey], ConfigurationKey: c.Meta[ConfigurationKey]}
		data, err = safetensors.Encode(&safetensors.File{Metadata: meta, Tensors: c.Tensors})
	}
	if err = t.group.Agree(err); err == nil {
		data, err = t.group.Broadcast(data)
	}
	if err != nil || len(data) == 0 || t.group.Rank() == 0 {
		return c, err
	}
	file, err := safetensors.Decode(data)
	if err != nil {
		return nil, err
	}
	step, err := strconv.ParseInt(file.Metadata[stepKey], 10, 64)
	return &runlog.Checkpoint{Step: step, Meta: file.Metadata, Tensors: file.Tensors}, err
}

// stepKey is the metadata key under which shareCheckpoint stores the step.
const stepKey = "step"

// sums lists the accumulated gradients, in the order of their names.
func (t *Trainer) sums() []*model.Variable {
	var list []*model.Variable
	for v := range t.Store.IterVariables() {
		if strings.HasPrefix(v.Path(), accumulated+model.ScopeSeparator) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *model.Variable) int { return strings.Compare(a.Path(), b.Path()) })
	return list
}

// eachSum calls do with every accumulated gradient and its offset among all numbers, and returns how many numbers there are.
func (t *Trainer) eachSum(do func(at int, sum []float32)) (n int, err error) {
	for _, v := range t.sums() {
		value, err := v.Value()
		if err == nil {
			err = tensors.MutableFlatData(value, func(sum []float32) {
				do(n, sum)
				n += len(sum)
			})
		}
		if err != nil {
			return n, fmt.Errorf("gradient of %s: %w", strings.TrimPrefix(v.Path(), accumulated), err)
		}
	}
	return n, nil
}

// foldSums takes the gradients of one batch per rank and adds them to the total in the order of ranks, which is that of batches.
func (t *Trainer) foldSums() error {
	if t.alone() {
		return nil
	}
	if t.gradientBuffer == nil {
		n := 0
		for _, v := range t.sums() {
			n += v.Shape().Size()
		}
		t.gradientBuffer, t.gradientTotal = make([]float32, n), t.group.Own(n)
	}
	_, err := t.eachSum(func(at int, sum []float32) {
		copy(t.gradientBuffer[at:], sum)
		clear(sum)
	})
	if err = t.group.Agree(err); err != nil {
		return err
	}
	return t.group.Fold(t.gradientTotal, t.gradientBuffer)
}

// shareSums stores the total over all ranks in the accumulated gradients.
func (t *Trainer) shareSums() error {
	if t.alone() {
		return nil
	}
	if err := t.group.Share(t.gradientTotal, t.gradientBuffer); err != nil {
		return err
	}
	clear(t.gradientTotal)
	_, err := t.eachSum(func(at int, sum []float32) { copy(sum, t.gradientBuffer[at:]) })
	return t.group.Agree(err)
}

// collect exchanges the reports of all ranks and applies them: the tally of the update and the norm of its gradient, the plans for the
// next, whether to stop. It returns an error that names the ranks that did not compute the same.
func (t *Trainer) collect(own report) (tally objective.Tally, norm float64, err error) {
	reports, err := t.reports(own)
	if err != nil {
		return tally, 0, err
	}
	t.othersCPU = 0
	for rank, r := range reports {
		if len(r.batches)*len(reports) != len(t.drawn) {
			return tally, 0, errShort
		}
		t.interrupted = t.interrupted || r.interrupted
		if rank != t.group.Rank() {
			t.othersCPU += r.cpu
		}
	}
	if err := t.group.Agree(t.difference(reports)); err != nil {
		return tally, 0, err
	}
	for i, b := range t.drawn { // in the order of batches, whoever had them
		c := reports[i%len(reports)].batches[i/len(reports)]
		tally = tally.Plus(objective.Unpack(c.tally))
		t.gradients.Learn(capacity.ShapeOf(b), c.demand)
	}
	return tally, reports[0].norm, nil // the same on all ranks, so that all judge alike whether training has diverged
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns a checksum of all parameters, 0 if there are no other ranks.
func (t *Trainer) checksum() (sum uint32, err error) {
	if t.alone() {
		return 0, nil
	}
	for _, s := range t.sums() {
		v := t.Store.GetVariable(strings.TrimPrefix(s.Path(), accumulated))
		value, e := v.Value()
		if e == nil {
			e = value.ConstBytes(func(data []byte) { sum = crc32.Update(sum, castagnoli, data) })
		}
		err = errors.Join(err, e)
	}
	return sum, err
}

// digest returns a checksum of batches, 0 if there are no other ranks.
func (t *Trainer) digest(batches []batch.Batch) (sum uint32) {
	if t.alone() {
		return 0
	}
	for _, b := range batches {
		bytes := make([]byte, 0, 4*(len(b.Source)+len(b.Target)))
		for _, id := range slices.Concat(b.Source, b.Target) {
			bytes = append(bytes, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
		}
		sum = crc32.Update(sum, castagnoli, bytes)
	}
	return sum
}
