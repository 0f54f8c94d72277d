"""Reads a model that `ut export` wrote and computes its logits with NumPy. The formulas are those of docs/weights.md, in the same order.

    echo '{"source": [[4, 3, 2], [5, 0, 0]], "target": [[5, 1], [1, 0]]}' | python3 weights.py EXPORT     # 0 is padding

Classifiers and taggers do not read "target", language models do not read "source". Values at padding have no meaning. weights_others.py has
the models that are not here: pointers, LSTMs and the Neural GPU.
"""
import json, sys
import numpy as np

class Model:
    def __init__(self, folder):
        data = open(folder + "/model.safetensors", "rb").read()
        size = 8 + int.from_bytes(data[:8], "little")
        header, body = json.loads(data[8:size]), data[size:]
        self.c = json.loads(header.pop("__metadata__")["model"])
        self.w = {name: np.frombuffer(body[slice(*t["data_offsets"])], "<f4").reshape(t["shape"]).astype(float) for name, t in header.items()}

    def logits(self, source=None, target=None):
        if self.c["kind"].endswith("language_model"):
            return self.readout(self.decode(target, target != 0))
        h, mask, _ = self.encode(source)
        if self.c["kind"].endswith("encoder_decoder"):
            return self.readout(self.decode(target, mask, (h, mask[:, None, None])))
        return self.readout(self.pool(h, mask))

    def encode(self, source):
        h = self.embed("source", source)
        if self.c["tokens_per_position"] > 1:
            source = source.reshape(*h.shape[:2], -1).max(2)
        mask = source != 0
        return self.stack("encoder", h, mask, self.positions(self.numbers(source)), mask[:, None, None], mask), mask, source

    def pool(self, h, mask):
        mean = (h * mask[..., None]).sum(1, keepdims=True) / mask.sum(1)[:, None, None]
        return {"mean": mean, "last": last(h, mask)[:, None], "each": h}[self.c["pool"]]

    def decode(self, target, source_mask, memory=None):
        n, blocks = target.shape[1], len(self.c["counting"]["blocks"])
        numbers = [np.arange(1, n + 1)[None]] * max(blocks - 1, 1) + [np.zeros((1, n))] * (blocks > 1)  # the last of several blocks is the segment
        h, see = shift(self.embed("target", target)), np.tri(n, dtype=bool)
        return self.stack("decoder", h, target != 0, self.positions(numbers), see, source_mask, memory)

    def embed(self, side, ids):
        table = self.w["embedding." + ("source" if self.c["shared_embedding"] else side)]
        if self.c.get("embedding_width"):
            table = table @ self.w["embedding.projection"]
        if side == "source" and self.c["tokens_per_position"] > 1:
            ids = ids.reshape(len(ids), -1, self.c["tokens_per_position"])
            return (table[ids] * (ids != 0)[..., None] * self.c["embedding_scale"] * self.w["embedding.mask"]).sum(2)
        return table[ids] * self.c["embedding_scale"] * (ids != 0)[..., None]

    def numbers(self, ids):
        stops, (first, final, segment) = [1] + self.c["counting"]["separators"], np.ones((3, *ids.shape), int)
        for b, row in enumerate(ids):
            length, begin = (row != 0).sum(), 0
            for k, stop in enumerate([i for i in range(length) if row[i] in stops] + [length]):
                i = np.arange(begin, min(stop + 1, length))
                first[b, i], final[b, i], segment[b, i] = i - begin + 1, np.where(i == stop, stop - begin + 1, stop - i), k + 1
                begin = stop + 1
        return {"from_start": [np.arange(1, ids.shape[1] + 1)[None]], "from_end": [final], "restarting": [first, segment],
                "both_ends": [first, final, segment]}[self.c["counting"]["rule"]]

    def positions(self, numbers):
        return np.concatenate([self.signal(n, width) for n, width in zip(numbers, self.c["counting"]["blocks"])], -1)

    def signal(self, n, width):
        n, j, half = np.asarray(n)[..., None], np.arange(width), max(width // 2, 1)
        if self.c["coordinates"] == "sinusoidal":
            angle = n / 10000 ** ((j - j % 2) / width)
            return np.where(j % 2 == 0, np.sin(angle), np.cos(angle))
        k, cosine = (j // 2, j % 2 == 1) if self.c["coordinates"].endswith("alternate") else (j % half, j >= half)
        angle = (n - 1) / 10000 ** (k / max(half - 1, 1))
        return np.where(cosine, np.cos(angle), np.sin(angle)) * (j < width // 2 * 2)

    def stack(self, name, h, mask, position, see, source_mask, memory=None):
        c, rule, steps = self.c, self.c["halting"]["rule"], self.c["halting"]["steps"]
        depth = source_mask.sum(1)[:, None] if rule == "length" else np.array([[steps]])
        steps = min(steps or depth.max(), depth.max())
        added = {"none": lambda t: position * (t == 1), "coordinates": lambda t: position + self.signal(t, c["width"]),
                 "learned": lambda t: position + self.w[name + ".step"][t - 1] * c["step_scale"]}[c["step_signal"]]
        running, total, output, a = mask, np.zeros(mask.shape), np.zeros(h.shape), h
        for t in range(1, steps + 1):
            layer, x = name + (".layer_%d" % t if c["own_layers"] else ""), h + added(t)
            y, a = self.step(layer, h, x, a, mask if name == "encoder" else None, see, memory)
            if rule in ("fixed", "random", "length"):
                h = output = np.where((depth >= t)[..., None], y, h)
                continue
            p = 1 / (1 + np.exp(-(x @ self.w[name + ".halting.weight"] + self.w[name + ".halting.bias"])))
            halts = running & ((total + p > c["halting"]["threshold"]) | (t == steps and rule != "listing"))
            u = np.where(running, np.where(halts, 1 - total, p), 0)[..., None]
            output = u * y + (1 - u if rule == "listing" else 1) * output
            h = np.where(running[..., None], y, h) if rule == "frozen" else y
            running = running & ~halts
            total = total + np.where(running, p, 0)
        return self.norm(layer + ".output_norm", output) if c["arrangement"].endswith("pre_norm") else output

    def step(self, layer, h, x, before, mask, see, memory):
        kind, norm, same = self.c["arrangement"], lambda part, y: self.norm(layer + "." + part + "_norm", y), lambda part, y: y
        read, done = (norm, same) if kind.endswith("pre_norm") else (same, norm)
        y = read("self_attention", x)
        a = done("self_attention", (h if kind in ("submitted", "first_version") else x) + self.attend(layer + ".self_attention", y, y, see))
        if memory:
            a = done("cross_attention", a + self.attend(layer + ".cross_attention", read("cross_attention", a), *memory))
        revised = self.transition(layer + ".transition.", read("transition", a), mask)
        return done("transition", (before if kind == "first_version" else a) + revised), a

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-6) * self.w[name + ".gain"] + self.w[name + ".bias"]

    def attend(self, name, x, states, see):
        heads = lambda y, part: (y @ self.w[name + part]).reshape(*y.shape[:2], self.c["heads"], -1).swapaxes(1, 2)
        q, k, v = heads(x, ".query"), heads(states, ".key"), heads(states, ".value")
        shares = softmax(np.where(see, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -1e30))
        return (shares @ v).swapaxes(1, 2).reshape(x.shape) @ self.w[name + ".output"]

    def transition(self, name, x, mask):
        separable = self.c["transition"]["rule"] == "separable_convolution"
        for part in ("first", "second") if separable else ("inner", "outer"):
            w = {key: self.w.get(name + part + "." + key) for key in ("weight", "depthwise", "pointwise", "bias")}
            if separable:
                kernel, width, m = w["depthwise"], len(w["depthwise"]), x.shape[1]
                left = width - 1 if mask is None else (width - 1) // 2
                x = np.pad(x if mask is None else x * mask[..., None], ((0, 0), (left, width - 1 - left), (0, 0)))
                x = sum(kernel[r] * x[:, r:r + m] for r in range(width))
            y = x @ w["pointwise" if separable else "weight"] + w["bias"]
            x = np.maximum(y, 0)
        return y

    def readout(self, h):
        if not self.c["tied_readout"]:
            return h @ self.w["readout.weight"]
        if self.c.get("embedding_width"):
            h = h @ self.w["embedding.projection"].T
        return h @ self.w["embedding." + ("source" if self.c["shared_embedding"] else "target")].T

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)

def shift(x):  # one position to the right, with zeros at the first
    return np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], 1)

def last(x, mask):  # what stands at the last real position
    return x[np.arange(len(x)), np.maximum(mask.sum(1) - 1, 0)]

if __name__ == "__main__":
    ids = {side: np.array(rows) for side, rows in json.load(sys.stdin).items()}
    print(json.dumps(Model(sys.argv[1]).logits(**ids).tolist()))
