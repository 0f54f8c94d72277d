package translation

import "testing"

// A consumer that needs no more of the training text, as one that has failed itself, is no failure of the text.
// Caught when planted: a failure of the text.
func TestTrainingTextThatIsLeft(t *testing.T) {
	source, target := counted(9)
	c := Translation{Path: folder(t, map[string]string{"a.en": source, "a.de": target}), Training: []Corpus{two("a"), two("a")}}
	f, err := c.open(c.Training...)
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []int{1, 2, 17, 18, 19} {
		var failed error
		seen := 0
		for range c.trainingText(f, &failed) {
			if seen++; seen == length {
				break
			}
		}
		if failed != nil || seen != length {
			t.Errorf("left after %d texts: %d, %v", length, seen, failed)
		}
	}
}
