"""What a command costs before it answers: seconds of the processor, and modules that it loads.

    python -m bench.speed.startup

Each verb is asked about two real jobs of a local queue of its own, one that ended well and one that
failed and was diagnosed. The processor's time (user and system) of the best of several calls is
shown beside its goal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.command import command_line
from bench.datasets import ROOT

CALLS = 5
PATIENCE_S = 60.0
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
SETTLED = ("COMPLETED", "FAILED")
_PROGRAM = """
import json, sys
from schedmate.cli import main
try:
    main(sys.argv[1:])
finally:
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""


@dataclass(frozen=True)
class Call:
    cpu_s: float
    modules: frozenset[str]
    printed: str


def call(words: Sequence[str], env: Mapping[str, str]) -> Call:
    """One call of a verb in a process of its own."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words],
        env={**_surroundings(), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    if done.returncode:
        raise SystemExit(f"schedmate {' '.join(words)}: {done.stderr[:2000]}")
    cpu_s = sum(
        getattr(after, name) - getattr(before, name)
        for name in ("children_user", "children_system")
    )
    return Call(cpu_s, frozenset(json.loads(done.stderr.splitlines()[-1])), done.stdout)


def _surroundings() -> dict[str, str]:
    """Bytecode is kept, as where the program is installed; compiling it anew is not measured."""
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    return {**kept, "PYTHONPATH": str(ROOT / "src")}


def environment(folder: Path) -> dict[str, str]:
    return {
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_STATE_DIR": str(folder / "state"),
        "SCHEDMATE_CACHE_DIR": str(folder / "cache"),
        "SCHEDMATE_LLM__ENABLED": "false",
        "SCHEDMATE_LOCAL__SLOTS": "2",
    }


@contextmanager
def two_jobs(folder: Path) -> Iterator[dict[str, str]]:
    """A queue with a job that ended well and one that failed; what to set to see it."""
    env = environment(folder)
    for name, text in {"good": "echo step 3/3", "bad": "python3 -c 'import nothing'"}.items():
        script = folder / f"{name}.sh"
        script.write_text(f"#!/bin/bash\n{text}\n")
        call(["submit", f"--chdir={folder}", str(script)], env)
    try:
        _wait_until_settled(env)
        _one_look_of_the_daemon(env)
        yield env
    finally:
        _stop(folder)


def _wait_until_settled(env: Mapping[str, str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not all(state in call(["jobs"], env).printed for state in SETTLED):
        if time.monotonic() > until:
            raise SystemExit(f"the jobs have not ended in {PATIENCE_S:g} s")
        time.sleep(0.2)


def _one_look_of_the_daemon(env: Mapping[str, str]) -> None:
    """Where a daemon runs, what is asked for has been read already."""
    program = (
        "import os, time\n"
        "from schedmate import config\n"
        "from schedmate.service.daemon.assembling import assemble\n"
        "with assemble(config.load()) as mate:\n"
        "    mate.cycle(time.time())\n"
        "    mate.finish_diagnoses(time.time())\n"
        "os._exit(0)  # without waiting for the thread that learns from history"
    )
    whole = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **env}
    subprocess.run([sys.executable, "-c", program], env=whole, check=True, capture_output=True)


def _stop(folder: Path) -> None:
    sys.path.insert(0, str(ROOT / "src"))
    from schedmate.config import LocalSettings  # noqa: PLC0415 - it is found by the line above
    from schedmate.schedulers.local import LocalScheduler  # noqa: PLC0415

    LocalScheduler(folder / "state" / "local", LocalSettings(slots=2)).stop()


def main() -> None:
    command_line(__doc__, __spec__).parse_args()
    log = ROOT / "tests" / "tracker" / "data" / "transformers.log"
    goals: dict[tuple[str, ...], float] = {
        ("--help",): 0.2,
        ("jobs",): 0.3,
        ("eta", "1"): 0.3,
        ("why", "2"): 0.3,
        ("track", str(log)): 0.3,
        ("advise", "good.sh"): 0.4,
    }
    with own_folder() as folder, two_jobs(folder) as env:
        os.chdir(folder)
        print(f"{'verb':8} {'CPU s':>6} {'goal':>5} {'modules':>8} {'of ours':>8}")
        for words, goal in goals.items():
            call(words, env)  # its bytecode is written
            calls = [call(words, env) for _ in range(CALLS)]
            best = min(calls, key=lambda one: one.cpu_s)
            ours = sum(name.split(".")[0] == "schedmate" for name in best.modules)
            verb = words[0]
            print(f"{verb:8} {best.cpu_s:6.2f} {goal:5.1f} {len(best.modules):8} {ours:8}")


@contextmanager
def own_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="startup-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


if __name__ == "__main__":
    main()
