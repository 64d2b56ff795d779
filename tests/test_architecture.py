"""The house rules that a machine can check: who may know whom, and how large a room may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
LONGEST_FILE = 400
NEEDS_NO_DOCSTRING = 5

THINKERS = {"advisor", "tracker", "handler"}
READERS = {"files", "logs"}
OUTSIDE = {"llm", "store", "schedulers"}
ROOMS: dict[str, set[str]] = {
    "model": set(),
    "config": {"model"},
    "disk": {"model"},
    "policies": {"model"},
    "files": set(),
    "advisor": {"model", "files"},
    "logs": {"model", "files"},
    "tracker": {"model", "files", "logs"},
    "handler": {"model", "files", "logs"},
    "llm": {"model", "config", "disk"},
    "store": {"model", "config", "disk"},
    "schedulers": {"model", "config", "disk", "files"},
    "core": {"model", "policies"},
    "simulator": {"model", "files", "policies", "core", *THINKERS},
    "service": {"model", "config", "disk", "policies", "core", *READERS, *THINKERS, *OUTSIDE},
    "demo": {"model", "config", "policies", "simulator", "service", "llm"},
    "testing": {"model", "config", "files", "policies", "core", "simulator", *OUTSIDE},
}
"""Which rooms a room may import, wherever in its files. The command line may import all of them,
and nothing imports it but `__main__`."""

ALL_ROOMS = {*ROOMS, "cli"}
CONTRACTS = {"schedmate.store", "schedmate.schedulers", "schedmate.schedulers.base"}
"""What may be known of the outside without knowing an implementation."""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @property
    def room(self) -> str:
        return room_of(self.name)

    @cached_property
    def imports(self) -> set[str]:
        """Our own modules this one names: at the top, in functions and for types alike."""
        return {
            target
            for node in ast.walk(self.tree)
            for target in imported(node)
            if target.split(".")[0] == "schedmate"
        }


def imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return [as_module(module, alias.name) for alias in names]
        case ast.ImportFrom():
            return [f"schedmate.<relative import on line {node.lineno}>"]
    return []


def as_module(package: str, name: str) -> str:
    """`from package import name` imports the module of that name, if it is one."""
    below = SOURCE.joinpath(*package.split("."), name)
    return f"{package}.{name}" if below.is_dir() or below.with_suffix(".py").exists() else package


def room_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def all_modules() -> list[Module]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found.append(Module(".".join(parts).removesuffix(".__init__"), path))
    return found


MODULES = all_modules()
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


def test_the_rules_are_without_a_circle():
    TopologicalSorter(ROOMS).prepare()


def test_there_are_modules_to_look_at():
    assert {module.room for module in MODULES} >= ALL_ROOMS


@each_module
def test_a_module_lives_in_a_known_room_and_imports_only_what_its_room_may(module):
    if module.room in ("", "__main__", "cli"):
        return
    assert module.room in ROOMS, f"say in ROOMS what {module.room} may import"
    allowed = ROOMS[module.room] | {module.room, ""}

    forbidden = {name for name in module.imports if room_of(name) not in allowed}

    assert not forbidden, f"{module.room} may import {sorted(ROOMS[module.room])}"


@each_module
def test_nothing_imports_the_command_line(module):
    if module.room in ("cli", "__main__"):
        return
    assert not {name for name in module.imports if room_of(name) == "cli"}


@each_module
def test_only_the_wiring_knows_implementations(module):
    if module.room != "service" or module.name == "schedmate.service.wiring":
        return
    assert not {name for name in module.imports - CONTRACTS if room_of(name) in OUTSIDE}


def test_no_modules_import_each_other_in_a_circle():
    try:
        TopologicalSorter({module.name: module.imports for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@each_module
def test_a_file_is_short_enough_to_read(module):
    assert len(module.path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@each_module
def test_a_file_says_what_it_is_for(module):
    lines = module.path.read_text(encoding="utf-8").splitlines()

    assert ast.get_docstring(module.tree) or len(lines) <= NEEDS_NO_DOCSTRING


@each_module
def test_only_the_command_line_prints(module):
    if module.room == "cli":
        return
    prints = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]

    assert not prints
