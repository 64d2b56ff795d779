"""Every verb in an environment that holds what `pip install .` brings, and nothing else."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from schedmate.cli import VERBS
from schedmate.model.extras import EXTRA_OF, needs
from schedulers.local_site import wait_for

pytestmark = [pytest.mark.processes, pytest.mark.slow]

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SANE_CODES = {0, 1, 2, 3, 4, 5}
CALLS = {
    "advise": ["--no-llm", "--", "python", "train.py"],
    "track": ["run.log"],
    "diagnose": ["run.log", "--exit-code", "1"],
    "rules": ["list"],
    "submit": ["--", "true"],
    "jobs": [],
    "job": ["1"],
    "eta": ["1"],
    "why": ["1"],
    "nodes": [],
    "cancel": ["1"],
    "requeue": ["1"],
    "hold": ["1"],
    "release": ["1"],
    "top": ["1"],
    "logs": ["1"],
    "run": ["--", "true"],
    "revert": ["--all"],
    "history": ["list"],
    "slurm": ["uninstall-hook"],
    "serve": ["--once"],
    "status": [],
    "audit": [],
    "notify": ["show"],
    "token": ["list"],
    "mcp": [],
    "replay": [],
    "simulate": ["synthetic", "--jobs", "20", "--policy", "fifo,fifo+schedmate"],
    "backtest": [],
    "model": ["status"],
    "service": ["show"],
    "store": ["backup", "copy.sqlite3"],
    "doctor": [],
    "completion": ["bash"],
    "man": ["jobs"],
    "demo": [],
    "pause": [],
    "resume": [],
}
MISSING = {
    "demo": ["demo"],
    "lightgbm": ["simulate", "synthetic", "--jobs", "20", "--policy", "fifo,qssf"],
    "scipy": ["simulate", "synthetic", "--policy", "fifo,gavel", "--gpu-kinds", "a:32:2,b:32"],
    "pyarrow": ["simulate", "trace.parquet"],
    "psycopg": ["jobs"],
    "httpx2": ["diagnose", "silent.log", "--exit-code", "3", "--llm"],
}
DRIVER = """
import contextlib, io, json, os, sys, traceback
sys.stdin = open(os.devnull)
from schedmate.cli import main
found = []
for words in json.loads(sys.argv[1]):
    out, err, code = io.TextIOWrapper(io.BytesIO()), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
    found.append((code, err.getvalue()))
print("FOUND" + json.dumps(found))
"""


def with_what_it_needs(requirements: list[str]) -> dict[str, Distribution]:
    """The installed packages that these name, and all that those need."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        one = waiting.pop()
        if one.name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found[one.name] = distribution(one.name)
        waiting += [Requirement(text) for text in found[one.name].requires or []]
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Of an environment with links to the packages of the lock that the core needs."""
    home = tmp_path_factory.mktemp("core") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = home / "lib" / version / "site-packages"
    ours = Path(sysconfig.get_path("purelib"))
    for package in with_what_it_needs(PROJECT["dependencies"]).values():
        names = {Path(str(file)).parts[0] for file in package.files or []} - {"..", "__pycache__"}
        for name in names:
            if not (site / name).exists():
                (site / name).symlink_to(ours / name)
    (site / "schedmate.pth").write_text(f"{ROOT / 'src'}\n")
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("work")
    (place / "train.py").write_text("for epoch in range(3):\n    print(epoch)\n")
    (place / "run.log").write_text("epoch 1/3 loss 1.0\nKeyError: 3\n")
    (place / "silent.log").write_text("step 1\n")
    (place / "trace.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    return place


def environment(place: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "USER")}
    state = {"SCHEDMATE_STATE_DIR": str(place / "state"), "SCHEDMATE_CACHE_DIR": str(place / "c")}
    return {
        **kept,
        **state,
        "SCHEDMATE_CONFIG": "/dev/null",
        "SCHEDMATE_SCHEDULER": "local",
        "TMPDIR": str(place),
        **more,
    }


def call(python: Path, place: Path, calls: list[list[str]], **more: str) -> list[tuple[int, str]]:
    """What each of them ended with and said, one after the other in one process."""
    done = subprocess.run(
        [python, "-I", "-c", DRIVER, json.dumps(calls)],
        cwd=place,
        env=environment(place, **more),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FOUND" in done.stdout, done.stderr
    return json.loads(done.stdout.rpartition("FOUND")[2])


def test_the_environment_holds_no_extra(python):
    look = "from importlib.util import find_spec as f; import json, sys; print(json.dumps("
    done = subprocess.run(
        [python, "-I", "-c", f"{look}[n for n in {list(EXTRA_OF)} if f(n)]))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_every_verb_ends_without_a_traceback(python, place):
    assert set(CALLS) == set(VERBS)

    found = call(python, place, [[verb, *words] for verb, words in CALLS.items()])

    for (verb, words), (code, err) in zip(CALLS.items(), found, strict=True):
        assert "Traceback" not in err, f"{verb} {words}: {err}"
        assert code in SANE_CODES, f"{verb} {words}: {code} {err}"


def test_what_an_extra_brings_is_named_in_one_sentence(python, place):
    for package, words in MISSING.items():
        more = {"SCHEDMATE_LLM__BASE_URL": "http://127.0.0.1:9/v1"}
        if package == "psycopg":
            more["SCHEDMATE_STORE_URL"] = "postgresql://127.0.0.1:9/none"

        [(code, err)] = call(python, place, [words], **more)

        name = "tqdm" if package == "demo" else package
        assert code in SANE_CODES - {0}, f"{words}: {err}"
        assert f"pip install '.[{EXTRA_OF[name]}]'" in err, f"{words}: {err}"
        assert name in err


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_serve_shows_its_pages(python, place):
    log = place / "serve.log"
    with log.open("wb") as out:
        served = subprocess.Popen(
            [python, "-I", "-m", "schedmate", "serve", "--port", str(free_port())],
            cwd=place,
            env=environment(place, SCHEDMATE_STATE_DIR=str(place / "served")),
            stdout=out,
            stderr=out,
        )
    try:
        where = re.compile(r"http://[\w.:]+")
        wait_for(lambda: served.poll() is not None or where.search(log.read_text()), "the page")
        assert served.poll() is None, log.read_text()
        with urllib.request.urlopen(f"{where.search(log.read_text())[0]}/healthz") as answer:
            assert answer.status == 200
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait(60)
    assert "Traceback" not in log.read_text()


def test_each_package_is_in_the_extra_that_is_named():
    extras = PROJECT["optional-dependencies"]
    for package, extra in EXTRA_OF.items():
        names = {re.split(r"[\[>=<]", each)[0] for each in extras[extra]}
        assert package in names, f"{package} is not in the extra {extra}"
        assert f"'.[{extra}]'" in needs("it needs", package)


def test_no_page_and_no_message_names_a_package_that_is_not_published():
    published = re.compile(r"(?:pip|pipx) install (?:--\S+ )*['\"]?schedmate\b")
    texts = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
    texts += ROOT.glob("src/**/*.py")
    assert [str(path) for path in texts if published.search(path.read_text())] == []
