"""`load=0.7,0.9` and `seed=0..4`: the values to try, and every combination of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from itertools import product

from schedmate.model import BadInput
from schedmate.simulator.overlay import Assumptions
from schedmate.simulator.sweeps.question import WHOLE

_MOST_SETTINGS = 10_000
_LEAST = {
    "load": 0.01,
    "seed": 0,
    "gpus": 1,
    "jobs": 1,
    "error": 0,
    "restart_cost": 0,
}
_MOST = {"load": 10.0, "gpus": 10_000_000, "jobs": 10_000_000, "error": 10.0}
VARIED = (*_LEAST, *(each.name for each in fields(Assumptions)))
"""All that a sweep can set; the later ones are the overlay's assumptions."""


def settings_of(sweeps: Sequence[str]) -> list[dict[str, float]]:
    """Every combination, the last thing named changing fastest; one empty one for no sweep."""
    values: dict[str, tuple[float, ...]] = {}
    for spoken in sweeps:
        name, found = varied(spoken)
        values[name] = tuple(dict.fromkeys((*values.get(name, ()), *found)))
    count = math.prod(len(each) for each in values.values())
    if count > _MOST_SETTINGS:
        raise BadInput(f"that is {count} settings; a sweep may have {_MOST_SETTINGS}")
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def varied(spoken: str) -> tuple[str, tuple[float, ...]]:
    """What one `--sweep` says: a name and its values."""
    name, equals, values = spoken.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not values.strip():
        raise BadInput(f"--sweep {spoken!r} needs a name and values, such as load=0.7,0.9,1.1")
    if name not in VARIED:
        raise BadInput(f"nothing to sweep is called {name!r}; there are: {', '.join(VARIED)}")
    found = [value for part in values.split(",") for value in _values(name, part.strip())]
    _check(name, found)
    return name, tuple(found)


def _values(name: str, part: str) -> Sequence[float]:
    first, dots, last = part.partition("..")
    try:
        if not dots:
            return [float(part)]
        begin, end = int(first), int(last)
    except ValueError as error:
        raise BadInput(
            f"--sweep {name}: {part!r} is neither a number nor a range such as 0..4"
        ) from error
    if end - begin >= _MOST_SETTINGS:
        raise BadInput(f"--sweep {name}: {part} has more than {_MOST_SETTINGS} values")
    return [float(value) for value in range(begin, end + 1)]


def _check(name: str, values: Sequence[float]) -> None:
    if not values:
        raise BadInput(f"--sweep {name}: the range ends before it begins")
    least, most = _LEAST.get(name, 0.0), _MOST.get(name, 1e9)
    for value in values:
        if not least <= value <= most:
            raise BadInput(f"--sweep {name}: {value:g} is not within {least:g} and {most:g}")
        if name in WHOLE and value != int(value):
            raise BadInput(f"--sweep {name}: {value:g} is no whole number")
