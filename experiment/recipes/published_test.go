package recipes_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
	"universal-transformer/task/babi"
	"universal-transformer/task/lambada"
)

// published is a result as far as these tests read it.
type published struct {
	Seed     uint64          `json:"seed"`
	Seconds  float64         `json:"seconds"`
	Measured json.RawMessage `json:"measured"`
	Config   json.RawMessage `json:"config"`
}

// publishedResults calls use with every published result and the name of its recipe, in the order of names.
func publishedResults(t *testing.T, use func(recipe string, r published)) {
	t.Helper()
	file := regexp.MustCompile(`^(.+/.+)-seed\d+\.json$`)
	root := filepath.Join("..", "..", "results")
	found := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{sweep.DepthFolder, sweep.PairedFolder, sweep.SearchesFolder}, entry.Name()) {
			return fs.SkipDir
		}
		name, err := filepath.Rel(root, path)
		m := file.FindStringSubmatch(filepath.ToSlash(name))
		if err != nil || m == nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r published
		if err := json.Unmarshal(data, &r); err != nil {
			return err
		}
		found++
		use(m[1], r)
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("%d results, %v", found, err)
	}
}

// The configuration of every published result is its recipe's, to the last field, apart from its name, its seed and the paths of data. Results
// of version 0.1 have the same in the words of that version. Caught when planted: an update more in table 1; a dropout of table 3.
func TestPublishedConfigurations(t *testing.T) {
	publishedResults(t, func(name string, result published) {
		recipe, err := recipes.Named(name)
		if err != nil {
			t.Errorf("%s is no recipe: %v", name, err)
			return
		}
		now, was := recipe.Run(), decodePublished(t, name, result.Config)
		now.Name, now.Seed = was.Name, was.Seed
		now.Training.Pretrained = was.Training.Pretrained
		switch d := was.Task.Value.(type) {
		case babi.Babi:
			of := now.Task.Value.(babi.Babi)
			of.StandIn = d.StandIn
			now.Task.Value = of
		case lambada.Reading:
			of := now.Task.Value.(lambada.Reading)
			of.Prose = d.Prose
			now.Task.Value = of
		}
		if now, was := now.Identity().JSON(), was.Identity().JSON(); !bytes.Equal(now, was) {
			t.Errorf("%s, seed %d, would be trained with\n%s, was trained with\n%s", name, result.Seed, now, was)
		}
	})
}

// decodePublished reads the configuration of a result, which version 0.1 may have written.
func decodePublished(t *testing.T, name string, config json.RawMessage) experiment.Run {
	t.Helper()
	if run, err := experiment.Decode(config); err == nil {
		return run
	}
	var fields map[string]any
	err := json.Unmarshal(config, &fields)
	if err == nil {
		config, err = json.Marshal(inPresentWords(fields))
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	run, err := experiment.Decode(config)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return run
}

// inPresentWords rewrites a configuration of version 0.1, a classifier of bAbI, in the words of this version; nil if it means something else.
func inPresentWords(config map[string]any) map[string]any {
	model := config["model"].(map[string]any)
	for key, value := range model["classifier"].(map[string]any) {
		model[map[string]string{"pool": "pool", "untied": "untied_layers"}[key]] = value
	}
	delete(model, "classifier")
	delete(model, "words")
	if !reflect.DeepEqual(model["positions"], map[string]any{"max": 0., "gaps": false}) {
		return nil
	}
	model["positions"] = map[string]any{"from_one": map[string]any{}}
	config["model"] = map[string]any{"classifier": model}
	training := config["training"].(map[string]any)
	training["validation"], training["decay_vectors"] = training["held_out"], true
	delete(training, "held_out")
	return config
}
