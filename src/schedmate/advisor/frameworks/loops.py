"""How long a hand-written training runs: the loops around the optimiser's step, and what ends
them before their count is full: no progress any more, or no time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from schedmate.advisor.frameworks.base import Reading
from schedmate.advisor.frameworks.calls import (
    claim,
    implied_claim,
    is_of,
    is_trained_by_transformers,
    last_name,
    number_of,
)
from schedmate.advisor.interpret.python.references import Range
from schedmate.advisor.interpret.python.trace import Loop
from schedmate.advisor.interpret.python.values import UNKNOWN, Call, Table, Value
from schedmate.advisor.settle.claim import Claim

_EPOCH = re.compile(r"epoch|\bep\b|(?:^|_)ep(?:$|_)|n_ep\b", re.IGNORECASE)
_EPOCH_OPTION = re.compile(r"[\"']-{0,2}(?:n|num|max|total)?[-_]?epochs?[\"']", re.IGNORECASE)
_STEP = re.compile(
    r"(?:^|_)(?:steps?|iters?|it|iterations?|updates?|itr|itt|global_step|iter_num|step_num|n_iter)"
    r"(?:$|_)|num_batches_seen|global_?step|iteration",
    re.IGNORECASE,
)
_MICRO = re.compile(r"micro|accum", re.IGNORECASE)
_ASIDE = re.compile(
    r"sampl|generat|eval|test|valid|infer|predict|warm_?up|bench|plot|estimate|collect|rollout",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])\d{2,9}(?![\w.])")
_FROM_ONE = re.compile(r"\+ ?1 ?\)")
_HIDES = 0.5
_ELSEWHERE = ("tensorflow", "keras", "jax", "flax", "optax")


def training_loops(reading: Reading) -> Iterator[Claim]:
    """Epochs or steps by the loops around the step; else by loops whose names say what they are."""
    if is_trained_by_transformers(reading):
        return
    around = around_the_step(reading)
    loops = around or [loop for loop in reading.trace.loops if not _aside(loop)]
    trusted = 0.95 if around else 0.8
    epochs = next((loop for loop in loops if _counts_epochs(loop)), None)
    steps = next((loop for loop in loops if _counts_steps(loop)), None)
    if epochs is None and steps is None:
        epochs = next((loop for loop in loops if _runs_epochs(reading, loop)), None)
    if epochs is not None and (steps is None or steps.kind != "for"):
        yield from claim("epochs", _rounds(epochs), epochs, confidence=trusted)
    if steps is not None and (epochs is None or steps.kind != "for"):
        yield from claim("max_steps", _rounds(steps), steps, confidence=trusted)
        if epochs is None and steps.certain and any(map(_open_ended, around)):
            yield Claim(field="epochs", value=UNKNOWN, line=steps.line, confidence=_HIDES)


def _runs_epochs(reading: Reading, loop: Loop) -> bool:
    """Whether each round calls a function that is named after an epoch: `train_epoch(state)`."""
    if not loop.certain or not (number_of(loop.bound) or 0) > 1:
        return False
    at = next(index for index, each in enumerate(reading.trace.loops) if each is loop)
    return any(
        call.loops[-1:] == (at,)
        and call.within != loop.within
        and _EPOCH.search(last_name(call.within)) is not None
        for call in reading.trace.calls
    )


def _open_ended(loop: Loop) -> bool:
    """As many epochs as the steps need, whatever an option says."""
    unknown = loop.bound is not None and not loop.bound.known
    return loop.kind == "for" and unknown and bool(_EPOCH.search(last_name(loop.variable)))


def accumulation(reading: Reading) -> Iterator[Claim]:
    """`if step % N == 0: optimizer.step()`, and a loop over micro batches before the step."""
    steps = [call for call in _steps(reading) if not _ASIDE.search(last_name(call.within))]
    steps = steps or [call for call in _clears(reading) if call.every is not None]
    rhythms = {number_of(call.every) for call in steps}
    if len(rhythms) == 1 and rhythms != {None} and not _plays(reading):
        call = next((call for call in steps if call.certain), steps[0])
        yield from claim("gradient_accumulation", call.every, call, confidence=0.9)
        return
    for loop in reading.trace.loops:
        if _micro(loop) and loop.kind == "for" and loop.bound is not None and loop.bound.known:
            yield from claim("gradient_accumulation", loop.bound, loop, confidence=0.9)
            return


def _plays(reading: Reading) -> bool:
    """An agent learns every N steps of its environment."""
    return any(is_of(each.name, "gym", "gymnasium", "envpool") for each in reading.trace.imports)


def _steps(reading: Reading) -> list[Call]:
    """Steps of an optimiser, of a scaler, of whatever wraps them."""
    return [
        call
        for call in reading.trace.calls
        if last_name(call.callee) == "step"
        and not is_of(call.callee, *_ELSEWHERE)
        and "lr_scheduler" not in call.callee
        and re.search(r"optim|Scaler|[Aa]pex|Adam|SGD|Engine|deepspeed", call.callee)
    ]


def _clears(reading: Reading) -> list[Call]:
    """What goes with the step of an optimiser of the job's own."""
    return [
        call
        for call in reading.trace.calls
        if last_name(call.callee) in ("zero_grad", "clip_grad_norm_") and call.loops
    ]


def around_the_step(reading: Reading) -> list[Loop]:
    """The loops of the step that stands in most of them, and the ends of those loops."""
    steps = [call for call in _steps(reading) if not _ASIDE.search(last_name(call.within))]
    if not steps:
        return []
    deepest = max(steps, key=lambda call: (call.certain, len(call.loops)))
    loops = [reading.trace.loops[i] for i in deepest.loops if i < len(reading.trace.loops)]
    names = {(loop.within, loop.line.file) for loop in loops}
    ends = [
        loop
        for loop in reading.trace.loops
        if loop.kind == "break" and (loop.within, loop.line.file) in names
    ]
    return [*loops, *ends]


def _rounds(loop: Loop) -> Value | None:
    """`range(start, N + 1)` is meant to be N rounds, wherever it starts. Where a loop runs once
    more or less than the number that is stated for it (`range(1, epochs)`), that one is meant."""
    over = None if loop.over is None else loop.over.data
    count = number_of(loop.bound)
    if loop.bound is None or count is None:
        return loop.bound
    from_one = isinstance(over, Range) and over.start.data == 1
    if isinstance(over, Range) and not from_one and _FROM_ONE.search(loop.line.text):
        return replace(loop.bound, data=int(count) - 1)
    stated = (
        {int(text) for text in _NUMBER.findall(loop.bound.lines[0].text)}
        if (loop.bound.lines and isinstance(over, Range))
        else set()
    )
    near = stated & {int(count) - 1, int(count) + 1}
    if int(count) in stated or len(near) != 1:
        return loop.bound
    return replace(loop.bound, data=near.pop())


def _counts(loop: Loop, what: re.Pattern[str]) -> bool:
    """Whether the loop's own words say what it counts; a loop over batches counts nothing."""
    if (number_of(loop.bound) or 0) <= (1 if loop.kind == "break" else 0):
        return False
    variable = last_name(loop.variable)
    telling = variable not in ("", "_", "i", "j", "t", "n", "k", "e", "it")
    if telling and (loop.kind != "break" or what.search(variable)):
        return bool(what.search(variable))
    words = [loop.line.text, *(line.text for line in (loop.bound.lines if loop.bound else ())[:1])]
    return any(what.search(word) for text in words for word in re.split(r"\W+", text))


def _counts_epochs(loop: Loop) -> bool:
    """By its variable; or by its bound, where the number of epochs is what `iteration` runs to."""
    named = loop.bound is not None and loop.kind == "for" and _of_epochs(loop.bound)
    return named or _counts(loop, _EPOCH)


def _of_epochs(bound: Value) -> bool:
    texts = [line.text for line in bound.lines[:1]]
    return any(_EPOCH_OPTION.search(text) for text in texts)


def _counts_steps(loop: Loop) -> bool:
    return not _counts_epochs(loop) and _counts(loop, _STEP) and not _micro(loop)


def _micro(loop: Loop) -> bool:
    return bool(_MICRO.search(loop.variable) or _MICRO.search(loop.line.text))


def _aside(loop: Loop) -> bool:
    return bool(_ASIDE.search(last_name(loop.within)))


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
