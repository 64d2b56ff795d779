"""sbatch's command line: which words are its flags, what they mean, where the script begins.

Read as getopt_long reads it: `-N2`, `-HQ`, `--nodes=2`, `--nodes 2`, `--nod 2`. The flags are those
of Slurm 22.05 to 26.05; one that is in none of them (a site's plugin may add some) takes a value
only where it is attached.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from schedmate.model.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

_WITH_VALUE = frozenset(
    """
    account acctg-freq array autocomplete batch bb bbf begin chdir cluster cluster-constraint
    clusters comment constraint container container-id context core-spec cores-per-socket cpu-freq
    cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution error exclude export
    export-file extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket
    gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep licenses mail-type
    mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem-update mincpus network nodefile
    nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket
    ntasks-per-tres open-mode output partition power prefer priority profile qos reservation
    resources runtime segment signal sockets-per-node switches tasks-per-node thread-spec
    threads-per-core time time-min tmp tres-bind tres-per-task uid wait-all-nodes wckey wrap
    """.split()  # noqa: SIM905 - a table is easier to read and compare
)
_WITH_VALUE_ATTACHED = frozenset(
    "exclusive get-user-env nice no-kill oom-kill-step propagate requeue resv-ports".split()  # noqa: SIM905 - as above
)
"""A value is optional, and theirs only behind `=`."""
_WITHOUT_VALUE = frozenset(
    """
    consolidate-segments contiguous external help hold ignore-pbs no-requeue overcommit
    oversubscribe parsable quiet reboot spread-job spread-segments stepmgr test-only usage
    use-min-nodes verbose version wait
    """.split()  # noqa: SIM905 - as above
)
FLAGS = _WITH_VALUE | _WITH_VALUE_ATTACHED | _WITHOUT_VALUE
_SHORT = dict(
    word.split(":")
    for word in """
    A:account a:array B:extra-node-info b:begin C:constraint c:cpus-per-task D:chdir d:dependency
    e:error F:nodefile G:gpus H:hold h:help i:input J:job-name k:no-kill L:licenses M:clusters
    m:distribution N:nodes n:ntasks O:overcommit o:output p:partition Q:quiet q:qos S:core-spec
    s:oversubscribe t:time V:version v:verbose W:wait w:nodelist x:exclude
    """.split()  # noqa: SIM905 - as above
)
_OTHER_NAMES = {"cluster": "clusters", "tasks-per-node": "ntasks-per-node"}
_VARIABLES = {
    "SBATCH_ARRAY_INX": "array",
    "SBATCH_GPUS": "gpus",
    "SBATCH_GPUS_PER_NODE": "gpus-per-node",
    "SBATCH_GPUS_PER_TASK": "gpus-per-task",
    "SBATCH_GRES": "gres",
    "SBATCH_JOB_NAME": "job-name",
    "SBATCH_PARTITION": "partition",
    "SBATCH_TIMELIMIT": "time",
}
"""Those of sbatch's variables that a prediction depends on."""
_OURS = {
    "--host": "the name of a machine",
    "--notify": "a URL or a mail address",
    "--commands": "a file with a command a line",
    "--sweep": "what to vary: --sweep lr=1e-3,1e-4 seed=1..5 train.py",
}
"""Flags that sbatch does not have, and what each takes."""
PARAMETER = re.compile(r"([A-Za-z_][\w.-]{0,80})=(.*)", re.ASCII | re.DOTALL)
_NEXT_COMPONENT = ":"
"""Between the parts of a heterogeneous job."""

Option = tuple[str, str]


@dataclass(frozen=True, slots=True)
class CommandLine:
    """sbatch's own flags, and the script or (behind `--`) command with its arguments.

    `options` are the flags by their long names, each with its value or "": of a heterogeneous job
    those of its first part. `unknown` are flags that Slurm does not have.
    """

    flags: tuple[str, ...]
    job: tuple[str, ...]
    is_command: bool
    options: tuple[Option, ...] = ()
    unknown: tuple[str, ...] = ()

    def value(self, name: str) -> str | None:
        """The last one stated."""
        return dict(self.options).get(name)

    def as_words(self) -> list[str]:
        """The options in one spelling."""
        return [
            f"--{name}={value}" if value or name in _WITH_VALUE else f"--{name}"
            for name, value in self.options
        ]


def split(words: Sequence[str]) -> CommandLine:
    """As far as the first word that is neither a flag nor a flag's value."""
    flags = _Flags()
    end = max((end for _, end in _flags_in(words, flags)), default=0)
    job = list(words[end:])
    is_command = job[:1] == ["--"]
    while is_command and job[:1] == ["--"]:
        del job[0]
    return CommandLine(
        tuple(words[:end]), tuple(job), is_command, tuple(flags.options), tuple(flags.unknown)
    )


def part(words: Sequence[str], own: Collection[str]) -> tuple[list[str], list[str]]:
    """Flags that are in `own`, and all other words; a value or a job's own word is no flag."""
    found = [start for start, _ in _flags_in(words, _Flags()) if words[start] in own]
    return [words[at] for at in found], [word for at, word in enumerate(words) if at not in found]


def take_own(words: Sequence[str], flag: str) -> tuple[list[str], list[str]]:
    """The values of a flag of our own, wherever it stands among the flags, and all other words."""
    values: list[str] = []
    kept: list[str] = []
    begun = 0
    for start, end in _flags_in(words, _Flags()):
        name, attached, value = words[start].partition("=")
        if name == flag:
            found = [*([value] if attached else ()), *words[start + 1 : end]]
            if not any(found):
                raise BadInput(f"{flag} wants {_OURS[flag]}")
            values += found
            kept += words[begun:start]
            begun = end
    return values, [*kept, *words[begun:]]


def _flags_in(words: Sequence[str], flags: _Flags) -> Iterator[tuple[int, int]]:
    """Where each flag begins and where it ends with its value."""
    at = 0
    while at < len(words):
        start, word = at, words[at]
        if word == _NEXT_COMPONENT:
            flags.next_component()
        elif word in ("-", "--") or not word.startswith("-"):
            return
        elif word.partition("=")[0] in _OURS:
            flags.unknown.append(word)
            at = _end_of_own(words, at) - 1
        elif flags.take(word, words[at + 1] if at + 1 < len(words) else ""):
            at += 1
        at = min(at + 1, len(words))
        yield start, at


def _end_of_own(words: Sequence[str], at: int) -> int:
    """`--sweep` takes all that follows and is to be varied, the others take one word."""
    name, attached, _ = words[at].partition("=")
    end = at + 1
    if name != "--sweep":
        return end if attached else end + 1
    while end < len(words) and PARAMETER.fullmatch(words[end]) and not Path(words[end]).exists():
        end += 1
    return end


def variables(environment: Mapping[str, str]) -> list[str]:
    """What sbatch reads in the environment, as flags; a flag on the command line outranks them."""
    return [
        f"--{name}={environment[variable]}"
        for variable, name in _VARIABLES.items()
        if environment.get(variable)
    ]


def unwrap(line: CommandLine) -> CommandLine:
    """`--wrap COMMAND` as the shell that it stands for."""
    options = tuple(option for option in line.options if option[0] != "wrap")
    command = ("/bin/sh", "-c", line.value("wrap") or "")
    bare = CommandLine((), command, is_command=True, options=options, unknown=line.unknown)
    return replace(bare, flags=(*bare.as_words(), *line.unknown))


class _Flags:
    """The flags that have been read so far."""

    def __init__(self) -> None:
        self.options: list[Option] = []
        self.unknown: list[str] = []
        self._first_component = True

    def next_component(self) -> None:
        self._first_component = False

    def take(self, word: str, following: str) -> bool:
        """Whether the following word is this one's value."""
        return (
            self._long(word, following) if word.startswith("--") else self._short(word, following)
        )

    def _long(self, word: str, following: str) -> bool:
        written, attached, value = word[2:].partition("=")
        name = _meant(written)
        if name is None:
            self.unknown.append(word)
            return False
        needs_next = name in _WITH_VALUE and not attached
        self._add(name, following if needs_next else value)
        return needs_next

    def _short(self, word: str, following: str) -> bool:
        """`-HQ` are two flags, `-HN2` too; what takes a value takes the rest of the word."""
        for at, letter in enumerate(word[1:], 2):
            name, rest = _SHORT.get(letter), word[at:]
            if name is None:
                self.unknown.append(f"-{letter}")
            elif name in _WITH_VALUE:
                self._add(name, rest or following)
                return not rest
            elif name in _WITH_VALUE_ATTACHED:
                self._add(name, rest)
                return False
            else:
                self._add(name, "")
        return False

    def _add(self, name: str, value: str) -> None:
        if self._first_component:
            self.options.append((_OTHER_NAMES.get(name, name), value))


def _meant(written: str) -> str | None:
    """The flag of this name or beginning.

    Which flags begin so depends on Slurm's version: where several do, they count as one of them
    as long as all or none of them take a value.
    """
    if written in FLAGS:
        return written
    begin_so = sorted(name for name in FLAGS if written and name.startswith(written))
    alike = len({name in _WITH_VALUE for name in begin_so}) == 1
    return begin_so[0] if alike else None
