package subword

// queue is a binary heap: pop returns the item that comes before all others.
type queue[T any] struct {
	before func(a, b T) bool
	items  []T
}

func (q *queue[T]) push(item T) {
	q.items = append(q.items, item)
	i := len(q.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.before(item, q.items[parent]) {
			break
		}
		q.items[i] = q.items[parent]
		i = parent
	}
	q.items[i] = item
}

func (q *queue[T]) pop() (first T, ok bool) {
	if len(q.items) == 0 {
		return first, false
	}
	first = q.items[0]
	item := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(q.items) {
			break
		}
		if child+1 < len(q.items) && q.before(q.items[child+1], q.items[child]) {
			child++
		}
		if !q.before(q.items[child], item) {
			break
		}
		q.items[i] = q.items[child]
		i = child
	}
	if len(q.items) > 0 {
		q.items[i] = item
	}
	return first, true
}
