"""Files of cloud launchers that hold shell text and what it needs: SkyPilot and its likes."""

from __future__ import annotations

import re

from schedmate.advisor.interpret.shell import Asked, Word
from schedmate.advisor.launch.manifests.base import Described, asking, shell_text
from schedmate.advisor.launch.manifests.documents import Part, variables

_RUNS = ("run", "command", "commands", "entrypoint")
_NEEDS = (
    *("resources", "compute", "setup", "num_nodes", "nodes", "workdir", "code", "image"),
    *("environment", "searcher", "python", "env", "envs", "env_variables", "type"),
)
_GPUS = re.compile(r"[\w-]{1,40}:(\d{1,4})|(\d{1,4})")
_INPUT = re.compile(r"\$\{\{\s*inputs\.(\w{1,80})\s*\}\}")


def is_task(part: Part) -> bool:
    """A command and at least one thing that only who runs it elsewhere writes down."""
    has_command = any((found := part.get(name)) is not None and found.parts() for name in _RUNS)
    return has_command and any(part.get(name) is not None for name in _NEEDS)


def described(part: Part) -> list[Described]:
    text = next(found for name in _RUNS if (found := part.get(name)) is not None)
    env = {
        **variables(part.get("env")),
        **variables(part.get("envs")),
        **variables(part.get("env_variables")),
        **variables(part.get("environment", "environment_variables")),
    }
    lines = "\n".join(each.text or "" for each in text.parts())
    inputs = variables(part.get("inputs"))
    lines = _INPUT.sub(lambda found: inputs[found[1]].text if found[1] in inputs else "$_", lines)
    first = text.parts()[0]
    workdir = part.get("code") or part.get("workdir")
    return [
        Described(
            words=shell_text(Word(lines, (first.evidence,))),
            env=env,
            cwd=None if workdir is None else workdir.text,
            asked=_asked(part),
            in_container=True,
        )
    ]


def _asked(part: Part) -> Asked:
    nodes = part.get("num_nodes") or part.get("nodes")
    count = None if nodes is None else nodes.number()
    stated = None if nodes is None or count is None else (count, nodes.evidence)
    places = (
        part.get("resources", "accelerators"),
        part.get("resources", "gpu"),
        part.get("resources", "slots_per_trial"),
        part.get("compute", "gpus"),
    )
    for place in places:
        for amount in (place, *(each for _, each in place.items())) if place is not None else ():
            found = _GPUS.search(amount.text or "")
            if found is not None:
                gpus = int(found[1] or found[2]) * (count or 1)
                return asking(gpus=(gpus, amount.evidence), nodes=stated)
    return asking(nodes=stated)
