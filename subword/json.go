package subword

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"universal-transformer/internal/vocab"
)

// file is a tokenizer.json, with keys in the order in which the Python library tokenizers writes them.
type file struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`
}

type addedToken struct {
	ID         vocab.ID `json:"id"`
	Content    string   `json:"content"`
	SingleWord bool     `json:"single_word"`
	LeftStrip  bool     `json:"lstrip"`
	RightStrip bool     `json:"rstrip"`
	Normalized bool     `json:"normalized"`
	Special    bool     `json:"special"`
}

// byteLevel is the pre-tokenizer, the post-processor and the decoder of byte-level BPE. The decoder ignores its fields.
type byteLevel struct {
	Type           string `json:"type"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	TrimOffsets    bool   `json:"trim_offsets"`
	UseRegex       bool   `json:"use_regex"`
}

type model struct {
	Type                    string         `json:"type"`
	Dropout                 *float64       `json:"dropout"`
	UnknownToken            *string        `json:"unk_token"`
	ContinuingSubwordPrefix *string        `json:"continuing_subword_prefix"`
	EndOfWordSuffix         *string        `json:"end_of_word_suffix"`
	FuseUnknown             bool           `json:"fuse_unk"`
	ByteFallback            bool           `json:"byte_fallback"`
	IgnoreMerges            bool           `json:"ignore_merges"`
	Vocabulary              vocabulary     `json:"vocab"`
	Merges                  []mergedPieces `json:"merges"`
}

// A vocabulary maps pieces to ids. It is written in order of ids.
type vocabulary map[string]vocab.ID

func (v vocabulary) MarshalJSON() ([]byte, error) {
	pieces := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Compare(v[a], v[b]) })
	var out bytes.Buffer
	for i, piece := range pieces {
		separator := ","
		if i == 0 {
			separator = "{"
		}
		key, err := marshal(piece)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s%s:%d", separator, bytes.TrimSpace(key), v[piece])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// mergedPieces are the two pieces of a merge: ["Ġ", "t"], or "Ġ t" in older files.
type mergedPieces [2]string

func (m *mergedPieces) UnmarshalJSON(data []byte) error {
	var both []string
	var line string
	if err := json.Unmarshal(data, &line); err == nil {
		both = strings.Split(line, " ")
	} else if err := json.Unmarshal(data, &both); err != nil {
		return errors.New("a merge is not two pieces")
	}
	if len(both) != 2 {
		return errors.New("a merge is not two pieces")
	}
	*m = mergedPieces(both)
	return nil
}

// Write writes a tokenizer.json in the form of the Python library tokenizers.
func (b *BPE) Write(w io.Writer) error {
	m, f := model{Type: "BPE", Vocabulary: make(vocabulary, len(b.pieces)), Merges: make([]mergedPieces, len(b.pairs))}, file{Version: "1.0", AddedTokens: []addedToken{}}
	m.IgnoreMerges = b.form.ignoreMerges
	if b.unknown.id != none {
		m.UnknownToken, m.FuseUnknown = &b.pieces[b.unknown.id], b.unknown.fuse
	}
	for i, piece := range b.pieces {
		id := vocab.ID(i)
		m.Vocabulary[piece] = id
		if b.special[id] {
			f.AddedTokens = append(f.AddedTokens, addedToken{ID: id, Content: piece, Special: true})
		} else if _, added := b.form.addedIDs[piece]; added {
			f.AddedTokens = append(f.AddedTokens, addedToken{ID: id, Content: piece})
		}
	}
	for rank, p := range b.pairs {
		m.Merges[rank] = mergedPieces{b.pieces[p.left], b.pieces[p.right]}
	}
	for _, part := range []struct {
		into  *json.RawMessage
		from  json.RawMessage // of the file that was read
		value any             // otherwise
	}{
		{&f.Normalizer, b.form.parts.normalizer, nil},
		{&f.PreTokenizer, b.form.parts.preTokenizer, byteLevel{Type: "ByteLevel", TrimOffsets: true, UseRegex: true}},
		{&f.PostProcessor, b.form.parts.postProcessor, nil},
		{&f.Decoder, b.form.parts.decoder, byteLevel{Type: "ByteLevel", AddPrefixSpace: true, TrimOffsets: true, UseRegex: true}},
		{&f.Model, nil, m},
	} {
		if part.from != nil || part.value == nil {
			*part.into = part.from
			continue
		}
		data, err := marshal(part.value)
		if err != nil {
			return err
		}
		*part.into = data
	}
	data, err := marshal(f)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(data), "", "  "); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// marshal is json.Marshal without the escaping of "<", ">" and "&".
func marshal(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return out.Bytes(), err
}
