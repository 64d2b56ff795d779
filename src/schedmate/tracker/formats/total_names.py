"""What people call the total of a count that they call `iter`, `batch` or `epoch`."""

from __future__ import annotations

from functools import lru_cache

_BEFORE = ("global_", "current_", "cur_", "i_")
_SHAPES = (
    "{}s", "{}es", "max_{}", "max_{}s", "total_{}", "total_{}s", "num_{}s", "n_{}s", "{}_max",
    "{}_total", "{}s_total", "{}s_max", "target_{}s", "target_{}", "of_{}s", "last_{}", "{}_limit",
)  # fmt: skip


@lru_cache(maxsize=256)
def total_names(count: str) -> tuple[str, ...]:
    """Names, the likeliest first, of the number up to which `count` counts."""
    name = count.lower().replace(" ", "_").replace("-", "_")
    for before in _BEFORE:
        name = name.removeprefix(before)
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    found = dict.fromkeys((plural, *(shape.format(name) for shape in _SHAPES)))
    return tuple(one for one in found if one != count)
