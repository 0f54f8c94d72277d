package experiment

import (
	"math"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// embeddings describes embeddings that may be multiplied by sqrt(width).
func (p *Portable) embeddings(scaled, shared bool) {
	p.SharedEmbedding = shared && p.SourceVocabulary > 0
	if scaled {
		p.EmbeddingScale = math.Sqrt(float64(p.Width))
	}
}

// classes describes a model that predicts classes.
func (p *Portable) classes(pool string) { p.Pool, p.FirstClass = pool, int(vocab.End)+1 }

// pointer describes a model that answers with words of its source.
func (p *Portable) pointer(v task.Vocabularies, evidence bool) {
	p.Separator, p.Evidence = separator(v), evidence
}

func (m Classifier) portable(p *Portable, v task.Vocabularies) error {
	p.classes(string(m.Pool))
	return m.Universal.portable(p, v)
}

func (m Tagger) portable(p *Portable, v task.Vocabularies) error {
	p.classes("each")
	return m.Universal.portable(p, v)
}

func (m Pointer) portable(p *Portable, v task.Vocabularies) error {
	p.pointer(v, m.Evidence)
	return m.Universal.portable(p, v)
}

func (r Recurrent) portable(p *Portable, _ task.Vocabularies) error {
	p.embeddings(r.ScaleEmbedding, r.SharedEmbedding)
	p.Layers = r.Layers
	return nil
}

func (m LSTMEncoderDecoder) portable(p *Portable, v task.Vocabularies) error {
	p.Attention = m.Attention
	return m.Recurrent.portable(p, v)
}

func (m LSTMClassifier) portable(p *Portable, v task.Vocabularies) error {
	p.classes(string(m.Pool))
	return m.Recurrent.portable(p, v)
}

func (m LSTMTagger) portable(p *Portable, v task.Vocabularies) error {
	p.classes("each")
	return m.Recurrent.portable(p, v)
}

func (m LSTMPointer) portable(p *Portable, v task.Vocabularies) error {
	p.pointer(v, m.Evidence)
	return m.Recurrent.portable(p, v)
}

func (NeuralGPU) portable(p *Portable, _ task.Vocabularies) error {
	p.embeddings(true, false)
	return nil
}
