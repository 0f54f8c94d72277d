"""Makes corpus.txt, tokenizer.json, golden.json, lacking.tokenizer.json and lacking.json with the Python library: pip install tokenizers==0.23.3"""

import hashlib
import json
import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SIZE = 700
random.seed(1)


def corpus():
    who = ["The old sailor", "A small girl", "My neighbour's dog", "Nobody", "Der alte Mann", "Ein kleines Mädchen", "Die Köchin", "Niemand"]
    does = ["doesn't see", "has found", "they'd say he'll miss", "paints", "sieht", "hat gefunden:", "übersetzt", "verkauft"]
    what = ["the red boat", "3 apples and 12 pears", "a letter (unsigned)", "„das grüne Haus“", "zwei große Äpfel", "den Brief von 1905", "it's own tail"]
    where = ["in the harbour.", "at 7:45 a.m.!", "under the bridge?", "im Garten.", "auf dem Marktplatz!", "- again and again...", "  beyond the hills"]
    for _ in range(140):
        yield " ".join(random.choice(part) for part in (who, does, what, where))
    for _ in range(60):  # many equal counts, and pieces that come back in another way after they were merged
        yield " ".join("".join(random.choice("ab") for _ in range(random.randint(1, 18))) for _ in range(5))


def lines():
    yield from corpus()
    yield from [
        "", " ", "   ", "\t", "\t\ttabs\there ", "a  b   c    d", " leading", "trailing ", "trailing   ", "'", "''s", "' s 's 'S",
        "don't can't we've I'm you'll he'd she's they're", "DON'T WE'VE", "he said 'singing' and 'so'", "mixed \t \u00a0 white  \t",
        "\"quoted\" „Gänsefüßchen“ “curly” it’s", "emoji 😀😃 👩\u200d👩\u200d👧 🏳️\u200d🌈 🇩🇪", "日本語のテキスト、これはペンです。",
        "中文 한국어 العربية עברית हिन्दी ไทย", "no\u00a0break\u00a0\u00a0space \u00a0 end", "\u2003em\u3000wide\u202fthin\u0085next",
        "\u200bzero\u200dwidth\ufeff", "1234567 12.5 ½ ² ⅷ ٣ a1b2 3rd 4'd", "e\u0301 a\u0308\u0308 ﬁ ẞ İ", "\x00\x01 \x7f \x1c\x1d\x1f",
        "<s> </s> <unk> [PAD]", "!!!??? ...--- $%& @user http://x.y/z?a=b&c=d", "𝒳𝟘 𐍈 𠀀 \U0010ffff\ufffe", "x" * 300, "ab" * 150, "Ġ Ċ ġ",
    ]


def classes(split):
    """One letter a code point: letter, number, other, space; seen from how it is split from each of these."""
    found = []
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        c = chr(code)
        together = [k for k, before in (("l", "a"), ("n", "1"), ("o", ".")) if len(split(before + c)) == 1]
        found.append(together[0] if together else "s")
    return "".join(found)


text = list(corpus())
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.train_from_iterator(text, trainers.BpeTrainer(
    vocab_size=SIZE, min_frequency=0, show_progress=False, special_tokens=["<pad>", "<end>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.save("tokenizer.json", pretty=True)
with open("corpus.txt", "w", encoding="utf8", newline="\n") as f:
    f.writelines(line + "\n" for line in text)

random.seed(2)
encoded = [{"text": line, "ids": tokenizer.encode(line).ids} for line in list(lines())[::3] + list(lines())[200:]]
decoded = []
for i in range(150):  # bytes at random, half of them of the first bytes of characters
    ids = [random.choice([random.randrange(SIZE), random.randrange(130, 258)]) for _ in range(random.randint(1, 12))]
    decoded.append({"ids": ids, "text": tokenizer.decode(ids)})

shown = [chr(b) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174 else None for b in range(256)]
hidden = iter(range(256, 324))
byte = [tokenizer.token_to_id(c or chr(next(hidden))) for c in shown]
ends = []  # the edges of what is UTF-8
for first in (0x80, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF):
    for second in (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0):
        for rest in ([], [0x80], [0x8F, 0xC0], [0xA0], [0xBF, 0x90], [0xC2]):
            ends += [byte[b] for b in [first, second, *rest, ord("|")]]
decoded.append({"ids": ends, "text": tokenizer.decode(ends)})

found = classes(pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str)
with open("golden.json", "w", encoding="utf8", newline="\n") as f:
    f.write('{"classes": "%s",\n"encoded": [\n' % hashlib.sha256(found.encode()).hexdigest())
    f.write(",\n".join(json.dumps(e, ensure_ascii=True) for e in encoded))
    f.write('\n],\n"decoded": [\n')
    f.write(",\n".join(json.dumps(d, ensure_ascii=True) for d in decoded))
    f.write("\n]}\n")

# A vocabulary that lacks bytes: they become unk_token, one for several if fuse_unk, or nothing.
lacking = Tokenizer(models.BPE())
lacking.pre_tokenizer, lacking.decoder = tokenizer.pre_tokenizer, tokenizer.decoder
lacking.train_from_iterator(["a dog and a cat and the dogs", "die Hunde \u00fcben", "aaaa aaa <unk>"], trainers.BpeTrainer(
    vocab_size=60, min_frequency=0, show_progress=False, special_tokens=["<pad>", "<end>", "<unk>"]))
lacking.save("lacking.tokenizer.json", pretty=True)
cases = []
for unk, fuse in ((None, False), ("<unk>", False), ("<unk>", True), ("a", False), ("a", True)):
    parts = json.loads(lacking.to_str())
    parts["model"].update(unk_token=unk, fuse_unk=fuse)
    variant = Tokenizer.from_str(json.dumps(parts))  # what is changed in place keeps words that it has seen
    random.seed(3)
    for line in ["a dog", "zz azaz zdogz", "z", "\u2603\u2603 \u00fc\u00e4\u00f6 \U0001f642", "q< unk>q", "Zoe and the doggs!", "xaxaxaxa azaza"] + [
            "".join(random.choice("adogn zx\u00fc\u2603 ") for _ in range(random.randint(1, 20))) for _ in range(20)]:
        ids = variant.encode(line).ids
        cases.append({"unk": unk or "", "fuse": fuse, "text": line, "ids": ids, "back": variant.decode(ids)})
with open("lacking.json", "w", encoding="utf8", newline="\n") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=True) for c in cases) + "\n]\n")
