"""sbatch's command line: which words are its flags, and where the script begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITHOUT_VALUE = {
    *("--contiguous", "--exclusive", "--get-user-env", "--hold", "--ignore-pbs", "--no-kill"),
    *("--kill-on-invalid-dep", "--no-requeue", "--overcommit", "--oversubscribe", "--parsable"),
    *("--quiet", "--reboot", "--requeue", "--spread-job", "--test-only", "--use-min-nodes"),
    *("--verbose", "--wait", "-H", "-I", "-O", "-Q", "-W", "-h", "-k", "-s", "-v"),
}


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return sbatch's own flags, and the script with its arguments."""
    position = 0
    while position < len(words) and words[position].startswith("-") and words[position] != "-":
        word = words[position]
        if word == "--":
            return list(words[:position]), list(words[position + 1 :])
        position += 1 if _complete(word) else 2
    return list(words[:position]), list(words[position:])


def _complete(word: str) -> bool:
    """Whether the flag has its value attached, or takes none."""
    if word in _WITHOUT_VALUE or "=" in word:
        return True
    return not word.startswith("--") and len(word) > 2  # noqa: PLR2004 - `-N4`
