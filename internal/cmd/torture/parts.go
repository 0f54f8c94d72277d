//go:build unix

package main

// parts lists all trials, those that find faults fastest first.
func parts(w *world) []part {
	return []part{hostile(w), bombs(w), forgedResults(w), forged(w), unreadable(w), limits(w), pipes(w), requests(w), damages(w), dataSeals(w), writers(w), kills(w), signals(w)}
}
