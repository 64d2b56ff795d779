"""Run a program and keep what it writes, with times, as one more recorded run.

    python -m bench.corpora.framework_runs.record skorch --total epoch=25 --begins "epoch" \\
        -- python train.py

The labels come first: `--total UNIT=N` for each unit in which the log may be counted, `--stated`
where the log itself states the total, `--begins TEXT` for the first words of the counted work.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.command import command_line
from bench.corpora.framework_runs.recording import HERE

_CHUNK = 1 << 16


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("name")
    parser.add_argument("--total", action="append", required=True, metavar="UNIT=N")
    parser.add_argument("--stated", action="store_true")
    parser.add_argument("--begins", required=True, metavar="TEXT")
    parser.add_argument("--to", type=Path, default=HERE, metavar="DIR")
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    text, pieces, code, ended = _run(asked.command)
    kept = {
        "name": asked.name,
        "totals": {unit: float(count) for unit, _, count in map(_parted, asked.total)},
        "stated": asked.stated,
        "began_s": began(text, pieces, asked.begins),
        "ended_s": ended,
        "exit_code": code,
        "script": _script(asked),
        "text": text,
        "pieces": pieces,
    }
    asked.to.joinpath(f"{asked.name}.json.xz").write_bytes(packed(kept))


def packed(kept: dict[str, object]) -> bytes:
    return lzma.compress(json.dumps(kept).encode(), preset=9)


def began(text: str, pieces: list[tuple[float, int]], words: str) -> float:
    """When the first words of the counted work were written."""
    place = len(text[: text.index(words)].encode())
    return next(at for at, size in pieces if size > place)


def _parted(total: str) -> tuple[str, str, str]:
    return total.partition("=")


def _script(asked: argparse.Namespace) -> str:
    sources = [Path(word) for word in asked.command if Path(word).suffix in (".py", ".sh")]
    return "\n".join(source.read_text() for source in sources)


def _run(command: list[str]) -> tuple[str, list[tuple[float, int]], int, float]:
    start, pieces, written = time.time(), [], b""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    if process.stdout is None:
        sys.exit("its output cannot be read")
    while piece := os.read(process.stdout.fileno(), _CHUNK):
        written += piece
        pieces.append((round(time.time() - start, 3), len(written)))
    code = process.wait()
    return written.decode(errors="replace"), pieces, code, round(time.time() - start, 3)


if __name__ == "__main__":
    main()
