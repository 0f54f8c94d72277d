package subword

import (
	"encoding/json"
	"errors"
	"fmt"

	"universal-transformer/internal/strictjson"
	"universal-transformer/internal/vocab"
)

// readBPE reads a tokenizer.json. It rejects, by name, anything that this package would do differently.
func readBPE(data []byte) (*BPE, error) {
	var f file
	if err := strictjson.Decode(data, &f); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	m, err := readModel(f.Model)
	if err != nil {
		return nil, err
	}
	pieces, special, err := m.pieces(f.AddedTokens)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, len(m.Merges))
	for i, both := range m.Merges {
		left, ok := m.Vocabulary[both[0]]
		right, ok2 := m.Vocabulary[both[1]]
		if !ok || !ok2 {
			return nil, fmt.Errorf("merge %d of %q and %q: one is not in the vocabulary", i+1, both[0], both[1])
		}
		pairs[i] = pair{left, right}
	}
	unknown, err := m.unknown()
	if err != nil {
		return nil, err
	}
	return newBPE(pieces, special, pairs, unknown)
}

// check rejects parts of the file other than the model that would change ids or text.
func (f file) check() error {
	switch {
	case !null(f.Truncation):
		return errors.New("truncation is set, which would cut texts off: set it to null in the file")
	case !null(f.Padding):
		return errors.New("padding is set, which would add tokens to texts: set it to null in the file")
	case !null(f.Normalizer):
		return unsupported("normalizer", kind(f.Normalizer))
	}
	for _, part := range []struct {
		key      string
		part     json.RawMessage
		optional bool
	}{{"pre_tokenizer", f.PreTokenizer, false}, {"post_processor", f.PostProcessor, true}, {"decoder", f.Decoder, false}} {
		switch {
		case null(part.part) && part.optional:
			continue
		case null(part.part):
			return fmt.Errorf("%s is missing: only ByteLevel is supported", part.key)
		case kind(part.part) != "ByteLevel":
			return unsupported(part.key, kind(part.part))
		}
		b := byteLevel{UseRegex: true}
		if err := strictjson.Decode(part.part, &b); err != nil {
			return fmt.Errorf("%s: %w", part.key, err)
		}
		if part.key == "pre_tokenizer" && (b.AddPrefixSpace || !b.UseRegex) {
			return errors.New("pre_tokenizer ByteLevel with add_prefix_space or without use_regex is not supported")
		}
	}
	return nil
}

func readModel(data json.RawMessage) (*model, error) {
	if null(data) {
		return nil, errors.New("model is missing")
	}
	m := model{Type: "BPE"} // old files do not contain the type
	if k := kind(data); k != "" && k != "BPE" {
		return nil, unsupported("model", k)
	}
	if err := strictjson.Decode(data, &m); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	switch {
	case m.Vocabulary == nil:
		return nil, errors.New("model: vocab is missing or null: it must be an object of pieces and ids")
	case m.Merges == nil:
		return nil, errors.New("model: merges is missing or null: it must be a list, without which texts are split into bytes")
	case m.Dropout != nil && *m.Dropout != 0:
		return nil, unsupported("model", "BPE with dropout")
	case m.ContinuingSubwordPrefix != nil && *m.ContinuingSubwordPrefix != "":
		return nil, unsupported("model", "BPE with continuing_subword_prefix")
	case m.EndOfWordSuffix != nil && *m.EndOfWordSuffix != "":
		return nil, unsupported("model", "BPE with end_of_word_suffix")
	case m.ByteFallback:
		return nil, unsupported("model", "BPE with byte_fallback")
	case m.IgnoreMerges:
		return nil, unsupported("model", "BPE with ignore_merges")
	}
	return &m, nil
}

// unknown returns the token of bytes without their own, if there are such bytes.
func (m *model) unknown() (unknown, error) {
	u := unknown{id: none, fuse: m.FuseUnknown}
	for b, character := range byteCharacter {
		if _, ok := m.Vocabulary[string(character)]; ok || m.UnknownToken == nil {
			continue
		}
		id, ok := m.Vocabulary[*m.UnknownToken]
		if !ok {
			return u, fmt.Errorf("model: neither byte 0x%02X, %q, nor unk_token %q is in the vocabulary", b, character, *m.UnknownToken)
		}
		u.id = id
	}
	return u, nil
}

// pieces returns the pieces of a vocabulary and the additional special tokens in order of their ids, which must be consecutive.
func (m *model) pieces(added []addedToken) ([]string, map[vocab.ID]bool, error) {
	all, special := make(map[string]vocab.ID, len(m.Vocabulary)), map[vocab.ID]bool{}
	for piece, id := range m.Vocabulary {
		all[piece] = id
	}
	for _, token := range added {
		id, inside := all[token.Content]
		switch {
		case !token.Special:
			return nil, nil, fmt.Errorf("added token %q is not special: this is not supported", token.Content)
		case inside && id != token.ID:
			return nil, nil, fmt.Errorf("added token %q has id %d, and %d in the vocabulary", token.Content, token.ID, id)
		case token.Content == "":
			return nil, nil, fmt.Errorf("added token %d is empty", token.ID)
		}
		all[token.Content], special[token.ID] = token.ID, true
	}
	pieces := make([]string, len(all))
	given := make([]bool, len(all))
	for piece, id := range all {
		if id < 0 || int(id) >= len(all) || given[id] {
			return nil, nil, fmt.Errorf("%q has id %d: the ids of %d tokens must be 0 to %d, each once", piece, id, len(all), len(all)-1)
		}
		pieces[id], given[id] = piece, true
	}
	return pieces, special, nil
}

func null(part json.RawMessage) bool { return len(part) == 0 || string(part) == "null" }

// kind returns the type that a part of the file names, or "" if it names none.
func kind(part json.RawMessage) string {
	var named struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(part, &named) // errors are reported where the part is read
	return named.Type
}

func unsupported(key, what string) error {
	if what == "" {
		return fmt.Errorf("%s is set: this is not supported", key)
	}
	return fmt.Errorf("%s %s is not supported, as its ids would differ: only byte-level BPE is supported", key, what)
}
