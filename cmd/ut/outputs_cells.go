package main

import (
	"os"

	"universal-transformer/runlog"
	"universal-transformer/sweep"
)

// checkCells returns an error, before any work, if a result of cells, or the page of them, would be written in a run directory, or
// overwrite one of their data or another file that must be kept. folder is the value of the flag that chose where they are.
func checkCells(cells []sweep.Cell, flag, folder, page string, keep ...kept) error {
	if err := checkFolder(flag, folder); err != nil {
		return err
	}
	outs := []string{page}
	seen := map[string]bool{}
	for _, cell := range cells {
		outs = append(outs, cell.File())
		for _, file := range cell.Run.Files() {
			if !file.IsRun() && !seen[file.Path] {
				seen[file.Path] = true
				keep = append(keep, keptData(file.Path, "on which "+cell.Name()+" is trained")...)
			}
		}
	}
	for _, out := range outs {
		info, err := os.Stat(out)
		if err != nil {
			continue
		}
		for _, k := range keep {
			if own, err := os.Stat(k.path); err == nil && os.SameFile(own, info) {
				return usagef("--%s %s: %s would overwrite %s, %s: choose another folder", flag, folder, out, k.path, k.why)
			}
		}
	}
	return checkPage(flag, folder, page)
}

// checkFolder returns an error if the folder of results or runs that a flag names is a run directory, or lies in a folder that one
// has for its own files.
func checkFolder(flag, folder string) error {
	if err := runlog.CheckFolder(folder); err != nil {
		return usagef("--%s: %v", flag, err)
	}
	return nil
}

// checkPage returns an error if there is a page that no sweep has written, as in the folder of a site.
func checkPage(flag, folder, page string) error {
	if page == "" {
		return nil
	}
	html, err := os.ReadFile(page)
	if err != nil || sweep.IsPage(html) { // a missing one, or an error that writing it has too
		return nil
	}
	return usagef("--%s %s: %s was not written by a sweep, which would overwrite it: choose another folder", flag, folder, page)
}
