"""How many small mistakes put into the code would its tests notice?

Mutants are made and run by mutmut, which is no part of the environment:

    .venv-test/bin/python -m pip install mutmut==3.8.1
    python -m bench.suite.mutants                        # a tenth of the mutants of every group
    python -m bench.suite.mutants --only eta --share 1   # every mutant of one group
    python -m bench.suite.mutants --seed 2 --show        # others, and what the survivors changed

A mutant that no test notices survives. Prose (a text with a space in it) is not mutated, and the
tests are those named below, but for the slow ones.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.command import command_line, console, table

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/schedmate/"
SURVIVED, UNTESTED = 0, 33
"""What mutmut notes where all tests passed, and where no test ran the function."""


@dataclass(frozen=True)
class Group:
    files: str
    tests: str

    def holds(self, file: str) -> bool:
        return file.removeprefix(SOURCE).startswith(tuple(self.files.split()))


GROUPS: Mapping[str, Group] = {
    "core": Group("core/", "core"),
    "visibility": Group("service/visibility.py", "service/test_visibility.py"),
    # all but helper.py, which runs with the standard library alone, without what mutmut needs
    "files": Group(
        "files/base.py files/choosing.py files/helpers.py files/listing.py files/mounts.py "
        "files/own.py files/owner.py files/rights.py files/shared.py",
        "files",
    ),
    "calibration": Group("advisor/predict/calibration.py", "advisor/predict/test_calibration.py"),
    "eta": Group("tracker/eta.py", "tracker/test_eta.py tracker/test_average_rate.py"),
    "credibility": Group("handler/credibility.py", "handler/test_credibility.py"),
    "decision": Group("handler/decision.py", "handler/test_decision.py"),
    "policies": Group("policies/", "policies"),
}


def main() -> None:
    parser = command_line(__doc__, __spec__)
    parser.add_argument("--only", choices=GROUPS, action="append", help="one or several of them")
    parser.add_argument("--share", type=float, default=0.1, help="of the mutants that are tried")
    parser.add_argument("--seed", type=int, default=1, help="which of them")
    parser.add_argument("--show", action="store_true", help="what the survivors changed")
    arguments = parser.parse_args()
    if importlib.util.find_spec("mutmut") is None:
        sys.exit("mutmut is missing: .venv-test/bin/python -m pip install mutmut==3.8.1")
    groups = {name: GROUPS[name] for name in arguments.only or GROUPS}
    with tempfile.TemporaryDirectory(prefix="schedmate-mutants-") as made:
        copy = Path(made)
        copy_tree(copy)
        (copy / "setup.cfg").write_text(describe_run(groups.values()), "utf-8")
        run_mutants(copy, arguments.share, arguments.seed)
        print_scores(groups, read_outcomes(copy), copy if arguments.show else None)


def copy_tree(target: Path) -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout  # fmt: skip
    for name in files.decode().rstrip("\0").split("\0"):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def describe_run(groups: Iterable[Group]) -> str:
    files = [
        SOURCE + file + "*" * file.endswith("/") for one in groups for file in one.files.split()
    ]
    tests = sorted({f"tests/{test}" for one in groups for test in one.tests.split()})
    return "[mutmut]\n" + "".join(
        f"{key}=" + "\n    ".join(values) + "\n"
        for key, values in {
            "source_paths": ["src"],
            "process_isolation": ["forkserver"],  # what a run before has cached hides a mutant
            "only_mutate": files,
            "also_copy": [entry.name for entry in ROOT.iterdir() if _is_needed(entry.name)],
            "pytest_add_cli_args": [
                "-m",
                "not (slow or slurm or browser or embedded or frameworks)",
            ],
            "pytest_add_cli_args_test_selection": tests,
        }.items()
    )


def _is_needed(name: str) -> bool:
    """All that is part of the project: tests read docs, examples and scripts too."""
    return not name.startswith(".") and name not in {"src", "tests", "pyproject.toml"}


def run_mutants(copy: Path, share: float, seed: int) -> None:
    log = copy / "mutmut.log"
    with log.open("wb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "bench.suite.sampled_mutants", str(share), str(seed)],
            cwd=copy,
            env=os.environ | {"CI": "true"},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        said = [line for line in log.read_text("utf-8", "replace").splitlines() if "\r" not in line]
        sys.exit("mutmut failed:\n" + "\n".join(said[-30:]))


def read_outcomes(copy: Path) -> dict[tuple[str, str], int]:
    """(file, mutant) -> the exit code of its tests."""
    mutants = copy / "mutants"
    return {
        (found.relative_to(mutants).as_posix().removesuffix(".meta"), name): code
        for found in sorted(mutants.rglob("*.py.meta"))
        for name, code in json.loads(found.read_text("utf-8"))["exit_code_by_key"].items()
    }


def print_scores(
    groups: Mapping[str, Group], outcomes: Mapping[tuple[str, str], int], shown_from: Path | None
) -> None:
    shown = table("Mutants that the tests notice", ["group", "mutants", "killed", "untested", "%"])
    survivors: list[str] = []
    for name, group in groups.items():
        codes = {mutant: code for (file, mutant), code in outcomes.items() if group.holds(file)}
        alive = [mutant for mutant, code in codes.items() if code in {SURVIVED, UNTESTED}]
        untested = sum(code == UNTESTED for code in codes.values())
        killed = len(codes) - len(alive)
        share = f"{100 * killed / len(codes):.0f}" if codes else "-"
        shown.add_row(name, str(len(codes)), str(killed), str(untested), share)
        survivors += alive
    console().print(shown)
    for mutant in survivors:
        print(mutant)
        if shown_from is not None:
            print(show_mutant(shown_from, mutant))


def show_mutant(copy: Path, mutant: str) -> str:
    shown = subprocess.run(
        [sys.executable, "-m", "mutmut", "show", mutant],
        cwd=copy, check=False, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return "".join(
        f"    {line}\n"
        for line in shown.splitlines()
        if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    )


if __name__ == "__main__":
    main()
