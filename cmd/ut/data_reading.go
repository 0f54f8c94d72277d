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

// byName selects files by base name, in any folder of an archive.
func byName(files []dataFile) func(string) (string, bool) {
	return func(name string) (string, bool) {
		base := path.Base(name)
		return base, slices.ContainsFunc(files, func(f dataFile) bool { return f.name == base })
	}
}

const linzenHelp = `linzen checks the subject-verb agreement files (Linzen, Dupoux and Goldberg, 2016) in a folder and
downloads them if there are none. There are three kinds:

  numpred.val, numpred.test.1 to 5   the words before a verb, and the verb's tag
  agr_50_mostcommon_10K.tsv.gz       the authors' table of whole sentences
  subj_agr_filtered.text and .gold   sentences with the right and the wrong verb form

Recipes read them from data/linzen, the default of --dir:

  ut train agreement/natural-text   the first kind
  ut train agreement/verbs          the second
  ut train agreement/forms          the first, tested on the third; agreement/forms-text, too
  ut train agreement/pairs          the third, and the books of ut data gutenberg

All sentences are from Wikipedia. The first two kinds are published under the MIT licence at
https://github.com/TalLinzen/rnn_agreement, the third, from facebookresearch/colorlessgreenRNNs,
under CC BY-NC 4.0.`

func newDataLinzen() *cobra.Command {
	d := dataSet{name: "linzen", what: "the agreement data", places: []string{
		"http://tallinzen.net/media/rnn_agreement/rnn_agr_simple.tar.gz",
		"http://tallinzen.net/media/rnn_agreement/agr_50_mostcommon_10K.tsv.gz",
		"https://raw.githubusercontent.com/facebookresearch/colorlessgreenRNNs/main/data/linzen_testset/subj_agr_filtered.text",
		"https://raw.githubusercontent.com/facebookresearch/colorlessgreenRNNs/main/data/linzen_testset/subj_agr_filtered.gold",
	}}
	numpred := func(name string, expected int, group string) {
		d.files = append(d.files, dataFile{name: name, what: "rows", expected: expected, group: group, count: agreement.CountNumpred})
	}
	numpred("numpred.train", 0, "train")
	numpred("numpred.val", 15_772, "numpred")
	numpred("numpred.test.0", 0, "test 0")
	for k, n := range []int{52_599, 9380, 2051, 561, 159} {
		numpred(fmt.Sprintf("numpred.test.%d", k+1), n, "numpred")
	}
	d.files = append(d.files,
		dataFile{name: "agr_50_mostcommon_10K.tsv.gz", what: "rows", group: "table.gz", count: agreement.CountDependencies},
		dataFile{name: "agr_50_mostcommon_10K.tsv", what: "rows", group: "table", count: agreement.CountDependencies},
		dataFile{name: "subj_agr_filtered.text", what: "pairs", expected: 7489, group: "pairs", with: "subj_agr_filtered.gold", count: agreement.CountPairs},
		dataFile{name: "subj_agr_filtered.gold", what: "verbs", expected: 7489, group: "pairs", count: agreement.CountGold})
	d.wanted = byName(d.files)
	return d.command(linzenHelp, `  ut data linzen --dir data/linzen
  ut data linzen --archive rnn_agr_simple.tar.gz`)
}

const lambadaHelp = `lambada checks the passages of LAMBADA (Paperno et al., 2016) in a folder and downloads the authors'
archive, with its novels, if there are none (CC BY 4.0). Its home is
https://zenodo.org/record/2630551. The folder may also contain OpenAI's version of the test set,
lambada_test.jsonl, which is read with --set task.version=openai. Results on the two versions are
not comparable.

Without LAMBADA's novels, a language model can be trained on other books: see ut data gutenberg and
--set task.prose=FOLDER.`

func newDataLambada() *cobra.Command {
	d := dataSet{name: "lambada", what: "LAMBADA", places: []string{
		"https://zenodo.org/record/2630551/files/lambada-dataset.tar.gz",
	}}
	count := func(v lambada.Version) func(string) (int, error) {
		return func(path string) (int, error) { return v.Count(path) }
	}
	d.files = []dataFile{
		{name: lambada.Development, what: "passages", expected: 4869, group: "plain", count: count(lambada.Plain)},
		{name: lambada.Test, what: "passages", expected: 5153, group: "plain", count: count(lambada.Plain)},
		{name: lambada.Control, what: "passages", group: "control", count: count(lambada.Plain)},
		{name: lambada.OpenAITest, what: "passages", expected: 5153, group: "openai", count: count(lambada.OpenAI)},
		{name: lambada.WordList, what: "words", expected: 112_745, group: "words", count: lambada.CountWords},
		{name: lambada.Novels, what: "novels", expected: 2662, group: "novels", count: lambada.CountBooks},
	}
	d.wanted = func(name string) (string, bool) {
		if _, novel, ok := strings.Cut("/"+name, "/"+lambada.Novels+"/"); ok && path.Ext(name) == ".txt" {
			return lambada.Novels + "/" + novel, true
		}
		return byName(d.files)(name)
	}
	return d.command(lambadaHelp, `  ut data lambada --dir data/lambada
  ut data lambada --archive lambada-dataset.tar.gz`)
}

const gutenbergHelp = `gutenberg checks a folder of novels from Project Gutenberg, for training language models, and
downloads them if there are none: seven by Jane Austen, G. K. Chesterton and Herman Melville, as
distributed by NLTK. They are in the public domain in the USA, and replace LAMBADA's far larger set
of training novels. Other books (.txt) in the folder are used for training too.`

func newDataGutenberg() *cobra.Command {
	d := dataSet{name: "gutenberg", what: "the novels", places: []string{
		"https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/gutenberg.zip",
	}}
	for _, name := range []string{"austen-emma", "austen-persuasion", "austen-sense", "chesterton-ball", "chesterton-brown", "chesterton-thursday", "melville-moby_dick"} {
		d.files = append(d.files, dataFile{name: name + ".txt", what: "words", count: lambada.CountProse})
	}
	d.wanted = byName(d.files)
	return d.command(gutenbergHelp, `  ut data gutenberg --dir data/gutenberg
  ut data gutenberg --archive gutenberg.zip`)
}
