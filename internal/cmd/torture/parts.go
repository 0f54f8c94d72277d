//go:build unix

package main

// parts are all trials, those that find a fault soonest first.
func parts(w *world) []part {
	return []part{hostile(w), forged(w), unreadable(w), limits(w), pipes(w), damages(w), kills(w), signals(w)}
}
