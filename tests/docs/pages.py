"""The documentation as data: its pages, their fenced blocks and the links between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md")
PAGES = tuple(ROOT / name for name in TOP)
PAGES += tuple(sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; one with a `file` stands for that file of the reader's."""

    kind: str
    text: str
    line: int
    file: str | None = None


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            found["kind"],
            found["text"],
            line=text.count("\n", 0, found.start()) + 1,
            file=found["file"],
        )
        for found in _BLOCK.finditer(text)
    ]


def links(page: Path) -> list[str]:
    """Where the page points to, blocks left out."""
    return _LINK.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """The headings as GitHub names them."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(text)
    }
