"""sbatch's command line: which words are its flags, and where the script begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITHOUT_VALUE = {
    *("--contiguous", "--exclusive", "--get-user-env", "--hold", "--ignore-pbs", "--no-kill"),
    *("--kill-on-invalid-dep", "--no-requeue", "--overcommit", "--oversubscribe", "--parsable"),
    *("--nice", "--propagate", "--quiet", "--reboot", "--requeue", "--spread-job", "--test-only"),
    *(
        "--use-min-nodes",
        "--verbose",
        "--wait",
        "-H",
        "-I",
        "-O",
        "-Q",
        "-W",
        "-h",
        "-k",
        "-s",
        "-v",
    ),
}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """sbatch's own flags, and the script or (behind `--`) command with its arguments."""

    flags: tuple[str, ...]
    job: tuple[str, ...]
    is_command: bool


def split(words: Sequence[str]) -> CommandLine:
    position = 0
    while position < len(words) and words[position].startswith("-"):
        word = words[position]
        if word == "--":
            job = tuple(words[position:])
            while job[:1] == ("--",):
                job = job[1:]
            return CommandLine(tuple(words[:position]), job, is_command=True)
        position += 1 if _complete(word) else 2
    return CommandLine(tuple(words[:position]), tuple(words[position:]), is_command=False)


def unwrap(line: CommandLine, command: str) -> CommandLine:
    """`--wrap COMMAND` as what it stands for; sbatch itself gets it only once."""
    flags = list(line.flags)
    for position, word in enumerate(flags):
        if word.startswith("--wrap"):
            del flags[position : position + (1 if "=" in word else 2)]
            break
    return CommandLine(tuple(flags), ("/bin/sh", "-c", command), is_command=True)


def _complete(word: str) -> bool:
    """Whether the flag has its value attached, or takes none."""
    if word in _WITHOUT_VALUE or "=" in word:
        return True
    return not word.startswith("--") and len(word) > 2  # noqa: PLR2004 - `-N4`
