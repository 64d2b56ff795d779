"""Claims by name: options, names that get a value and arguments that are called like a field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from schedmate.advisor.interpret.python.reached import Reached
from schedmate.advisor.interpret.python.trace import Binding, Trace
from schedmate.advisor.interpret.python.values import Call, Table, Value, outranks
from schedmate.advisor.settle.claim import Claim, Kind
from schedmate.advisor.settle.meanings import in_plain_words
from schedmate.advisor.settle.plain import MAX_ITEMS, plain_data
from schedmate.advisor.settle.vocabulary import field_of, is_of_others, is_telling
from schedmate.advisor.sources.words import words
from schedmate.model import Evidence

_TRUST = {
    "module": 0.85,
    "class": 0.65,
    "attribute": 0.75,
    "keyword": 0.75,
    "item": 0.7,
    "local": 0.7,
}
_NOT_TRAINING = words("map filter encode evaluate predict tokenize")
"""Methods that work in batches and train nothing, besides what a name of others says."""
_UNCERTAIN = 0.2
_BY_OPTION, _BY_ARGUMENT = 0.9, 0.6
_PATIENCE_AT, _KERAS_PATIENCE_AT = 3, 2
"""Where it stands among the arguments of a schedule that waits for a plateau."""


def named_claims(trace: Trace) -> Iterator[Claim]:
    """By options, by names that get a value, by arguments of calls."""
    last = {option.name: option for option in trace.options}
    of_schedules = _patience_of_schedules(trace)
    for option in last.values():
        if not trace.unused.isdisjoint(option.value.lines[:1]):
            continue
        if option.name.endswith("patience") and not of_schedules.isdisjoint(option.value.lines):
            continue
        yield from _claims(
            option.name, option.value, Kind.OPTION, confidence=_BY_OPTION, depth=option.depth
        )
    for binding in _settled([*_without_defaults(trace), *_of_instances(trace)]):
        name = binding.name.lower()
        if not trace.unused.isdisjoint(binding.value.lines[:1]):
            continue
        if name.endswith("patience") and not of_schedules.isdisjoint(binding.value.lines):
            continue
        yield from _claims(
            binding.name,
            binding.value,
            Kind.NAME,
            confidence=_TRUST[binding.where],
            reached=binding.reached,
            depth=binding.depth,
        )
    trained: set[str] = set()
    for call in trace.calls:
        if call.callee in trained:
            continue
        yield from _arguments(call)
        if call.certain and any(_is_length(name) for name in call.keywords):
            trained.add(call.callee)


def _claims(
    name: str,
    value: Value,
    kind: Kind,
    *,
    confidence: float,
    reached: Reached = Reached.EXECUTED,
    depth: int = 0,
) -> Iterator[Claim]:
    found = field_of(in_plain_words(name, value.data)[0])
    if found is not None:
        yield Claim(
            field=found[0],
            value=value,
            kind=kind,
            name=name,
            confidence=confidence - (0.0 if reached is Reached.EXECUTED else _UNCERTAIN),
            reached=reached,
            depth=depth,
            alias=found[1],
        )


def _patience_of_schedules(trace: Trace) -> set[Evidence]:
    """The lines that say for how long a schedule waits before it lowers the learning rate."""
    found: set[Evidence] = set()
    for call in trace.calls:
        if call.callee.endswith("ReduceLROnPlateau"):
            place = _KERAS_PATIENCE_AT if "keras" in call.callee else _PATIENCE_AT
            found.update((call.argument("patience", place) or Value(None)).lines)
    ends = (loop.bound.lines for loop in trace.loops if loop.kind == "break" and loop.bound)
    return found.difference(*ends)


def _is_length(name: str) -> bool:
    """Settings of a training have one: the same call again sets up another training."""
    found = field_of(name)
    return found is not None and found[0] in ("epochs", "max_steps") and is_telling(name)


def _settled(bindings: list[Binding]) -> Iterator[Binding]:
    """Names with the value that they keep, or that a config or the command line gives them; what
    the code itself changes is overwritten."""
    kept: dict[tuple[str, str, str], Binding] = {}
    changed: set[tuple[str, str, str]] = set()
    for binding in (each for one in bindings for each in (one, *_items(one))):
        setting = binding.where == "module" and binding.depth == 0 and binding.value.plain
        if not is_telling(binding.name, setting=setting) or _is_of_others(binding):
            continue
        key = (binding.where, binding.of or binding.line.file, binding.name)
        known = kept.setdefault(key, binding)
        if plain_data(known.value) == plain_data(binding.value):
            continue
        if outranks(binding.value.source, known.value.source):
            kept[key] = binding
        else:
            changed.add(key)
    for place, binding in kept.items():
        yield replace(binding, reached=Reached.OVERWRITTEN) if place in changed else binding


def _without_defaults(trace: Trace) -> Iterator[Binding]:
    """The names without those of a class that is made with arguments of its own: what an instance
    gets overrules the default that the class has for it."""
    made = {
        (each.of.name, name)
        for each in trace.instances
        if each.of.fields
        for name, value in each.arguments.items()
        if value.known
    }
    return (
        each for each in trace.bindings if each.where != "class" or (each.of, each.name) not in made
    )


def _of_instances(trace: Trace) -> Iterator[Binding]:
    """What the fields of classes get whose instances are settings: `TrainConfig(batch_size=16)`."""
    for each in trace.instances:
        for name in each.of.fields if each.certain else ():
            value = each.arguments.get(name)
            if value is not None and value.known:
                yield Binding(
                    name=name,
                    value=value,
                    where="class",
                    line=each.line,
                    of=each.of.name,
                    reached=each.reached,
                    depth=each.depth,
                )


def _is_of_others(binding: Binding) -> bool:
    of_a_dict = binding.where == "item" and is_of_others(binding.of)
    of_a_judge = "discriminator" in binding.of.lower()
    return (
        of_a_dict
        or of_a_judge
        or _is_of_a_search(binding.name, binding.of)
        or _is_computed_away(binding)
    )


def _is_of_a_search(name: str, owner: str) -> bool:
    """Beams of a search stop early too: `GenerationConfig(early_stopping=True)`."""
    return name.startswith("early_stop") and is_of_others(owner.rpartition(".")[2])


def _is_computed_away(binding: Binding) -> bool:
    """A number that is computed from others and means something else: into how many tokens a
    picture is cut, or by what a function scales the rate (`base_lr = batch_size / 256`)."""
    if binding.name in ("num_tokens", "n_tokens"):
        return len(binding.value.lines) > 1
    data: Any = binding.value.data
    factor = isinstance(data, float) and data >= 1
    return binding.where == "local" and binding.name.endswith("lr") and factor


def _items(binding: Binding) -> Iterator[Binding]:
    """The settings in a dict that has a name of its own."""
    data = binding.value.data
    if isinstance(data, Table) and data.kind == "dict":
        for name, value in list(data.parts.items())[:MAX_ITEMS]:
            yield replace(binding, name=name, value=value, where="item", of=binding.name)


def _arguments(call: Call) -> Iterator[Claim]:
    called = call.callee.rpartition(".")[2]
    for name, value in call.keywords.items():
        if name == "time_limit" and called != "fit":
            continue  # an episode of a game has one too
        if _is_of_a_search(name, called):
            continue
        if name == "batch_size" and (called in _NOT_TRAINING or is_of_others(called)):
            continue
        if is_telling(name) and value.known:
            yield from _claims(
                name,
                value,
                Kind.NAME,
                confidence=_BY_ARGUMENT,
                reached=call.reached,
                depth=call.depth,
            )
