"""Submit files of HTCondor."""

from __future__ import annotations

import re

from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.launch.manifests.base import Described, asking
from schedmate.advisor.sources.files import SourceFile, evidence

_SETTING = re.compile(r"\s{0,20}\+?([A-Za-z_][\w.]{0,100})\s{0,20}=\s{0,20}(.{0,2000})", re.ASCII)
_MACRO = re.compile(r"\$\(([A-Za-z_]\w{0,100})\)", re.ASCII)
_QUEUE = re.compile(r"(?mi)^\s{0,20}queue\b")
_MAX_DEPTH = 5


def is_submit_file(source: SourceFile) -> bool:
    return (
        _QUEUE.search(source.text) is not None
        and re.search(r"(?mi)^\s{0,20}executable\s{0,20}=", source.text) is not None
    )


def described(source: SourceFile) -> list[Described]:
    settings: dict[str, Word] = {}
    for number, line in enumerate(source.lines(), 1):
        found = _SETTING.match(line)
        if found is not None and not line.lstrip().startswith("#"):
            settings[found[1].lower()] = Word(
                found[2].strip(), (evidence(source.name, number, line),)
            )
    words = [
        _filled(settings[name], settings)
        for name in ("executable", "arguments")
        if name in settings
    ]
    gpus = settings.get("request_gpus")
    count = gpus.text if gpus is not None else ""
    return [
        Described(
            words=tuple(
                Word(text, word.evidence, known="$(" not in text)
                for word in words
                for text in word.text.strip('"').split()
            ),
            asked=asking(
                gpus=(int(count), gpus.evidence[0])
                if gpus is not None and count.isdecimal() and len(count) < len("10000")
                else None
            ),
        )
    ]


def _filled(word: Word, settings: dict[str, Word]) -> Word:
    text = word.text
    for _ in range(_MAX_DEPTH):
        text = _MACRO.sub(
            lambda found: (
                settings[found[1].lower()].text if found[1].lower() in settings else found[0]
            ),
            text,
        )[:2000]
    return Word(text, word.evidence)
