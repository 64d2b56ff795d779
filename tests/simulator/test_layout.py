"""The simulator's packages depend on each other in one direction."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import schedmate.simulator

ROOT = Path(schedmate.simulator.__file__).parent
PACKAGE = "schedmate.simulator."


def package_of(module: str) -> str | None:
    below = module.removeprefix(PACKAGE)
    return None if below == module else below.split(".")[0]


def dependencies() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in ROOT.glob("*/**/*.py"):
        own = path.relative_to(ROOT).parts[0]
        names = {
            name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        }
        others = {package_of(name) for name in names} - {own, None}
        found.setdefault(own, set()).update(other for other in others if (ROOT / other).is_dir())
    return found


def test_no_two_packages_of_the_simulator_import_each_other():
    try:
        order = list(TopologicalSorter(dependencies()).static_order())
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))

    assert order[0] == "traces"
    assert order[-1] == "sweeps"


def test_all_code_is_in_packages_and_the_top_only_names_it():
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]
