package report

import "universal-transformer/paper"

// A layout writes what differs between tables: the part of RESULTS.md below the heading of a table, and the measurements on its page.
type layout struct {
	section, details func(*page, paper.Table)
}

// layouts are those of the tables, by number.
var layouts = map[int]layout{
	1: {(*page).babi, (*page).babiDetails},
	2: {mainMetrics, (*page).metricsDetails},
	3: {mainMetrics, (*page).metricsDetails},
	4: {algorithmic, algorithmicDetails},
	5: {mainSequences, sequencesDetails},
	6: {programs, programsDetails},
	7: {translation, (*page).translationDetails},
}

// mainMetrics and mainSequences write the rows and columns of the paper's layout.
func mainMetrics(p *page, t paper.Table)   { p.metrics(t, false, "") }
func mainSequences(p *page, t paper.Table) { p.sequences(t, false) }

func algorithmic(p *page, t paper.Table) {
	mainSequences(p, t)
	p.lengthLinks(t)
}

func programs(p *page, t paper.Table) {
	mainSequences(p, t)
	p.limitsLine(t)
}

func translation(p *page, t paper.Table) {
	p.wmt14()
	p.metrics(t, false, p.lastCheckpoints(t))
}

func sequencesDetails(p *page, t paper.Table) {
	p.notesOfRows(t)
	p.kindsOfColumns(t)
	p.allSets(t)
}

func algorithmicDetails(p *page, t paper.Table) {
	p.notesOfRows(t)
	p.lengths(t)
	p.kindsOfColumns(t)
	p.loggedDetails(t)
	p.allSets(t)
}

func programsDetails(p *page, t paper.Table) {
	p.notesOfRows(t)
	p.kindsOfColumns(t)
	p.limits(t)
	p.allSets(t)
}
