"""Programs that start other programs: how much of a command line belongs to each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from schedmate.advisor.shell import Word

PYTHON = re.compile(r"python(?:\d(?:\.\d+)?)?|pypy3?")


@dataclass(frozen=True, slots=True)
class Launcher:
    """A program that runs a command given behind its own options.

    `verbs` are the words one of which must follow it, `valued` its options that take the next
    word, `positionals` how many words of its own come before the command.
    """

    verbs: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    positionals: int = 0
    starts_python: bool = False
    """It starts a Python file or module itself; everything before that is its own."""


def _launcher(
    valued: str = "", *, verbs: str = "", positionals: int = 0, starts_python: bool = False
) -> Launcher:
    return Launcher(frozenset(verbs.split()), frozenset(valued.split()), positionals, starts_python)


_SRUN = _launcher(
    "-n -N -c -p -A -t -w -x -G -J -o -e -i -m -d -D -C -q -r -s --ntasks --nodes --gpus --time "
    "--cpus-per-task --partition --account --gres --job-name --output --error --nodelist "
    "--exclude --gpus-per-task --gpus-per-node --ntasks-per-node --mem --mpi --export --chdir "
    "--container-image --container-mounts --container-workdir --jobid --cpu-bind --gpu-bind "
    "--relative --kill-on-bad-exit --wait --qos --constraint --mem-per-gpu --threads-per-core"
)
_MPI = _launcher(
    "-n -np -N -x -H -host --host -hostfile --hostfile -machinefile --machinefile -ppn -npernode "
    "--npernode --map-by -map-by --bind-to -bind-to -genv -env -f -hosts -wdir --wdir"
)
_CONTAINER = _launcher(
    "-B --bind --env --env-file -H --home --pwd -W --workdir --overlay -S --scratch",
    verbs="exec run",
    positionals=1,
)

LAUNCHERS: dict[str, Launcher] = {
    "srun": _SRUN,
    "mpirun": _MPI,
    "mpiexec": _MPI,
    "horovodrun": _launcher("-np -H -p --hostfile --network-interface"),
    "torchrun": _launcher(starts_python=True),
    "accelerate": _launcher(verbs="launch", starts_python=True),
    "deepspeed": _launcher(starts_python=True),
    "uv": _launcher(
        "--with --with-editable --with-requirements -p --python --extra --group --project "
        "--directory --env-file --package --index --index-url",
        verbs="run",
    ),
    "conda": _launcher("-n --name -p --prefix --cwd", verbs="run"),
    "mamba": _launcher("-n --name -p --prefix --cwd", verbs="run"),
    "micromamba": _launcher("-n --name -p --prefix --cwd", verbs="run"),
    "poetry": _launcher(verbs="run"),
    "pipenv": _launcher(verbs="run"),
    "pixi": _launcher("-e --environment", verbs="run"),
    "singularity": _CONTAINER,
    "apptainer": _CONTAINER,
    "env": _launcher("-u --unset -C --chdir"),
    "time": _launcher("-f -o --format --output"),
    "nohup": _launcher(),
    "exec": _launcher("-a"),
    "command": _launcher(),
    "nice": _launcher("-n --adjustment"),
    "ionice": _launcher("-c -n --class --classdata"),
    "setsid": _launcher(),
    "stdbuf": _launcher("-i -o -e"),
    "timeout": _launcher("-k -s --kill-after --signal", positionals=1),
    "numactl": _launcher("-N -m -C -i --cpunodebind --membind --physcpubind --interleave"),
    "taskset": _launcher(positionals=1),
    "sudo": _launcher("-u -g"),
}

_OUTPUTS = {
    "srun": frozenset(("-o", "--output", "-e", "--error")),
    "torchrun": frozenset(("--log-dir", "--log_dir")),
    "accelerate": frozenset(("--log_dir",)),
}

PYTHON_MODULES: dict[str, Launcher] = {
    "torch.distributed.run": LAUNCHERS["torchrun"],
    "torch.distributed.launch": LAUNCHERS["torchrun"],
    "torch.distributed.elastic.multiprocessing": LAUNCHERS["torchrun"],
    "accelerate.commands.launch": LAUNCHERS["torchrun"],
}


def program(word: Word) -> str:
    """`/usr/bin/srun` is `srun`."""
    return PurePosixPath(word.text).name


def _strip(launcher: Launcher, words: Sequence[Word]) -> Sequence[Word]:
    """What is run by a launcher whose own name has been taken off; empty where nothing is."""
    if launcher.verbs:
        if not words or words[0].text not in launcher.verbs:
            return ()
        words = words[1:]
    if launcher.starts_python:
        return _from_python_file(words)
    return _behind_options(words, launcher)


def _from_python_file(words: Sequence[Word]) -> Sequence[Word]:
    """`-m MODULE …` or `FILE.py …`, whichever comes first."""
    for index, word in enumerate(words):
        if word.text in ("-m", "--module"):
            return [Word("python"), Word("-m"), *words[index + 1 :]]
        if word.text.endswith(".py") and not word.text.startswith("-"):
            return words[index:]
    return ()


def _behind_options(words: Sequence[Word], launcher: Launcher) -> Sequence[Word]:
    index, positionals = 0, launcher.positionals
    while index < len(words):
        text = words[index].text
        if text == "--":
            index += 1
            break
        if text in ("-m", "--module") and text not in launcher.valued:
            return [Word("python"), Word("-m"), *words[index + 1 :]]
        if text.startswith("-"):
            index += 2 if text in launcher.valued else 1
        elif "=" in text.split("/", 1)[0] and text[0].isalpha():
            index += 1
        elif positionals:
            positionals, index = positionals - 1, index + 1
        else:
            break
    return words[index:]


def strip_one(words: Sequence[Word]) -> tuple[Sequence[Word], str] | None:
    """One launcher taken off and its name, or None when there is none."""
    name = program(words[0])
    launcher: Launcher | None = LAUNCHERS.get(name)
    rest = words[1:]
    if launcher is None and PYTHON.fullmatch(name):
        for index in range(1, min(len(words) - 1, 5)):
            if words[index].text == "-m":
                name = words[index + 1].text
                launcher, rest = PYTHON_MODULES.get(name), words[index + 2 :]
                break
    return None if launcher is None else (_strip(launcher, rest), name)


def outputs(words: Sequence[Word], rest: Sequence[Word]) -> tuple[Word, ...]:
    """The files or directories to which a launcher sends what the ranks of `rest` print."""
    options = _OUTPUTS.get(program(words[0]), frozenset())
    own = words[1 : len(words) - len(rest) + 1]
    found: list[Word] = []
    for word, following in pairwise((*own, Word(""))):
        name, equals, value = word.text.partition("=")
        if name in options and equals:
            found.append(replace(word, text=value))
        elif name in options and following.text:
            found.append(following)
    return tuple(found)


def killed_after(words: Sequence[Word]) -> Word | None:
    """`timeout -k 10 2h …`: the word that says how long."""
    if program(words[0]) != "timeout":
        return None
    behind = _behind_options(words[1:], replace(LAUNCHERS["timeout"], positionals=0))
    return behind[0] if behind else None


def environment(words: Sequence[Word]) -> dict[str, Word]:
    """`env A=b …`"""
    if program(words[0]) != "env":
        return {}
    found: dict[str, Word] = {}
    for word in words[1:]:
        name, equals, value = word.text.partition("=")
        if word.text.startswith("-"):
            continue
        if not equals:
            break
        found[name] = Word(value, word.evidence, known=word.known)
    return found
