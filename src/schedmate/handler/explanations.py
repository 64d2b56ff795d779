"""What may explain a failure that the rules leave open: at most three reasons, each by its line.

Faint clues of rules go first, then guesses from the last words, then lines that speak of a
reason's matter at all. None of them is an answer: a model may choose among them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from schedmate.handler.last_words import rule_of_last_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from schedmate.handler.reading import Gathered, LogLine

_MOST: Final = 3
_BY_RULE, _BY_LAST_WORDS = 100.0, 50.0
_MATTERS: Final = {
    reason: re.compile(rf"\b(?:{words})", re.IGNORECASE)
    for reason, words in {
        "data_error": (
            "data|record|sample|shard|corpus|sentence|token|label|image|row|column|text|csv|json"
            "|pars|decod|empty|cut short|truncat|malformed"
        ),
        "file_not_found": "file|director|path|folder|missing|exist|found|never made|nowhere",
        "permission_denied": "permi|denied|right|owner|may not|allow|access|read-only",
        "auth_error": (
            "auth|token|login|log in|sign|licen|key|credential|gated|expire|account|password"
        ),
        "argument_error": (
            "option|argument|flag|setting|config|recipe|unknown|invalid|choose|value|must|yaml"
        ),
        "service_unreachable": (
            "server|mirror|service|url|http|connect|answer|respond|reach|silent|tries|timeout"
            "|download|fetch|endpoint"
        ),
        "storage_io": "file ?system|disk|block|read|write|i/o|nfs|lustre|mount|garbage|storage",
        "disk_full": "space|full|bytes remain|disk|no room|left on",
        "disk_quota": "quota|granted|used all|share of|allowance|delete",
        "gpu_oom": "gpu|card|accelerator|vram|hbm|device|activations",
        "host_oom": "memory|ram|swap|oom|allocat|gib",
        "checkpoint_corrupt": (
            "checkpoint|snapshot|ckpt|saved|weights|tensor|never written|damaged|corrupt|incomplete"
        ),
        "checkpoint_mismatch": (
            "checkpoint|saved model|layers|snapshot|differs|does not match|state.?dict"
        ),
        "shape_mismatch": "shape|size|dimension|features|channels|length|width|match|takes",
        "loss_nan": "nan|inf|infinit|diverg|loss|objective|not a number|explod|blew up",
        "network": "link|cable|switch|node|ring|heard|eth\\d|ib\\d|route|network|interface|port",
        "nccl_timeout": "collective|all.?reduce|barrier|rank|nccl|waited",
        "gpu_hardware": "overheat|too hot|temperature|faulty|broken|hardware|xid",
        "import_error": "module|plugin|package|import|install|environment|librar|nowhere",
        "abi_mismatch": "version|symbol|abi|compiled against|glibc|incompatible",
        "compile_error": "compil|build|kernel|linker|not understood|syntax|nvcc",
    }.items()
}
"""Beginnings of words with which people speak of it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    reason: str
    line: LogLine


def explanations(
    gathered: Gathered, lines: Sequence[LogLine], allowed: Collection[str]
) -> tuple[Explanation, ...]:
    """The best first; only reasons that are allowed, and each once."""
    best: dict[str, tuple[float, LogLine]] = {}

    def add(reason: str, line: LogLine, score: float) -> None:
        if reason in allowed and reason != "unknown" and score > best.get(reason, (0.0,))[0]:
            best[reason] = (score, line)

    for clue in gathered.clues:
        if clue.line is not None:
            add(clue.rule.reason, clue.line, _BY_RULE + clue.confidence + clue.final)
    for line in lines:
        rule = rule_of_last_words(line.text)
        if rule is not None:
            add(rule.reason, line, _BY_LAST_WORDS)
        for reason, matter in _MATTERS.items():
            add(reason, line, len({found[0].lower() for found in matter.finditer(line.text)}))
    ranked = sorted(best.items(), key=lambda item: item[1][0], reverse=True)
    return tuple(Explanation(reason, line) for reason, (_, line) in ranked[:_MOST])
