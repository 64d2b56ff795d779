"""Settings as `SCHEDMATE_*` variables of the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import Any

_PREFIX = "SCHEDMATE_"
_NO_SETTINGS = frozenset(
    f"{_PREFIX}{name}"
    for name in (
        *("CONFIG", "DATA", "DEBUG"),
        *("JOB_ID", "JOB_NAME", "RESTART_COUNT", "SLOTS", "ATTEMPT"),
    )
)
"""Variables of the verbs, the benchmarks and the jobs of the local scheduler."""


def paths_by_variable(names: Collection[str]) -> dict[str, list[str]]:
    """The variables that are settings, each with the path that it sets; `names` begin these."""
    split = {name: name.lower().partition("_") for name in os.environ}
    paths = {
        name: rest.split("__") for name, (head, _, rest) in split.items() if head == "schedmate"
    }
    return {name: path for name, path in paths.items() if path[0] in names}


def unknown_among(names: Collection[str]) -> list[str]:
    """Those that set nothing and are not known otherwise."""
    return [
        variable
        for variable in sorted(os.environ.keys() - paths_by_variable(names).keys() - _NO_SETTINGS)
        if variable.startswith(_PREFIX) and not variable.startswith(f"{_PREFIX}TEST_")
    ]


def variable_of(name: str) -> str:
    return f"{_PREFIX}{name.replace('.', '__').upper()}"


def spelling(name: str) -> str:
    """Of a setting or its variable, however its parts are divided: by a dot or by underscores."""
    parts = name.lower().removeprefix(_PREFIX.lower()).replace(".", "_").split("_")
    return "_".join(filter(None, parts))


def plain_or_json(value: str) -> Any:
    try:
        return json.loads(value) if value.startswith(("{", "[")) else value
    except ValueError:
        return value
