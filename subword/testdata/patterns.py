"""Makes patterns.json from tokenizer.json with the Python library: pip install tokenizers==0.23.3. The patterns and forms are those of the files
that are published with the models."""

import hashlib
import json
import random

from tokenizers import Regex, Tokenizer, pre_tokenizers

ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BLANKS = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def gpt4(digits):
    return ENDING + r"|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*" + BLANKS


def gpt4o(ending, digits):
    first = r"[^\r\n\p{L}\p{N}]?"
    return f"{first}{UPPER}*{LOWER}+{ending}|{first}{UPPER}+{LOWER}*{ending}|{digits}" + r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + BLANKS


def form(pattern, invert=False, normalizer=None, ignore_merges=False, added=(), post=None):
    return {
        "normalizer": normalizer, "post_processor": post, "ignore_merges": ignore_merges, "added": list(added),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed" if invert else "Isolated", "invert": invert},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]},
    }


def token(id, content, special):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special}


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
BEGIN = {"type": "Sequence", "processors": [BYTES, {
    "type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|begin|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<|begin|>": {"id": "<|begin|>", "ids": [700], "tokens": ["<|begin|>"]}}}]}
forms = {
    "gpt-2": form(GPT2),
    "llama-3": form(gpt4(r"\p{N}{1,3}"), ignore_merges=True, added=[token(700, "<|begin|>", True)], post=BEGIN),
    "qwen-3": form(gpt4(r"\p{N}"), normalizer={"type": "NFC"}, post=BYTES,
                   added=[token(700, "<|im_end|>", True), token(701, "<think>", False), token(702, "</think>", False), token(703, "<think>>", False)]),
    "gpt-4o": form(gpt4o(ENDING + "?", r"\p{N}{1,3}"), invert=True, added=[token(702, "<|endoftext|>", True), token(711, "<|endofprompt|>", True)]),
    "gpt-oss": form(gpt4o(ENDING + "?", r"\p{N}{1,3}"), ignore_merges=True, post=BYTES),
    "mistral-nemo": form(gpt4o("", r"\p{N}"), ignore_merges=True),
}

texts = [
    "", " ", "  \n", "\n \n  x", "x  \r\n\r\n   y", "\t\ttabs\there ", "HTTPServer iPhone McDonald's CAN'T don't ABCdef", "we'VE I'M He'Ll a'\u017f b'\u017ft 'S",
    "\u4e2dA A\u4e2dB \u65e5\u672cGo \u01c5a \u02b0A a\u02b0B", "e\u0301a \u0301x \u0308 A\u030a \u1100\u1161", "1234567 12 1a23b 3\u00bd\u00b2\u2167", "a/b//c\n/d !!!\r\n\n/ x ?/\n",
    "no\u00a0break\u2003em \u3000wide\u0085next\u2028", "<think>why?</think> <think>><thin", "\U0001f469\u200d\U0001f467 \u200bx\ufeffy", "\U00010d50\U00010d70\ua7dc\u1c8a\U000113b8 \U000105c0",
    "def f(x):\n    return x  # it's\n\n\n    y = 3.14", "The neighbour's dog has found 12 pears", "DER ALTE MANN sieht den Brief.",
]
random.seed(7)
letters = list("aAbBtTsS  \n\r\t''.,/0159\u00e9\u00df\u4e2d\u0301\u01c5\u00a0\U0001f600") + ["'s", "'LL", "'ve", "\r\n", "  ", "//", "the", "and"]
texts += ["".join(random.choice(letters) for _ in range(random.randint(2, 24))) for _ in range(60)]


def cased():
    """One digit a code point: 1 if it is in the upper set, 2 in the lower, 3 in both."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    found = dict.fromkeys(codes, 0)
    for value, pattern in ((1, UPPER), (2, LOWER)):
        split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
        for start in range(0, len(codes), 20000):
            for piece, _ in split.pre_tokenize_str("".join(map(chr, codes[start:start + 20000]))):
                for c in piece:
                    found[ord(c)] += value
    return "".join(str(found[code]) for code in codes)


file = json.load(open("tokenizer.json", encoding="utf8"))
out = []
for name, f in forms.items():
    parts = json.loads(json.dumps(file))
    for key in ("normalizer", "pre_tokenizer", "post_processor"):
        parts[key] = f[key]
    parts["added_tokens"] += f["added"]
    parts["model"]["ignore_merges"] = f["ignore_merges"]
    if f["ignore_merges"]:  # pieces that merges no longer make
        parts["model"]["merges"] = parts["model"]["merges"][:150]
    t = Tokenizer.from_str(json.dumps(parts))
    ids = [t.encode(text, add_special_tokens=False).ids for text in texts]
    out.append({"name": name, **f, "ids": ids, "back": [t.decode(i) for i in ids]})
with open("patterns.json", "w", encoding="utf8", newline="\n") as f:
    f.write('{"cased": "%s",\n"texts": %s,\n"forms": [\n' % (hashlib.sha256(cased().encode()).hexdigest(), json.dumps(texts)))
    f.write(",\n".join(json.dumps(o) for o in out))
    f.write("\n]}\n")
