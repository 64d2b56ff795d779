"""Manifests of Kubernetes: anything with containers in it, whoever the operator is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.manifests.base import Described, asking, shell_text
from schedmate.advisor.launch.manifests.documents import Part, variables
from schedmate.advisor.sources.files import SourceFile
from schedmate.model import Evidence

_COUNTS = ("replicas", "parallelism", "numNodes")
_GPU = re.compile(r"(?:nvidia|amd|gpu\.intel)\.com/(?:gpu|mig-|xpu|i915)")
_VARIABLE = re.compile(r"\$\(([A-Za-z_]\w{0,100})\)", re.ASCII)
_MAX_PARTS = 3000
_MAX_DEPTH = 30


def is_manifest(part: Part) -> bool:
    return part.get("apiVersion") is not None and part.get("kind") is not None


def described(documents: Sequence[Part]) -> list[Described]:
    """The commands of all workloads in the file, each with what its own workload asks for."""
    files = _config_maps(documents)
    found: list[Described] = []
    for document in documents:
        pods = list(_Pods().of(document))
        asked = _asked(pods)
        own = [each for pod in pods for each in pod.commands(files)]
        entry = document.get("spec", "entrypoint")
        named = document.get("spec", "templates") is not None  # of Argo's, by its name
        if entry is not None and entry.text and not named:
            env = variables(document.get("spec", "runtimeEnv", "env_vars"))
            own = [Described(words=shell_text(entry.word), env=env, in_container=True)]
        found += [replace(each, asked=asked) for each in own]
    return found


@dataclass(frozen=True, slots=True)
class _Pod:
    """A template of pods, how many of it there will be, and the line that states how many."""

    containers: tuple[Part, ...]
    volumes: Part | None
    count: int
    counted: Evidence | None

    def gpus(self) -> tuple[int, Evidence] | None:
        for container in self.containers:
            for kind in ("limits", "requests"):
                for place in (("resources", kind), ("resourcesPerNode", kind)):
                    amounts = container.get(*place)
                    for name, amount in amounts.items() if amounts is not None else ():
                        if _GPU.match(name) and amount.number():
                            return amount.number() or 0, amount.evidence
        return None

    def commands(self, files: Mapping[str, Mapping[str, SourceFile]]) -> Iterator[Described]:
        for container in self.containers:
            env = variables(container.get("env"))
            command = _words(container.get("command"), env)
            workdir = container.get("workingDir")
            yield Described(
                words=_words(container.get("args"), env),
                entrypoint=command or None,
                env=env,
                cwd=None if workdir is None else workdir.text,
                written=dict(self._mounted(container, files)),
                in_container=True,
            )

    def _mounted(
        self, container: Part, files: Mapping[str, Mapping[str, SourceFile]]
    ) -> Iterator[tuple[str, SourceFile]]:
        named = {
            _text(volume.get("name")): _text(volume.get("configMap", "name"))
            for volume in (self.volumes.parts() if self.volumes is not None else ())
        }
        mounts = container.get("volumeMounts")
        for mount in mounts.parts() if mounts is not None else ():
            place = _text(mount.get("mountPath"))
            only = _text(mount.get("subPath"))
            for name, source in files.get(named.get(_text(mount.get("name")), ""), {}).items():
                if not only:
                    yield posixpath.join(place, name), source
                elif only == name:
                    yield place, source


class _Pods:
    def __init__(self) -> None:
        self._left = _MAX_PARTS

    def of(
        self, part: Part, count: int = 1, counted: Evidence | None = None, depth: int = 0
    ) -> Iterator[_Pod]:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            return
        for name in _COUNTS:
            stated = part.get(name)
            number = None if stated is None else stated.number()
            if stated is not None and number is not None:
                count, counted = count * number, stated.evidence
        containers = part.get("containers")
        single = part.get("container") or part.get("trainer")
        if containers is not None and containers.parts():
            yield _Pod(tuple(containers.parts()), part.get("volumes"), count, counted)
            return
        if single is not None and (single.get("command") or single.get("args")):
            yield _Pod((single,), part.get("volumes"), count, counted)
        for inner in part.inner():
            yield from self.of(inner, count, counted, depth + 1)


def _asked(pods: Sequence[_Pod]) -> Asked:
    with_gpus = [(pod, gpus) for pod in pods if (gpus := pod.gpus()) is not None]
    total = sum(pod.count * gpus[0] for pod, gpus in with_gpus)
    counting = [pod for pod, _ in with_gpus] or list(pods)
    nodes = sum(pod.count for pod in counting)
    lines = [pod.counted for pod in counting if pod.counted is not None]
    return asking(
        gpus=(total, with_gpus[0][1][1]) if with_gpus else None,
        nodes=(nodes, lines[-1]) if lines else None,
    )


def _config_maps(documents: Sequence[Part]) -> dict[str, dict[str, SourceFile]]:
    """Texts by the name of their config map, at the lines of the file that they stand in."""
    found: dict[str, dict[str, SourceFile]] = {}
    for document in documents:
        data = document.get("data")
        if _text(document.get("kind")) == "ConfigMap" and data is not None:
            found[_text(document.get("metadata", "name"))] = {
                name: SourceFile(text.source.name, "\n" * (text.line - 1) + (text.text or ""))
                for name, text in data.items()
                if text.text
            }
    return found


def _words(part: Part | None, env: Mapping[str, Word]) -> tuple[Word, ...]:
    return tuple(_filled(each.word, env) for each in part.parts()) if part is not None else ()


def _filled(word: Word, env: Mapping[str, Word]) -> Word:
    """With the variables that Kubernetes itself puts in: `$(NAME)`."""
    values = {name: value.text for name, value in env.items()}
    text = _VARIABLE.sub(lambda found: values.get(found[1], found[0]), word.text)
    return word if text == word.text else replace(word, text=text)


def _text(part: Part | None) -> str:
    return "" if part is None else part.text or ""
