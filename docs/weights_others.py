"""The models that weights.py does not have: branched attention, pointers, LSTMs and the Neural GPU, in the same form.

    echo '{"source": [[4, 3, 2], [5, 0, 0]], "target": [[5, 1], [1, 0]]}' | python3 weights_others.py EXPORT
"""
import json, sys
import numpy as np
from weights import Model, last, shift, softmax

class Branched:
    def step(self, layer, h, x, before, mask, see, memory):
        norm, same = lambda part, y: self.norm(layer + "." + part + "_norm", y), lambda part, y: y
        read, done = (norm, same) if self.c["arrangement"] == "branched_pre_norm" else (same, norm)
        y = read("self_attention", x)
        if not memory:
            return done("self_attention", x + self.branches(layer, ".self_attention", y, y, see)), x
        a = done("self_attention", x + self.attend(layer + ".self_attention", y, y, see))
        return done("cross_attention", a + self.branches(layer, ".cross_attention", read("cross_attention", a), *memory)), a

    def branches(self, layer, part, x, states, see):
        w, t = lambda name: self.w[layer + part + name], lambda name: self.w[layer + ".transition." + name]
        heads = lambda y, name: (y @ w(name)).reshape(*y.shape[:2], self.c["heads"], -1).swapaxes(1, 2)
        (q, k, v), n, d = (heads(x, ".query"), heads(states, ".key"), heads(states, ".value")), self.c["heads"], x.shape[2]
        h = softmax(np.where(see, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -1e30)) @ v
        y = h @ w(".output").reshape(n, -1, d) * softmax(t("kappa"))[:, None, None]
        z = np.maximum(y @ t("inner.weight").reshape(d, n, -1).swapaxes(0, 1) + t("inner.bias").reshape(n, 1, -1), 0)
        return (z * softmax(t("alpha"))[:, None, None] @ t("outer.weight").reshape(n, -1, d)).sum(1) + t("outer.bias")

class Pointer(Model):
    def logits(self, source, target=None):
        h, mask, _ = self.encode(source)
        query = last(h, mask)[:, None] @ self.w["pointer.weight"]
        shares = softmax(np.where(self.context(source), (h * query).sum(2) / np.sqrt(h.shape[2]), -1e30))
        p = np.zeros((len(h), self.c["target_vocabulary"]))
        np.add.at(p, (np.arange(len(h))[:, None], source), shares)
        return np.log(p + 1e-20)[:, None]

    def embed(self, side, ids):
        h = super().embed(side, ids)
        if not self.c.get("evidence"):
            return h
        table, context, same = self.w["embedding.evidence"], self.context(ids), ids[:, :, None] == ids[:, None]
        question = ~context & (ids != 0) & (ids != self.c["separator"])
        previous = np.pad(ids, ((0, 0), (1, 0)))[:, :-1]
        follows = previous == last(previous, ids != 0)[:, None]
        times = np.minimum((same & context[:, None]).sum(2), 7)
        e = table[times] + (same & question[:, None]).any(2)[..., None] * table[8] + follows[..., None] * table[9]
        return h + e * self.c["embedding_scale"] * (ids != 0)[..., None]

    def context(self, ids):
        return (np.cumsum(ids == self.c["separator"], 1) == 0) & (ids != 0)

class LSTM(Model):
    def encode(self, source):
        h = self.embed("source", source)
        mask = source.reshape(*h.shape[:2], -1).max(2) != 0
        h, self.ends = self.run("encoder", h)
        return h, mask, source

    def decode(self, target, source_mask, memory=None):
        x = shift(self.embed("target", target))
        if memory is None:
            return self.run("decoder", x)[0]
        h, _ = self.run("decoder", x, [(last(a, source_mask), last(b, source_mask)) for a, b in self.ends])
        if not self.c.get("attention"):
            return h
        shares = softmax(np.where(source_mask[:, None], h @ memory[0].swapaxes(1, 2), -1e30))
        return np.tanh(np.concatenate([shares @ memory[0], h], -1) @ self.w["decoder.attention.output"])

    def run(self, name, x, start=None):
        ends = []
        for k in range(self.c["layers"]):
            w = {part: self.w["%s.layer_%d.%s" % (name, k + 1, part)] for part in ("input", "recurrent", "bias")}
            h, c = start[k] if start else (np.zeros(x[:, 0].shape), np.zeros(x[:, 0].shape))
            states, cells = [], []
            for i in range(x.shape[1]):
                a, f, g, o = np.split(x[:, i] @ w["input"] + h @ w["recurrent"] + w["bias"], 4, -1)
                c = sigmoid(f) * c + sigmoid(a) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                states, cells = states + [h], cells + [c]
            x = np.stack(states, 1)
            ends.append((x, np.stack(cells, 1)))
        return x, ends

class LSTMPointer(LSTM, Pointer):
    logits, embed = Pointer.logits, Pointer.embed

class NeuralGPU(Model):
    def logits(self, source, target):
        mask, third = source != 0, self.c["width"] // 3
        used = np.pad(mask, ((0, 0), (1, 0)), constant_values=True)[..., None]
        s = np.pad(self.embed("source", source), ((0, 0), (0, 1), (0, 0)))
        for t in range(source.shape[1]):
            gates = np.clip(1.2 * sigmoid(self.convolve("gates", s)) - 0.1, 0, 1)
            u, r = np.split(gates, 2, -1)
            c = np.tanh(self.convolve("candidate", r * s))
            moved = np.concatenate([shift(s[..., :third]), back(s[..., third:2 * third]), s[..., 2 * third:]], -1)
            s = np.where(mask[:, t, None, None], np.where(used, u * moved + (1 - u) * c, 0), s)
        end = 20.0 * (np.arange(self.c["target_vocabulary"]) == 1) + np.zeros((len(s), target.shape[1], 1))
        return np.concatenate([self.readout(s), end], 1)[:, :target.shape[1]]

    def convolve(self, name, x):
        return np.concatenate([shift(x), x, back(x)], -1) @ self.w["convolution.%s.weight" % name] + self.w["convolution.%s.bias" % name]

def sigmoid(x):
    return 1 / (1 + np.exp(-x))

def back(x):  # one position to the left, with zeros at the last
    return np.concatenate([x[:, 1:], np.zeros_like(x[:, :1])], 1)

def load(folder):
    c = Model(folder).c
    kind = c["kind"]
    kinds = {"pointer": Pointer, "lstm_pointer": LSTMPointer, "neural_gpu": NeuralGPU}
    reader = kinds.get(kind, LSTM if kind.startswith("lstm") else Model)
    return (type("Reader", (Branched, reader), {}) if c.get("arrangement", "").startswith("branched") else reader)(folder)

if __name__ == "__main__":
    ids = {side: np.array(rows) for side, rows in json.load(sys.stdin).items()}
    print(json.dumps(load(sys.argv[1]).logits(**ids).tolist()))
