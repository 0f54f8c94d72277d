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
	if err == nil {
		data, err = t.group.Broadcast(data)
	}
	var s state
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
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
	t.gradientBuffer = t.gradientBuffer[:0]
	n, err := t.eachSum(func(_ int, sum []float32) {
		t.gradientBuffer = append(t.gradientBuffer, sum...)
		clear(sum)
	})
	if err = t.group.Agree(err); err != nil {
		return err
	}
	if len(t.gradientTotal) != n {
		t.gradientTotal = make([]float32, n)
	}
	return t.group.Fold(t.gradientTotal, t.gradientBuffer)
}

// shareSums stores the total over all ranks in the accumulated gradients.
func (t *Trainer) shareSums() error {
	if t.alone() {
		return nil
	}
	if err := t.group.Share(t.gradientTotal); err != nil {
		return err
	}
	_, err := t.eachSum(func(at int, sum []float32) { copy(sum, t.gradientTotal[at:]) })
	clear(t.gradientTotal)
	return err
}

// report is the message of a rank to the others about an update.
type report struct {
	interrupted      bool   // its context has ended
	parameters, data uint32 // checksums: of the parameters, and of the batches of all ranks
	batches          []computed
}

// computed is the result of one batch: the packed tally, and the capacity it needed.
type computed struct {
	tally  []float32
	demand capacity.Demand
}

// numbers encodes the report as numbers.
func (r report) numbers() []float64 {
	list := []float64{0, float64(r.parameters), float64(r.data)}
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
			return make([]float64, 3)
		}
		part, list = list[:int(n)], list[int(n):]
		return part
	}
	head := take(3)
	r.interrupted, r.parameters, r.data = head[0] != 0, uint32(head[1]), uint32(head[2])
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

// collect exchanges the reports of all ranks and applies them: the tally of the update, the plans for the next, whether to stop. It
// returns an error that names the ranks that did not compute the same.
func (t *Trainer) collect(own report) (tally objective.Tally, err error) {
	lists, err := t.group.Gather(own.numbers())
	if err != nil {
		return tally, err
	}
	reports := make([]report, len(lists))
	for rank, list := range lists {
		if reports[rank], err = reportOf(list); err != nil {
			return tally, err
		}
		if len(reports[rank].batches)*len(lists) != len(t.drawn) {
			return tally, errShort
		}
		t.interrupted = t.interrupted || reports[rank].interrupted
	}
	if err := t.group.Agree(t.difference(reports)); err != nil {
		return tally, err
	}
	for i, b := range t.drawn { // in the order of batches, whoever had them
		c := reports[i%len(reports)].batches[i/len(reports)]
		tally = tally.Plus(objective.Unpack(c.tally))
		t.gradients.Learn(capacity.ShapeOf(b), c.demand)
	}
	return tally, nil
}

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
		return fmt.Errorf("update %d: the training data of rank %s differ from those of rank 0: all hosts need the same files", t.step, strings.Join(data, ", "))
	case parameters != nil:
		return fmt.Errorf("update %d: the parameters of rank %s differ from those of rank 0: all need the same build, the same kind of processor and the same backend",
			t.step, strings.Join(parameters, ", "))
	}
	return nil
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
