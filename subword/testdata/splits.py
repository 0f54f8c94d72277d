"""Checksums of the words into which the package regex (2026.5.9) splits short texts by published patterns, for TestSplitsEqualPython.

The texts are all of up to four characters, all of five from fewer characters, and random ones of twelve.
"""
import itertools
import zlib

import regex

ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PREFIX = r"[^\r\n\p{L}\p{N}]?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BLANKS = r"|\s*[\r\n]+|\s+(?!\S)|\s+"

patterns = [r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"]
for digits in r"\p{N}", r"\p{N}{1,3}":
    patterns.append(ENDING + "|" + PREFIX + r"\p{L}+|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n]*" + BLANKS)
    for end in "", ENDING + "?":
        lower, caps = PREFIX + UPPER + "*" + LOWER + "+" + end, PREFIX + UPPER + "+" + LOWER + "*" + end
        patterns.append(lower + "|" + caps + "|" + digits + r"| ?[^\s\p{L}\p{N}]+[\r\n/]*" + BLANKS)


def texts():
    for n in range(1, 5):
        yield from map("".join, itertools.product("aA1 \n's/\u01c5\u0301\u05d0\u017f", repeat=n))
    yield from map("".join, itertools.product("aB1 \n'!", repeat=5))
    state = 12345
    for _ in range(5000):
        text = ""
        for _ in range(12):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            text += "aB12 \t\r\n'l!/"[(state >> 33) % 12]
        yield text


for pattern in patterns:
    compiled, checksum = regex.compile(pattern), 0
    for text in texts():
        lengths = [str(len(m.group().encode())) for m in compiled.finditer(text)]
        checksum = zlib.crc32((" ".join(lengths) + "\n").encode(), checksum)
    print(hex(checksum))
