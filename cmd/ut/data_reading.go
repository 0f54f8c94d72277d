package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/task/agreement"
	"universal-transformer/task/lambada"
)

// byName wants files by their names, wherever they lie in an archive.
func byName(files []dataFile) func(string) (string, bool) {
	return func(name string) (string, bool) {
		base := path.Base(name)
		return base, slices.ContainsFunc(files, func(f dataFile) bool { return f.name == base })
	}
}

const linzenHelp = `linzen checks the files of subject-verb agreement (Linzen, Dupoux and Goldberg, 2016) in a folder,
and fetches them if there are none. There are three kinds:

  numpred.val, numpred.test.1 to 5   words before a verb and its tag: ut train agreement
  agr_50_mostcommon_10K.tsv.gz       the authors' table of whole sentences: task agreement_verbs
  subj_agr_filtered.text and .gold   pairs of sentences: task agreement_pairs

Sentences are of Wikipedia. The first two are under the MIT licence, the pairs, from
facebookresearch/colorlessgreenRNNs, under CC BY-NC 4.0. Their home is
https://github.com/TalLinzen/rnn_agreement.`

func newDataLinzen() *cobra.Command {
	d := dataSet{name: "linzen", what: "the agreement files", places: []string{
		"http://tallinzen.net/media/rnn_agreement/rnn_agr_simple.tar.gz",
		"http://tallinzen.net/media/rnn_agreement/agr_50_mostcommon_10K.tsv.gz",
		"https://raw.githubusercontent.com/facebookresearch/colorlessgreenRNNs/main/data/linzen_testset/subj_agr_filtered.text",
		"https://raw.githubusercontent.com/facebookresearch/colorlessgreenRNNs/main/data/linzen_testset/subj_agr_filtered.gold",
	}}
	add := func(name, what string, expected int, optional bool, count func(string) (int, error)) {
		d.files = append(d.files, dataFile{name, what, expected, optional, count})
	}
	add("numpred.train", "rows", 0, true, agreement.CountNumpred)
	add("numpred.val", "rows", 15_772, true, agreement.CountNumpred)
	add("numpred.test.0", "rows", 0, true, agreement.CountNumpred)
	for k, n := range []int{52_599, 9380, 2051, 561, 159} {
		add(fmt.Sprintf("numpred.test.%d", k+1), "rows", n, true, agreement.CountNumpred)
	}
	add("agr_50_mostcommon_10K.tsv.gz", "rows", 0, true, agreement.CountDependencies)
	add("agr_50_mostcommon_10K.tsv", "rows", 0, true, agreement.CountDependencies)
	add("subj_agr_filtered.text", "pairs", 7489, true, agreement.CountPairs)
	d.wanted = func(name string) (string, bool) {
		if base := path.Base(name); base == "subj_agr_filtered.gold" {
			return base, true
		}
		return byName(d.files)(name)
	}
	return d.command(linzenHelp, `  ut data linzen --dir data/linzen
  ut data linzen --archive rnn_agr_simple.tar.gz`)
}

const lambadaHelp = `lambada checks the passages of LAMBADA (Paperno et al., 2016) in a folder, and fetches the authors'
archive if there are none (about 330 MB with its novels; they are under CC BY 4.0). Its home is
https://zenodo.org/record/2630551. The folder may also have OpenAI's version of the test,
lambada_test.jsonl, which is another version: figures on it do not compare.

Without the novels, a language model can learn from books of one's own: see ut data gutenberg, and
--set task.prose=FOLDER.`

func newDataLambada() *cobra.Command {
	d := dataSet{name: "lambada", what: "LAMBADA", places: []string{
		"https://zenodo.org/record/2630551/files/lambada-dataset.tar.gz",
	}}
	count := func(v lambada.Version) func(string) (int, error) {
		return func(path string) (int, error) { return v.Count(path) }
	}
	d.files = []dataFile{
		{lambada.Development, "passages", 4869, false, count(lambada.Plain)},
		{lambada.Test, "passages", 5153, false, count(lambada.Plain)},
		{lambada.Control, "passages", 0, true, count(lambada.Plain)},
		{lambada.OpenAITest, "passages", 5153, true, count(lambada.OpenAI)},
		{lambada.WordList, "words", 112_745, true, lambada.CountWords},
		{lambada.Novels, "novels", 2662, true, lambada.CountBooks},
	}
	d.wanted = func(name string) (string, bool) {
		if _, novel, is := strings.Cut("/"+name, "/"+lambada.Novels+"/"); is && path.Ext(name) == ".txt" {
			return lambada.Novels + "/" + novel, true
		}
		return byName(d.files)(name)
	}
	return d.command(lambadaHelp, `  ut data lambada --dir data/lambada
  ut data lambada --archive lambada-dataset.tar.gz`)
}

const gutenbergHelp = `gutenberg checks a folder of novels of Project Gutenberg, which language models learn from, and
fetches them if there are none: seven by Jane Austen, G. K. Chesterton and Herman Melville, 5 MB,
as NLTK distributes them. They are in the public domain in the USA, and stand in for LAMBADA's
training novels, which are 160 times as much. Other books (.txt) in the folder are learned too.`

func newDataGutenberg() *cobra.Command {
	d := dataSet{name: "gutenberg", what: "the novels", places: []string{
		"https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/gutenberg.zip",
	}}
	for _, name := range []string{"austen-emma", "austen-persuasion", "austen-sense", "chesterton-ball", "chesterton-brown", "chesterton-thursday", "melville-moby_dick"} {
		d.files = append(d.files, dataFile{name + ".txt", "words", 0, false, lambada.CountProse})
	}
	d.wanted = byName(d.files)
	return d.command(gutenbergHelp, `  ut data gutenberg --dir data/gutenberg
  ut data gutenberg --archive gutenberg.zip`)
}
