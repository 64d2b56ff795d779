"""Which reader a config file needs, by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from schedmate.advisor.configs import ini_text, json_text, toml_text, yaml_text
from schedmate.advisor.configs.building import Builder
from schedmate.advisor.python.values import Value
from schedmate.advisor.sources import SourceFile

_READERS: dict[str, Callable[[str, Builder], Value | None]] = {
    ".yaml": yaml_text.read,
    ".yml": yaml_text.read,
    ".json": json_text.read,
    ".json5": json_text.read,
    ".jsonc": json_text.read,
    ".toml": toml_text.read,
    ".ini": ini_text.read,
    ".cfg": ini_text.read,
}


def read(source: SourceFile) -> Value | None:
    """What a config file says; None where it is no config, or not one that can be read.

    A table that was too large to be read to its end is not `complete`.
    """
    reader = _READERS.get(PurePosixPath(source.name).suffix.lower())
    return None if reader is None else reader(source.text, Builder(source))
