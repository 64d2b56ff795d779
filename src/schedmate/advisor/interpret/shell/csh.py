"""Scripts for csh and tcsh, line by line in the words of sh."""

from __future__ import annotations

import re

_SET = re.compile(r"(\s*)(?:set|@)\s+(\w+)\s*=\s*(.*)", re.ASCII)
_SETENV = re.compile(r"(\s*)setenv\s+(\w+)\s*(.*)", re.ASCII)
_FOREACH = re.compile(r"(\s*)foreach\s+(\w+)\s*\((.*)\)", re.ASCII)
_IF_THEN = re.compile(r"(\s*)(else\s+)?if\s*\(.*\)\s*then\s*")
_IF = re.compile(r"(\s*)if\s*\((?:[^()]|\([^()]*\)){0,500}\)\s*(\S.*)")
_ENDS = {"endif": "fi", "end": "done", "endsw": ":", "unlimit": ":"}
_MAX_LINE = 5000


def is_csh(text: str) -> bool:
    first = text.partition("\n")[0]
    return first.startswith("#!") and "csh" in first


def as_sh(text: str) -> str:
    """As many lines as before; conditions are left undecided."""
    return "\n".join(_line(line[:_MAX_LINE]) for line in text.split("\n"))


def _line(line: str) -> str:
    found = _SET.fullmatch(line)
    if found is not None:
        return f"{found[1]}{found[2]}={found[3].rstrip(';')}"
    found = _SETENV.fullmatch(line)
    if found is not None:
        return f"{found[1]}export {found[2]}={found[3]}"
    found = _FOREACH.fullmatch(line.rstrip())
    if found is not None:
        return f"{found[1]}for {found[2]} in {found[3]}; do"
    found = _IF_THEN.fullmatch(line)
    if found is not None:
        word = "elif" if found[2] else "if"
        return f'{found[1]}{word} [ "$SLURM_UNDECIDED" = 1 ]; then'
    found = _IF.fullmatch(line)
    if found is not None:
        return f'{found[1]}[ "$SLURM_UNDECIDED" = 1 ] && {found[2]}'
    return _ENDS.get(line.strip(), line)
