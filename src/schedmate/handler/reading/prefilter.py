"""One automaton of all rules' needles: it finds the lines that may be evidence.

It is made of the rules' own patterns, so a new rule needs nothing here; `_SHAPES` adds tracebacks,
crashes and the output of launchers that end a job.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import re2

from schedmate.handler.rules import RuleSet
from schedmate.handler.rules.needles import options, sound

_SHAPES: Final = (
    rb"\(most recent call (?:last|first)\)",
    rb'  File "',
    rb"(?:Error|Exception|Interrupt|Expired)(?:\(\w+\))?(?::|(?m:\s*$))",
    rb"(?:SystemExit|[a-z]\.(?:error|timeout|gaierror)): ",
    rb"Exception ignored in|exception was never retrieved|terminated with the following error",
    rb"what\(\): |frame #\d+:|@ +0x[0-9a-f]+|#\d+:? +(?:0x|Object)|\)\s?\[0x|\] \[ ?\d+\] ",
    rb"(?:srun|slurmstepd|mpirun|mpiexec|wandb|ninja): ",
    rb"SIG(?:TERM|KILL)|[Kk]illing subprocess|closing signal|torch[./]distributed[./]elastic",
    rb"\[launch(?:er)?\.py:|attempts left; will restart",
    rb"(?:exitcode|error_file|traceback|local_rank) +: |observed failure",
)
_COLOURED: Final = rb"(?i:error|exception|interrupt|critical|fatal|failed|killed)\x1b\["
"""Colours stand between the words that a rule looks for."""


@lru_cache(maxsize=8)
def prefilter_of(rule_set: RuleSet) -> re2._Regexp:
    try:
        return _any_of(rule_set.needles)
    except re2.error:
        return _any_of(sound(rule_set.needles))


def _any_of(needles: Iterable[bytes]) -> re2._Regexp:
    parts = (b"(?:" + part + b")" for part in (*needles, *_SHAPES, _COLOURED))
    return re2.compile(b"|".join(parts), options(32, one_line=True))
