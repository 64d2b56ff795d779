"""Hydra's composition: a primary config, its defaults list, and overrides of the command line.

What `@hydra.main(config_path="conf", config_name="config")` hands to the job's function is

    given = read_arguments(context.arguments)
    config = compose(
        context,
        given.config_path.text if given.config_path else "conf",
        given.config_name.text if given.config_name else "config",
        given.overrides,
        more_dirs=[given.config_dir.text] if given.config_dir else [],
        store={"db/mysql": Value(Table(…))},  # nodes of a ConfigStore: "group/name" or "name"
    )

`config_dir` is a path that `context.read_config` understands, relative to where the job runs or to
its entry point. The result is a `Table`, interpolations resolved; it is not `complete` where a
config that it needs was nowhere to be found. `hydra`'s own node is left out, as for the job.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from schedmate.advisor.interpret.python.context import Context
from schedmate.advisor.interpret.python.values import UNKNOWN, Sequence, Table, Value
from schedmate.advisor.interpret.shell import Word
from schedmate.advisor.options.configs.hydra_arguments import Override, parse_override
from schedmate.advisor.options.configs.hydra_defaults import (
    Default,
    defaults_of,
    joined,
    options_of,
    package_directive,
)
from schedmate.advisor.options.configs.interpolation import resolve
from schedmate.advisor.options.configs.merging import assign, merge, remove, select

_MAX_CONFIGS = 200
_MAX_DEPTH = 24
_MAX_EXPANSIONS = 1000
"""Lists may name each other in circles."""
_SUFFIXES = (".yaml", ".yml")


def compose(
    context: Context,
    config_dir: str,
    config_name: str | None,
    overrides: Several[Word] = (),
    *,
    store: Mapping[str, Value] | None = None,
    more_dirs: Several[str] = (),
) -> Value:
    """See above. `config_name` None: nothing but what the command line adds."""
    repository = Repository(context, [config_dir, *more_dirs], dict(store or {}))
    parsed = [each for word in overrides if (each := parse_override(word)) is not None]
    plan = _Plan(repository, [each for each in parsed if repository.is_group_choice(each)])
    config = Value(Table({}), (), "config")
    if config_name is not None:
        repository.search_also(config_name)
        config = plan.composed(config_name)
    for override in parsed:
        if not repository.is_group_choice(override):
            config = _overridden(config, override)
    return resolve(remove(config, "hydra"), context.environment)


def _overridden(config: Value, override: Override) -> Value:
    path = override.key.replace("/", ".")
    if override.sign == "~":
        return remove(config, path)
    known = select(config, path)
    if isinstance(override.value.data, Table) and known is not None:
        return assign(config, path, merge(known, override.value))
    return assign(config, path, override.value)


@dataclass(slots=True)
class Repository:
    """Where configs are found by `group/name`: directories in order, then the store."""

    context: Context
    directories: list[str]
    store: dict[str, Value]
    _loaded: dict[str, Value | None] = field(default_factory=dict)
    _groups: dict[str, bool] = field(default_factory=dict)

    def load(self, path: str) -> Value | None:
        if path not in self._loaded:
            within = len(self._loaded) < _MAX_CONFIGS and _stays_inside(path)
            self._loaded[path] = self._found(path) if within else None
        return self._loaded[path]

    def _found(self, path: str) -> Value | None:
        bare = path.removesuffix(".yaml").removesuffix(".yml")
        for directory in self.directories:
            for suffix in _SUFFIXES:
                config = self.context.read_config(joined(directory, f"{bare}{suffix}", "/"))
                if config is not None:
                    return config
        return self.store.get(bare)

    def search_also(self, config_name: str) -> None:
        """`hydra.searchpath` of the primary config."""
        primary = self.load(config_name)
        listed = select(primary, "hydra.searchpath") if primary is not None else None
        if listed is not None and isinstance(listed.data, Sequence):
            for item in listed.data.items[:8]:
                scheme, _, place = str(item.data).partition("://")
                if scheme in ("file", "pkg") and "$" not in place:
                    self.directories.append(place.replace(".", "/") if scheme == "pkg" else place)

    def is_group_choice(self, override: Override) -> bool:
        """`model=gpt2` chooses a config where `model` is a group of configs."""
        return not isinstance(override.value.data, Table) and self.is_group(override.key)

    def is_group(self, group: str) -> bool:
        if group not in self._groups:
            self._groups[group] = _stays_inside(group) and (
                any(name.startswith(f"{group}/") for name in self.store)
                or ("." not in group and any(map(self._has_configs, self._places(group))))
            )
        return self._groups[group]

    def _places(self, group: str) -> list[str]:
        return [joined(directory, group, "/") for directory in self.directories]

    def _has_configs(self, directory: str) -> bool:
        return any(name.endswith(_SUFFIXES) for name in self.context.list_files(directory))


def _stays_inside(path: str) -> bool:
    return bool(path) and "\\" not in path and ".." not in PurePosixPath(path).parts


class _Plan:
    """Which option each group gets. Lists are walked from their ends, so that the last override
    is met before the choice that it overrides; the command line is met before all of them.
    """

    def __init__(self, repository: Repository, chosen: Several[Override]) -> None:
        self._repository = repository
        self._choices: dict[str, tuple[Value, ...]] = {}
        self._appended: list[Default] = []
        self._known: dict[str, Value] = {}
        self._open = False
        self._expansions = 0
        for override in chosen:
            key = override.key if override.package is None else f"{override.key}@{override.package}"
            options = () if override.sign == "~" else options_of(override.value)
            if "+" in override.sign:
                self._appended.append(
                    Default(
                        group=override.key,
                        options=options,
                        package=override.package,
                        absolute=True,
                        choice=True,
                        external=True,
                    )
                )
            else:
                self._choices[key] = options

    def composed(self, config_name: str) -> Value:
        primary = self._repository.load(config_name)
        if primary is None:
            return Value(Table({}, complete=False), (), "config")
        group = config_name.strip("/").rpartition("/")[0]
        entries = [*defaults_of(primary), *self._appended]
        where = Default(group=group).package_path("", "", package_directive(primary))
        found = self._expanded(primary, entries, group, where, 0)
        if self._open:  # an option that depends on a choice which stands before it
            found = self._expanded(primary, entries, group, where, 0)
        config = Value(Table({}), (), "config")
        for where, content in reversed(found):
            config = merge(config, _placed(content, where))
        return config

    def _expanded(
        self, config: Value, entries: list[Default], group: str, package: str, depth: int
    ) -> list[tuple[str, Value]]:
        """What to merge and where, the last first."""
        found: list[tuple[str, Value]] = []
        for entry in reversed(entries):
            if entry.is_self:
                found.append((package, remove(config, "defaults")))
            elif entry.override:
                self._choices.setdefault(entry.override_key(group, package), entry.options)
            else:
                found.extend(self._entry(entry, group, package, depth))
        return found

    def _entry(
        self, entry: Default, group: str, package: str, depth: int
    ) -> list[tuple[str, Value]]:
        if entry.choice:
            key = entry.override_key(group, package)
            entry = entry.choosing(self._choices.get(key, entry.options))
            if entry.options:
                self._known[key] = entry.options[-1]
        return [
            each
            for option in reversed(entry.options)
            for each in self._option(entry, option, (group, package), depth)
        ]

    def _option(
        self, entry: Default, option: Value, parent: tuple[str, str], depth: int
    ) -> list[tuple[str, Value]]:
        group = entry.group_path(parent[0])
        self._expansions += 1
        within = depth < _MAX_DEPTH and self._expansions < _MAX_EXPANSIONS
        config = self._chosen(group, option) if within else None
        if config is None:
            where = entry.package_path(*parent, None)
            missed = not entry.optional and not group.startswith("hydra")
            return [(where, Value(Table({}, complete=False)))] if missed else []
        where = entry.package_path(*parent, package_directive(config))
        inside = joined(group, str(option.data).rpartition("/")[0], "/")
        return self._expanded(config, defaults_of(config), inside, where, depth + 1)

    def _chosen(self, group: str, option: Value) -> Value | None:
        if not isinstance(option.data, (str, int, float)):
            return None
        name = str(option.data)
        if "${" in name:
            known = Value(Table(dict(self._known)))
            named = select(resolve(assign(known, "_", Value(name)), {}), "_") or UNKNOWN
            if not isinstance(named.data, str):
                self._open = True
                return None
            name = named.data
        return self._repository.load(joined(group, name.strip("/"), "/"))


def _placed(content: Value, package: str) -> Value:
    if not package:
        return content
    return assign(Value(Table({}), content.lines, content.source), package, content)
