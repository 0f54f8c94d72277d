package subword

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"golang.org/x/text/unicode/norm"
	"universal-transformer/internal/strictjson"
	"universal-transformer/internal/vocab"
)

// A form is what a tokenizer.json says besides pieces and merges: how text is normalized and split into words.
type form struct {
	parts        parts    // as in the file
	nfc          bool     // text is brought into Unicode's form C
	split        splitter // into words
	ignoreMerges bool     // a word that is a piece is not merged
	added        []string // tokens that are not special: their spelling in a text gives their ids
	addedIDs     map[string]vocab.ID
}

// parts are the parts of the file that describe the form, for writing it again; nil for those that are trained here.
type parts struct{ normalizer, preTokenizer, postProcessor, decoder json.RawMessage }

// gpt2 is the form of the files that are trained here.
func gpt2() form { return form{split: firstWord} }

// normalized returns a text in the form's normalization.
func (f form) normalized(text string) string {
	if f.nfc {
		return norm.NFC.String(text)
	}
	return text
}

// cuts yields each added token in a text, the longest one that begins there, with the text before it, and at the end the rest of the text
// with "".
func (f form) cuts(text string) iter.Seq2[string, string] {
	return func(yield func(plain, token string) bool) {
		next := make([]int, len(f.added)) // where each token occurs; it is searched again only after that
		for i := range next {
			next[i] = -1
		}
		for from := 0; ; {
			at, token := len(text), ""
			for i, t := range f.added {
				if next[i] < from {
					next[i] = len(text)
					if found := strings.Index(text[from:], t); found >= 0 {
						next[i] = from + found
					}
				}
				if next[i] < at || next[i] == at && at < len(text) && len(t) > len(token) {
					at, token = next[i], t
				}
			}
			if !yield(text[from:at], token) || token == "" {
				return
			}
			from = at + len(token)
		}
	}
}

// readForm reads what a file says besides its model. It returns an error that names anything that this package would do differently.
func readForm(f file) (form, error) {
	form := form{parts: parts{f.Normalizer, f.PreTokenizer, f.PostProcessor, f.Decoder}}
	switch {
	case !null(f.Truncation):
		return form, errors.New("truncation is set, which would cut texts off: set it to null in the file")
	case !null(f.Padding):
		return form, errors.New("padding is set, which would add tokens to texts: set it to null in the file")
	case kind(f.Normalizer) == "NFC":
		form.nfc = true
	case !null(f.Normalizer):
		return form, fmt.Errorf("normalizer %s is not supported, as its ids would differ: only NFC is", kind(f.Normalizer))
	}
	var err error
	if form.split, err = readPreTokenizer(f.PreTokenizer); err != nil {
		return form, err
	}
	if err := checkPostProcessor(f.PostProcessor); err != nil {
		return form, err
	}
	switch {
	case null(f.Decoder):
		return form, errors.New("decoder is missing: only ByteLevel is supported")
	case kind(f.Decoder) != "ByteLevel":
		return form, unsupported("decoder", kind(f.Decoder))
	}
	if err := strictjson.Decode(f.Decoder, &byteLevel{}); err != nil {
		return form, fmt.Errorf("decoder: %w", err)
	}
	return form, form.add(f.AddedTokens)
}

// add adds the tokens that are not special.
func (f *form) add(tokens []addedToken) error {
	f.addedIDs = map[string]vocab.ID{}
	for _, t := range tokens {
		switch {
		case t.Special || t.Content == "":
			continue
		case t.SingleWord || t.LeftStrip || t.RightStrip:
			return fmt.Errorf("added token %q has single_word, lstrip or rstrip: this is not supported for tokens that are not special", t.Content)
		case t.Normalized && f.nfc:
			return fmt.Errorf("added token %q is looked for in normalized text: this is not supported with a normalizer", t.Content)
		}
		f.added, f.addedIDs[t.Content] = append(f.added, t.Content), t.ID
	}
	return nil
}

// split is the pre-tokenizer Split.
type split struct {
	Type    string `json:"type"`
	Pattern struct {
		Regex  string `json:"Regex"`
		String string `json:"String"`
	} `json:"pattern"`
	Behavior string `json:"behavior"`
	Invert   bool   `json:"invert"`
}

// sequence is a list of pre-tokenizers or post-processors.
type sequence struct {
	Type          string            `json:"type"`
	PreTokenizers []json.RawMessage `json:"pretokenizers"`
	Processors    []json.RawMessage `json:"processors"`
}

// readPreTokenizer returns the splitter of a ByteLevel, or of a Split by a known pattern before a ByteLevel that does not split.
func readPreTokenizer(part json.RawMessage) (splitter, error) {
	switch {
	case null(part):
		return nil, errors.New("pre_tokenizer is missing: only ByteLevel, and Split before ByteLevel, are supported")
	case kind(part) == "ByteLevel":
		if err := checkByteLevel(part, true); err != nil {
			return nil, err
		}
		return firstWord, nil
	case kind(part) != "Sequence":
		return nil, unsupported("pre_tokenizer", kind(part))
	}
	var s sequence
	if err := strictjson.Decode(part, &s); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if len(s.PreTokenizers) != 2 || kind(s.PreTokenizers[0]) != "Split" || kind(s.PreTokenizers[1]) != "ByteLevel" {
		return nil, errors.New("pre_tokenizer Sequence is not supported unless it is Split and ByteLevel, as its ids would differ")
	}
	if err := checkByteLevel(s.PreTokenizers[1], false); err != nil {
		return nil, err
	}
	var by split
	if err := strictjson.Decode(s.PreTokenizers[0], &by); err != nil {
		return nil, fmt.Errorf("pre_tokenizer Split: %w", err)
	}
	found, ok := splitters[by.Pattern.Regex]
	switch {
	case !ok:
		return nil, fmt.Errorf("pre_tokenizer Split has the pattern %q, which is not supported: those of GPT-2, GPT-4, GPT-4o, Llama 3, Qwen and Mistral Nemo are", by.Pattern.Regex+by.Pattern.String)
	case by.Behavior != "Isolated" && !(by.Behavior == "Removed" && by.Invert): // both keep every match as a word; all characters match
		return nil, fmt.Errorf("pre_tokenizer Split with behavior %s and invert %v is not supported: Isolated is", by.Behavior, by.Invert)
	}
	return found, nil
}

// checkByteLevel returns an error unless a ByteLevel adds no blank and splits text, or does not.
func checkByteLevel(part json.RawMessage, splits bool) error {
	b := byteLevel{UseRegex: true}
	if err := strictjson.Decode(part, &b); err != nil {
		return fmt.Errorf("pre_tokenizer: %w", err)
	}
	switch {
	case b.AddPrefixSpace:
		return errors.New("pre_tokenizer ByteLevel with add_prefix_space is not supported")
	case splits && !b.UseRegex:
		return errors.New("pre_tokenizer ByteLevel without use_regex is not supported, unless a Split comes before it")
	case !splits && b.UseRegex:
		return errors.New("pre_tokenizer ByteLevel with use_regex after a Split is not supported")
	}
	return nil
}

// checkPostProcessor returns an error unless a post-processor at most adds special tokens, which Encode never returns.
func checkPostProcessor(part json.RawMessage) error {
	switch kind(part) {
	case "ByteLevel":
		if err := strictjson.Decode(part, &byteLevel{}); err != nil {
			return fmt.Errorf("post_processor: %w", err)
		}
		return nil
	case "TemplateProcessing":
		return nil
	case "Sequence":
		var s sequence
		if err := strictjson.Decode(part, &s); err != nil {
			return fmt.Errorf("post_processor: %w", err)
		}
		for _, p := range s.Processors {
			if err := checkPostProcessor(p); err != nil {
				return err
			}
		}
		return nil
	}
	if null(part) {
		return nil
	}
	return unsupported("post_processor", kind(part))
}
