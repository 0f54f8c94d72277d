package subword

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"universal-transformer/internal/strictjson"
	"universal-transformer/internal/vocab"
)

// readBPE reads a tokenizer.json. It rejects, by name, anything that this package would do differently.
func readBPE(data []byte) (*BPE, error) {
	var f file
	if err := strictjson.Decode(data, &f); err != nil {
		return nil, err
	}
	form, err := readForm(f)
	if err != nil {
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
	form.ignoreMerges = m.IgnoreMerges
	return newBPE(form, pieces, special, pairs, unknown)
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

// pieces returns the pieces of a vocabulary and the added tokens in order of their ids. Ids without a token, of which there are few in
// published files, become special tokens.
func (m *model) pieces(added []addedToken) ([]string, map[vocab.ID]bool, error) {
	all, special := maps.Clone(map[string]vocab.ID(m.Vocabulary)), map[vocab.ID]bool{}
	for _, token := range added {
		id, inside := all[token.Content]
		switch {
		case inside && id != token.ID:
			return nil, nil, fmt.Errorf("added token %q has id %d, and %d in the vocabulary", token.Content, token.ID, id)
		case token.Content == "":
			return nil, nil, fmt.Errorf("added token %d is empty", token.ID)
		}
		all[token.Content] = token.ID
		if token.Special {
			special[token.ID] = true
		}
	}
	size, limit := 0, 2*len(all)
	for piece, id := range all {
		if id < 0 || int(id) >= limit {
			return nil, nil, fmt.Errorf("%q has id %d: the ids of %d tokens must be below %d, each once", piece, id, len(all), limit)
		}
		size = max(size, int(id)+1)
	}
	pieces, given := make([]string, size), make([]bool, size)
	for piece, id := range all {
		if given[id] {
			return nil, nil, fmt.Errorf("%q has id %d, as another token: the ids of %d tokens must be below %d, each once", piece, id, len(all), limit)
		}
		pieces[id], given[id] = piece, true
	}
	for id := range pieces {
		if !given[id] {
			pieces[id], special[vocab.ID(id)] = fmt.Sprintf("<unused %d>", id), true
		}
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
