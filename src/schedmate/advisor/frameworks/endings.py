"""How a hand-written loop ends before its count is full: no progress any more, or no time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import claim, implied_claim, is_of, last_name, number_of
from schedmate.advisor.frameworks.torch_loops import around_the_step
from schedmate.advisor.interpret.python.trace import Loop
from schedmate.advisor.interpret.python.values import Table, Value
from schedmate.advisor.settle.claim import Claim

_STOPPING = re.compile(r"early_?stop", re.IGNORECASE)
_WITHOUT_PROGRESS = re.compile(
    r"patien|early_?stop|\bbad\b|bad_|\bwait\b|wait_|since|no_?improv|not_?improv|without|stale|"
    r"worse|plateau|stagnan|trigger|es_count|stop_count|fail_count|strikes",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"time\(\)|perf_counter|monotonic|elapsed|wall_?(?:time|clock)", re.IGNORECASE)
_UNITS = (
    (re.compile(r"/ ?\(?(?:3600|60 ?\* ?60)|hour|hrs?\b", re.IGNORECASE), 3600.0),
    (re.compile(r"/ ?60\b|minute|mins?\b", re.IGNORECASE), 60.0),
)
_LEAST_S = 60.0


def stopping_early(reading: Reading) -> Iterator[Claim]:
    """A thing made of a class that is called so, or a way out that counts rounds in vain."""
    for found in (_by_class(reading), _by_hand(reading)):
        first = next(found, None)
        if first is not None:
            yield first
            return


def _by_class(reading: Reading) -> Iterator[Claim]:
    """A schedule's patience is no such thing."""
    for call in reading.trace.calls:
        if _STOPPING.search(last_name(call.callee)) and not is_of(call.callee, "keras"):
            yield from implied_claim("early_stopping", True, call, confidence=0.9)
    for binding in reading.trace.bindings:
        data = binding.value.data
        if isinstance(data, Table) and data.of is not None and _STOPPING.search(data.of.name):
            value = Value(True, (binding.line,))
            yield from claim("early_stopping", value, binding, confidence=0.9)


def _by_hand(reading: Reading) -> Iterator[Claim]:
    """`if bad >= patience: break`"""
    for loop in reading.trace.loops:
        if loop.kind != "break" or (number_of(loop.bound) or 0) <= 0 or loop.bound is None:
            continue
        if _WITHOUT_PROGRESS.search(loop.variable) or "patience" in loop.line.text:
            value = Value(True, (*loop.bound.lines[:2], loop.line), loop.bound.source)
            yield from claim("early_stopping", value, loop, confidence=0.85, certain=True)


def running_out_of_time(reading: Reading) -> Iterator[Claim]:
    """`if time.time() - began > hours * 3600: break` in the loop that trains."""
    for loop in around_the_step(reading):
        seconds = _seconds(loop)
        if seconds is not None and loop.bound is not None:
            value = Value(seconds, loop.bound.lines or (loop.line,), loop.bound.source)
            yield from claim("max_time_s", value, loop, confidence=0.85)
            return


def _seconds(loop: Loop) -> float | None:
    count = number_of(loop.bound)
    if count is None or loop.kind == "for" or not _CLOCK.search(loop.variable):
        return None
    unit = next((unit for word, unit in _UNITS if word.search(loop.variable)), 1.0)
    return count * unit if count * unit >= _LEAST_S else None
