"""Directives of schedulers other than Slurm, in the words of Slurm."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence

Option = tuple[str, str]
_MAX_LINE = 5000
_RESOURCE = re.compile(r"(\w{1,40})=([^,:+ ]{1,80})")
_GPU_NAMES = frozenset("ngpus gpus gpu num_gpu num_gpus gpu_card gpucard cuda ngpu".split())  # noqa: SIM905 - a table
_FLUX_TIME = re.compile(r"(\d{1,7})(?:\.\d+)?([smhd]?)")
_UNITS = {"s": 1, "": 60, "m": 60, "h": 3600, "d": 86400}


def other_directive(line: str) -> list[Option]:
    """What one comment line asks for; nothing where it is only a comment."""
    for prefix, read in _DIALECTS:
        if line.startswith(prefix):
            return list(read(_words(line[len(prefix) : _MAX_LINE])))
    return []


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def _pairs(words: Sequence[str], flags: str = "") -> Iterator[Option]:
    """Options and the word behind each; `flags` take none."""
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if not word.startswith("-"):
            continue
        name, equals, value = word.partition("=")
        if name.startswith("--") and equals:
            yield name, value
        elif word in flags.split() or index >= len(words):
            yield word, ""
        else:
            yield word, words[index]
            index += 1


def _seconds(text: str) -> str:
    """A bare number is seconds: `3600` as Slurm takes it."""
    return f"0:0:{text}" if text.isascii() and text.isdigit() else text


def _pbs(words: Sequence[str]) -> Iterator[Option]:
    names = {"-N": "job-name", "-o": "output", "-e": "error", "-q": "partition", "-J": "array"}
    names |= {"-t": "array", "-d": "chdir", "-w": "chdir", "-A": "account"}
    for option, value in _pairs(words, "-V -I -X -h -z"):
        if option == "-l":
            yield from _pbs_resources(value)
        elif option in names:
            yield names[option], value


def _pbs_resources(text: str) -> Iterator[Option]:
    """`select=2:ngpus=4+1:ngpus=2`, `nodes=1:ppn=8:gpus=2`, `walltime=…`."""
    found = re.match(r"(?:.*,)?(select|nodes)=([^,]{1,500})", text)
    if found is not None:
        yield from _chunks(found[2])
    for name, value in _RESOURCE.findall(text):
        if name == "mem":
            yield "mem", value
        elif name in _GPU_NAMES and found is None:
            yield "gpus", value
    limit = re.search(r"(?:^|[,:])walltime=([\d:]{1,20})", text)
    if limit is not None:
        yield "time", _seconds(limit[1])


def _chunks(text: str) -> Iterator[Option]:
    nodes = gpus = 0
    for chunk in text.split("+"):
        count, *parts = chunk.split(":")
        number = int(count) if re.fullmatch(r"\d{1,6}", count) else 1
        nodes += number
        for name, value in (part.partition("=")[::2] for part in parts):
            if name in _GPU_NAMES and re.fullmatch(r"\d{1,6}", value):
                gpus += number * int(value)
            elif name in ("ncpus", "ppn"):
                yield "cpus-per-task", value
    yield "nodes", str(nodes)
    if gpus:
        yield "gpus", str(gpus)


def _lsf(words: Sequence[str]) -> Iterator[Option]:
    names = {"-n": "ntasks", "-o": "output", "-oo": "output", "-e": "error", "-eo": "error"}
    names |= {"-q": "partition", "-nnodes": "nodes", "-cwd": "chdir", "-M": "mem", "-P": "account"}
    for option, value in _pairs(words, "-B -N -x -r -H -K"):
        if option == "-gpu":
            yield from _lsf_gpus(value)
        elif option == "-R":
            yield from _lsf_resources(value)
        elif option == "-W":
            yield "time", f"{value}:00" if value.count(":") == 1 else value
        elif option == "-J":
            name, bracket, rest = value.partition("[")
            yield "job-name", name
            if bracket:
                yield "array", rest.rstrip("]")
        elif option in names:
            yield names[option], value.split(",")[0] if option == "-n" else value


def _lsf_gpus(text: str) -> Iterator[Option]:
    """`num=2` is for each host, `num=1/task` for each task."""
    found = re.search(r"(?:^|:)num=(\d{1,6})(/task)?", text)
    if found is not None:
        yield "gpus-per-task" if found[2] else "gpus-per-node", found[1]


def _lsf_resources(text: str) -> Iterator[Option]:
    found = re.search(r"ngpus(?:_\w{1,20})?=(\d{1,6})", text)
    if found is not None:
        yield "gpus-per-node", found[1]
    if re.search(r"span\[\s{0,5}hosts\s{0,5}=\s{0,5}1\s{0,5}\]", text):
        yield "nodes", "1"


def _sge(words: Sequence[str]) -> Iterator[Option]:
    names = {"-N": "job-name", "-o": "output", "-e": "error", "-q": "partition", "-t": "array"}
    names |= {"-wd": "chdir"}
    for option, value in _pairs(words, "-cwd -V -notify -h"):
        if option == "-l":
            for name, amount in _RESOURCE.findall(value.replace(":", "\0")):
                if name in _GPU_NAMES:
                    yield "gpus", "1" if amount.lower() == "true" else amount
            limit = re.search(r"(?:^|,)[hs]_rt=([\d:]{1,20})", value)
            if limit is not None:
                yield "time", _seconds(limit[1])
        elif option in names:
            yield names[option], value


def _flux(words: Sequence[str]) -> Iterator[Option]:
    names = {"-N": "nodes", "-n": "ntasks", "-c": "cpus-per-task", "-g": "gpus-per-task"}
    names |= {"-q": "partition", "--cwd": "chdir", "--cores-per-task": "cpus-per-task"}
    for option, value in _pairs(_apart(words)):
        if option in ("-t", "--time-limit"):
            found = _FLUX_TIME.fullmatch(value)
            if found is not None:
                yield "time", f"0:0:{int(found[1]) * _UNITS[found[2]]}"
        else:
            yield names.get(option, option.lstrip("-")), value


def _apart(words: Sequence[str]) -> list[str]:
    """`-N2` as two words."""
    parts: list[str] = []
    for word in words:
        short = re.fullmatch(r"(-[A-Za-z])=?(\w.{0,100})", word)
        parts += [short[1], short[2]] if short else [word]
    return parts


def _cobalt(words: Sequence[str]) -> Iterator[Option]:
    names = {"-n": "nodes", "-t": "time", "-q": "partition", "-A": "account", "-O": "output"}
    for option, value in _pairs(words):
        if option in names:
            yield names[option], value


_DIALECTS: tuple[tuple[str, Callable[[Sequence[str]], Iterator[Option]]], ...] = (
    ("#PBS", _pbs),
    ("#BSUB", _lsf),
    ("#$", _sge),
    ("#flux:", _flux),
    ("#FLUX:", _flux),
    ("# flux:", _flux),
    ("#COBALT", _cobalt),
)
