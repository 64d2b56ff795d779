"""Rules that a machine can check: which package imports which, and how long a file may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import TypeGuard

import pytest

pytestmark = pytest.mark.slow  # all of the source is parsed

SOURCE = Path(__file__).parents[1] / "src"
LONGEST_FILE = 400
NEEDS_NO_DOCSTRING = 5
BY_NAME = ("import_module", "__import__")

THINKERS = {"advisor", "tracker", "handler"}
READERS = {"files", "logs"}
OUTSIDE = {"llm", "store", "schedulers"}
PACKAGES: dict[str, set[str]] = {
    "lazily": set(),
    "model": set(),
    "sections": set(),
    "site_settings": {"sections"},
    "variables": set(),
    "config": {"model", "sections", "site_settings", "variables"},
    "disk": {"model"},
    "design": {"model"},
    "policies": {"model"},
    "files": {"model"},
    "agents": {"model", "files"},
    "advisor": {"model", "files", "agents"},
    "logs": {"model", "files"},
    "tracker": {"model", "files", "logs", "agents"},
    "handler": {"model", "files", "logs", "agents"},
    "llm": {"model", "config", "disk"},
    "store": {"model", "config", "disk"},
    "schedulers": {"model", "config", "sections", "disk", "files"},
    "core": {"model", "policies"},
    "simulator": {"model", "design", "files", "policies", "core", *THINKERS},
    "service": {
        "model",
        "config",
        "site_settings",
        "disk",
        "policies",
        "core",
        *READERS,
        *THINKERS,
        *OUTSIDE,
    },
    "web": {"model", "config", "design", "site_settings", "service", "store"},
    "client": {"model", "service"},
    "mcp": {"model", "service"},
    "demo": {
        "model",
        "config",
        "disk",
        "design",
        "policies",
        "schedulers",
        "simulator",
        "service",
        "llm",
    },
    "testing": {"model", "config", "files", "policies", "core", "simulator", *OUTSIDE},
}
"""Which packages a package may import, wherever in its files. The command line may import all of
them, and nothing imports it but `__main__`."""

SERVICE: dict[str, set[str]] = {
    "": set(),
    "records": {""},
    "views": {"", "records"},
    "notifications": {"", "views"},
    "usecases": {"", "records"},
    "daemon": {"", "records", "usecases"},
}
"""The same inside `service`; "" are the modules that are in none of its packages."""

FOR_ALL = {"", "lazily"}
"""What every package may import: the version, and the way to import later."""
CONTRACTS = {"schedmate.store", "schedmate.schedulers", "schedmate.schedulers.base"}
"""What may be known of the outside without knowing an implementation."""

KNOTS = {
    ("schedmate.advisor.interpret.python.natives", "schedmate.advisor.interpret.python"),
    ("schedmate.handler.learning", "schedmate.handler"),
    ("schedmate.handler.reading", "schedmate.handler"),
    ("schedmate.handler.rules", "schedmate.handler"),
    ("schedmate.llm.embedded", "schedmate.llm"),
    ("schedmate.policies.disciplines", "schedmate.policies"),
}
"""Imports from one directory to another that close a circle. This list may only shrink: an import
that is not in it must not close another one, and one that closes none any more must leave it."""

NAMED_AT_RUN_TIME = {
    "schedmate.advisor.frameworks.signs",
    "schedmate.advisor.options.by_package",
    "schedmate.cli",
    "schedmate.lazily",
    "schedmate.policies.highs",
}
"""They import a module whose name is not written down there: a framework of the index, a way to
declare options, a verb, what a package offers, a part of scipy."""


@dataclass(frozen=True)
class Module:
    name: str
    path: Path

    @cached_property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def package(self) -> str:
        return package_of(self.name)

    @property
    def directory(self) -> str:
        """The package whose directory holds it; a file beside the packages is one by itself."""
        return directory_of(self.name)

    @cached_property
    def imports(self) -> set[str]:
        """Our own modules this one names: at the top, in functions, for types and by their name
        in a string alike."""
        return {
            target
            for node in self.nodes
            for target in imported(node)
            if target.split(".")[0] == "schedmate"
        }

    def calls(self, *names: str) -> list[ast.Call]:
        return [node for node in self.nodes if is_call(node, *names)]


def is_call(node: ast.AST, *names: str) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in names
    return False


def imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return [as_module(module, alias.name) for alias in names]
        case ast.ImportFrom():
            return [f"schedmate.<relative import on line {node.lineno}>"]
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if is_call(node, *BY_NAME):
            return [name]
    return []


def as_module(package: str, name: str) -> str:
    """`from package import name` imports the module of that name, if it is one."""
    below = SOURCE.joinpath(*package.split("."), name)
    return f"{package}.{name}" if below.is_dir() or below.with_suffix(".py").exists() else package


def package_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def part_of(name: str) -> str:
    """The package of the service that holds it."""
    return directory_of(name).removeprefix("schedmate.service").removeprefix(".")


def directory_of(name: str) -> str:
    is_package = SOURCE.joinpath(*name.split(".")).is_dir()
    return name if is_package or name.count(".") == 1 else name.rpartition(".")[0]


def all_modules() -> list[Module]:
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found.append(Module(".".join(parts).removesuffix(".__init__"), path))
    return found


MODULES = all_modules()


def directories() -> dict[str, set[str]]:
    """Which directory imports from which."""
    graph: dict[str, set[str]] = {module.directory: set() for module in MODULES}
    for module in MODULES:
        graph[module.directory] |= {directory_of(name) for name in module.imports}
    return {each: others - {each, "schedmate"} for each, others in graph.items()}


def circle(graph: dict[str, set[str]]) -> str:
    """The first circle found, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def without(graph: dict[str, set[str]], edges: set[tuple[str, str]]) -> dict[str, set[str]]:
    return {
        each: {to for to in others if (each, to) not in edges} for each, others in graph.items()
    }


def test_there_are_modules_to_look_at():
    assert {module.package for module in MODULES} == {*PACKAGES, "cli", "__main__", ""}


def test_the_rules_are_without_a_circle():
    assert circle(PACKAGES) == ""


def test_a_package_imports_only_what_it_may():
    forbidden = [
        f"{module.name} imports {name}"
        for module in MODULES
        if module.package in PACKAGES
        for name in module.imports
        if package_of(name) not in PACKAGES[module.package] | {module.package} | FOR_ALL
    ]

    assert forbidden == []


def test_a_package_of_the_service_imports_only_what_it_may():
    forbidden = [
        f"{module.name} imports {name}"
        for module in MODULES
        if module.package == "service"
        for name in module.imports
        if package_of(name) == "service"
        if part_of(name) not in SERVICE[part_of(module.name)] | {part_of(module.name)}
    ]

    assert {part_of(module.name) for module in MODULES if module.package == "service"} == set(
        SERVICE
    )
    assert forbidden == []


def test_nothing_imports_the_command_line():
    importing = [
        module.name
        for module in MODULES
        if module.package not in ("cli", "__main__")
        if any(package_of(name) == "cli" for name in module.imports)
    ]

    assert importing == []


def test_only_the_wiring_knows_implementations():
    knowing = [
        f"{module.name} imports {name}"
        for module in MODULES
        if module.package == "service" and module.name != "schedmate.service.wiring"
        for name in module.imports - CONTRACTS
        if package_of(name) in OUTSIDE
    ]

    assert knowing == []


def test_no_modules_import_each_other_in_a_circle():
    assert circle({module.name: module.imports for module in MODULES}) == ""


def test_no_directories_import_each_other_in_a_circle():
    assert circle(without(directories(), KNOTS)) == ""


def test_a_known_knot_that_is_untied_leaves_the_list():
    graph = directories()

    untied = [knot for knot in KNOTS if not circle(without(graph, KNOTS - {knot}))]

    assert untied == []


def test_what_is_imported_is_written_down():
    unseen = [
        f"{module.name}:{call.lineno}"
        for module in MODULES
        for call in module.calls(*BY_NAME)
        if module.name not in NAMED_AT_RUN_TIME and not imported(call)
    ]

    assert unseen == []


def test_what_a_package_offers_lazily_is_imported_for_types():
    unseen = [
        f"{module.name} offers what is in {node.value}"
        for module in MODULES
        for call in module.calls("lazily")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and str(node.value).startswith("schedmate.")
        if node.value not in module.imports
    ]

    assert unseen == []


def test_what_a_package_offers_lazily_is_there():
    lazy = [module.name for module in MODULES if module.calls("lazily")]

    missing = [
        f"{package}.{name}"
        for package in lazy
        for name in import_module(package).__all__
        if not hasattr(import_module(package), name)
    ]

    assert lazy
    assert missing == []


def test_a_file_is_short_enough_to_read():
    assert [module.name for module in MODULES if len(module.lines) > LONGEST_FILE] == []


def test_a_file_says_what_it_is_for():
    silent = [
        module.name
        for module in MODULES
        if len(module.lines) > NEEDS_NO_DOCSTRING and not ast.get_docstring(module.tree)
    ]

    assert silent == []


def test_only_the_command_line_prints():
    printing = [
        f"{module.name}:{call.lineno}"
        for module in MODULES
        if module.package != "cli"
        for call in module.calls("print")
        if isinstance(call.func, ast.Name)
    ]

    assert printing == []
