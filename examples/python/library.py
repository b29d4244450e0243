"""A library of real texts, the sources of Python's standard library, with search,
comparison and compression."""
from __future__ import annotations

import difflib
import math
import pathlib
import re
import sysconfig
import zlib
from collections import Counter
from dataclasses import dataclass

WORD = re.compile(r"[a-z_]{3,}")


@dataclass(frozen=True)
class Text:
    """One file: its name, its lines, and the number of occurrences of each word."""

    name: str
    lines: tuple[str, ...]
    words: Counter[str]


class Library:
    """All texts, and for each word the number of texts that contain it."""

    def __init__(self, most: int = 120) -> None:
        folder = pathlib.Path(sysconfig.get_path("stdlib"))
        self.texts = [self._read(path) for path in sorted(folder.glob("*.py"))[:most]]
        self.holders = Counter(word for text in self.texts for word in text.words)

    @staticmethod
    def _read(path: pathlib.Path) -> Text:
        content = path.read_text(encoding="utf-8", errors="replace")
        return Text(path.stem, tuple(content.splitlines()), Counter(WORD.findall(content.lower())))

    def search(self, words: list[str], limit: int = 10) -> list[tuple[str, float]]:
        """Return the best matches (BM25) with their scores."""
        length = sum(text.words.total() for text in self.texts) / len(self.texts)
        scores = {}
        for text in self.texts:
            score = 0.0
            for word in words:
                often = text.words[word]
                rare = math.log(1 + (len(self.texts) - self.holders[word] + 0.5) / (self.holders[word] + 0.5))
                score += rare * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * text.words.total() / length))
            scores[text.name] = score
        return sorted(scores.items(), key=lambda item: -item[1])[:limit]

    def compare(self, one: str, other: str) -> list[str]:
        """Return the differences between the first lines of two texts."""
        first, second = (self._named(name).lines[:400] for name in (one, other))
        return list(difflib.unified_diff(first, second, one, other, lineterm=""))

    def pack(self, name: str) -> bytes:
        """Return a text with zlib's best compression."""
        return zlib.compress("\n".join(self._named(name).lines).encode() * 4, 9)

    def _named(self, name: str) -> Text:
        return next((text for text in self.texts if text.name == name), self.texts[0])
