"""Directories made to harm their reader: an answer, nothing read outside, nothing run."""

import json
import os
import socket
import sys
import sysconfig
import threading
import time
from pathlib import Path

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.testing.history import MemoryHistory

PARSER = """\
import argparse
import yaml
parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--epochs", type=int, default=7)
args = parser.parse_args()
settings = yaml.safe_load(open(args.config)) if args.config else {}
for epoch in range(args.epochs):
    train(lr=settings["lr"])
"""
LIBRARIES = tuple(
    {os.path.realpath(path) for path in (*sysconfig.get_paths().values(), *sys.path) if path}
    - {os.path.realpath(Path.cwd())}
)
NOWHERE = (f"{os.devnull}/", "/proc/self/fdinfo/", "/proc/self/mountinfo")
"""Names that lead nowhere, and what tells the file system of an open file."""
LONGEST_S = 30.0
"""Far more than the deadline, because machines that run tests are busy."""


class Watched:
    """What Python itself is asked to open, list or start while an advice is made."""

    def __init__(self):
        self.on = False
        self.touched = []
        self.started = []

    def __call__(self, event, arguments):
        if not self.on or threading.current_thread() is not self.thread:
            return
        if event in ("open", "os.scandir", "os.listdir") and isinstance(arguments[0], str | bytes):
            self.touched.append(os.fsdecode(arguments[0]))
        if event.startswith(("subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn")):
            self.started.append((event, arguments))

    def __enter__(self):
        self.thread = threading.current_thread()
        self.on, self.touched, self.started = True, [], []
        return self

    def __exit__(self, *_):
        self.on = False

    def outside(self, *roots):
        own = tuple(os.path.realpath(root) for root in roots) + LIBRARIES
        reals = {os.path.realpath(path) for path in self.touched if not path.startswith(NOWHERE)}
        return sorted(path for path in reals if not path.startswith(own))


WATCHED = Watched()
sys.addaudithook(WATCHED)


def unwatched(directory):
    """Where names change what they stand for, nobody can tell afterwards what was opened."""
    memory = MemoryHistory()
    target = Target.from_command(directory, ("python", "train.py"))
    return Advisor(memory, memory).advise(target).advice


def advise(target):
    memory = MemoryHistory()
    started = time.process_time()
    with WATCHED as watched:
        advice = Advisor(memory, memory).advise(target).advice
    assert time.process_time() - started < LONGEST_S
    assert watched.outside(target.workdir) == []
    assert watched.started == []
    return advice.workload


def of(directory, *command):
    return advise(Target.from_command(directory, command or ("python", "train.py")))


def of_script(directory, text):
    (directory / "job.sh").write_text(text)
    return advise(Target.from_script(directory, "job.sh", ()))


@pytest.fixture
def job(tmp_path):
    directory = tmp_path / "job"
    directory.mkdir()
    (directory / "train.py").write_text(PARSER)
    return directory


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret.yaml"
    file.write_text("lr: 0.666\nepochs: 666\n")
    (tmp_path / "secret.py").write_text("lr = 0.666\nEPOCHS = 666\n")
    return file


def test_the_watch_sees_what_leaves_the_directory(job, secret):
    with WATCHED as watched:
        secret.read_text()
        list(os.scandir(secret.parent))
    assert watched.outside(job) == [str(secret.parent), str(secret)]


class TestWaysOut:
    @pytest.mark.parametrize(
        "path",
        [
            "../secret.yaml",
            "../../../../../../../../etc/passwd",
            "./a/../../secret.yaml",
            "/etc/passwd",
            "~/.bashrc",
            "~root/.bashrc",
            "$HOME/.bashrc",
            "/proc/self/environ",
            "/dev/stdin",
            "file:///etc/passwd",
            "a\nb.yaml",
            "x" * 5000,
            "d/" * 2000 + "x.yaml",
            "\udcff.yaml",
            "",
        ],
        ids=range(15),
    )
    def test_through_the_name_of_a_config(self, job, secret, path):
        record = of(job, "python", "train.py", "--config", path)
        assert record.learning_rate is None
        assert record.epochs.value == 7

    def test_through_links(self, job, secret):
        (job / "linked.yaml").symlink_to(secret)
        (job / "up").symlink_to("..")
        (job / "package").symlink_to(secret.parent)
        for path in (
            "linked.yaml",
            "up/secret.yaml",
            "package/secret.yaml",
            "up/job/../secret.yaml",
        ):
            assert of(job, "python", "train.py", "--config", path).learning_rate is None
        (job / "train.py").write_text(
            "import package.secret, up.secret\nfrom package.secret import EPOCHS\n"
            "from up import *\nfrom secret import lr\nfor e in range(EPOCHS): pass\n"
        )
        record = of(job)
        assert (record.epochs, record.learning_rate) == (None, None)

    def test_through_imports(self, job, secret):
        (job / "train.py").write_text(
            "import sys, os\nsys.path.insert(0, '..')\n"
            "sys.path.append(os.path.dirname(os.getcwd()))\n"
            "from secret import EPOCHS\nfrom .. import secret\nfrom ..secret import lr\n"
            "exec(open('../secret.py').read())\nfor e in range(EPOCHS): pass\n"
        )
        record = of(job)
        assert (record.epochs, record.learning_rate) == (None, None)

    def test_through_a_change_of_directory(self, job, secret):
        for text in (
            f"cd {secret.parent}\npython -c 'from secret import EPOCHS, lr'\n",
            f"cd {secret.parent}\nllamafactory-cli train secret.yaml\n",
            f"#!/bin/bash\n#SBATCH --chdir={secret.parent}\nllamafactory-cli train secret.yaml\n",
            f"#!/bin/bash\n#SBATCH --chdir={secret.parent}\npython -c 'from secret import *'\n",
            f"export PYTHONPATH={secret.parent}\npython -c 'from secret import *'\n",
            f"source {secret.parent}/secret.yaml\naxolotl train {secret}\n",
            "cd ..\npython secret.py\npython -m secret\n",
            f"accelerate launch --config_file {secret} x.py\n",
            f"make -C {secret.parent} train\nbash ../secret.yaml\ncat ../secret.yaml | python -\n",
            f"X=$(cat {secret})\nY=$(<{secret})\npython train.py --epochs $(head -1 {secret})\n",
        ):
            record = of_script(job, text)
            assert record.learning_rate is None
            assert record.epochs is None or record.epochs.value != 666

    def test_through_hydra_and_includes(self, job, secret):
        (job / "train.py").write_text(
            "import hydra\n@hydra.main(config_path='..', config_name='secret')\n"
            "def main(cfg):\n    fit(lr=cfg.lr)\nmain()\n"
        )
        assert (
            of(job, "python", "train.py", "--config-path=..", "--config-name=secret").learning_rate
            is None
        )
        assert of(job, "python", "train.py", f"--config-dir={secret.parent}").learning_rate is None
        (job / "base.yaml").write_text("_base_: ../secret.yaml\ninclude: ../secret.yaml\n")
        assert of(job, "python", "train.py", "--config", "base.yaml").learning_rate is None


def test_what_is_no_regular_file(job):
    os.mkfifo(job / "pipe.yaml")
    os.mkfifo(job / "module.py")
    (job / "loop.yaml").symlink_to("loop.yaml")
    (job / "one").symlink_to("two")
    (job / "two").symlink_to("one")
    (job / "zero.yaml").symlink_to("/dev/zero")
    (job / "directory.yaml").mkdir()
    with (job / "sparse.yaml").open("wb") as file:
        file.truncate(100_000_000_000)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(job / "socket.yaml"))
    listening.close()
    (job / "train.py").write_text(f"import module, one, two\n{PARSER}")
    for name in ("pipe", "loop", "one/x", "zero", "directory", "sparse", "socket", "missing"):
        record = of(job, "python", "train.py", "--config", f"{name}.yaml")
        assert record.epochs.value == 7
        assert record.learning_rate is None


def test_a_directory_and_a_pipe_in_the_place_of_the_entry_point(job):
    (job / "train.py").unlink()
    (job / "train.py").mkdir()
    os.mkfifo(job / "run.py")
    assert of(job).epochs is None
    assert of(job, "python", "run.py").epochs is None


def test_files_of_a_hundred_megabytes(job):
    line = b"lr: 0.1\n" * 125_000
    with (job / "large.yaml").open("wb") as file:
        for _ in range(100):
            file.write(line)
    (job / "helpers.py").hardlink_to(job / "large.yaml")
    (job / "train.py").write_text(f"from helpers import *\n{PARSER}")
    record = of(job, "python", "train.py", "--config", "large.yaml")
    assert (record.epochs.value, record.learning_rate) == (7, None)


@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 1000,
        bytes(range(256)) * 1000,
        "lr: 0.1\n".encode("utf-16"),
        b"lr: \xff\xfe0.1\n",
        b"\x1f\x8b\x08" + os.urandom(5000),
        b"x" * 900_000,
        b"lr: [" * 50_000,
        b"{" * 100_000,
        b"- " * 100_000,
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in b"bcdefghijk"
        ),
        b"".join(b"k%d: &k%d 1\n" % (n, n) for n in range(50_000)),
        b"lr: &a\n  b: *a\n",
        b"lr: !!python/object/apply:os.system ['touch ran']\n",
        b"lr: !!python/name:os.system\n",
        b"? [lr, [lr]]\n: 1\n",
        b"---\n" * 100_000,
        b"lr: 1" + b"_0" * 100_000,
        b"lr: " + b"9" * 100_000 + b"\n",
    ],
    ids=range(18),
)
@pytest.mark.parametrize("ending", ["yaml", "json", "toml", "ini", "cfg"])
def test_configs_that_are_none(job, content, ending):
    (job / f"c.{ending}").write_bytes(content)
    assert of(job, "python", "train.py", "--config", f"c.{ending}").epochs.value == 7
    assert not (job / "ran").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 400_000 + "]" * 400_000])
def test_json_of_any_depth(job, text):
    (job / "c.json").write_text(text)
    (job / "train.py").write_text(
        "import json, sys\nsettings = json.load(open('c.json'))\nepochs = 7\n"
        "for e in range(epochs): fit(settings)\n"
    )
    assert of(job).epochs.value == 7


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_ends_of_lines_and_byte_order_marks(job, ending, mark):
    (job / "train.py").write_bytes(mark + ending.join(PARSER.encode().split(b"\n")))
    epochs = of(job).epochs
    assert epochs.value == 7
    assert epochs.evidence[0].line == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + ")" * 5000,
        "x = " + "[" * 150 + "]" * 150,
        "x = " + "not " * 5000 + "1",
        "x = a" + ".b" * 50_000,
        "x = a" + "[0]" * 20_000,
        "x = " + "lambda: " * 2000 + "1",
        "".join(f"{' ' * n}if x:\n" for n in range(99)) + " " * 99 + "pass",
        "x = '" + "y" * 900_000 + "'",
        "x = [" + "1," * 50_000 + "]",
        "x = {" + "1: 2," * 30_000 + "}",
        "def f(): return f()\nf()",
        "def f(g): return g(g)\nf(f)",
        "class A(A): pass\nA()",
        "class A:\n    def __getattr__(self, n): return getattr(self, n)\nA().b",
        "x = []\nx.append(x)\nprint(x)\nfit(x)",
        "x = {}\nx['x'] = x\nfit(**x)",
        "x = 'a' * 10 ** 9\ny = x * 10 ** 9",
        "x = 10 ** 10 ** 10\ny = 1 << 10 ** 9",
        "x = [0] * 10 ** 9\ny = list(range(10 ** 12))",
        "x = 'a'.ljust(10 ** 10)\ny = f'{1:>{10 ** 10}}'\nz = '%*d' % (10 ** 10, 1)",
        "x = 'aaaa'.replace('a', 'a' * 10 ** 5)\n" + "x = x.replace('a', x)\n" * 30,
        "x = 'a'\n" + "x = x + x\n" * 200,
        "x = [1]\n" + "x = x + x\n" * 200,
        "x = (1,)\n" + "x = (x, x, x)\n" * 200 + "fit(x)\nprint(x == x)\n",
        "while True: pass",
        "for a in range(10 ** 18): x.append(a)",
        "import re\nre.match('(a+)+$', 'a' * 100)\n're'.join(['x'] * 10 ** 8)",
        "globals()['x'] = exec\nx('1/0')\neval('()' * 10000)\n__import__('os').system('touch ran')",
        "type('T', (object,), {'m': lambda s: s})().m()\nsetattr(__builtins__, 'x', 1)",
    ],
    ids=range(29),
)
def test_code_made_to_exhaust(job, text):
    (job / "train.py").write_text(f"{text}\n")
    assert of(job).entry_point.value == "train.py"
    assert not (job / "ran").exists()


@pytest.mark.slow
def test_ten_thousand_files_and_deep_directories(job, monkeypatch):
    monkeypatch.chdir(job)
    for number in range(10_000):
        (job / f"m{number}.py").touch()
    (job / "settings.py").write_text("EPOCHS = 9\n")
    parts = ["d"] * 500
    for _ in range(5):
        below = Path("/".join(parts[:100]))
        below.mkdir(parents=True)
        monkeypatch.chdir(below)
    (job / "train.py").write_text(
        f"import {'.'.join(parts)}\nfrom {'.'.join(parts)} import x\nfrom settings import EPOCHS\n"
        f"for e in range(EPOCHS): fit()\n"
    )
    assert of(job).epochs.value == 9


def test_circles_of_imports_and_configs(job):
    (job / "a.py").write_text("from b import *\nfrom b import EPOCHS\nimport train\n")
    (job / "b.py").write_text("from a import *\nfrom a import lr\nEPOCHS = 3\n")
    (job / "train.py").write_text("from a import EPOCHS, lr\nfor e in range(EPOCHS): fit(lr)\n")
    assert of(job).epochs.value == 3
    (job / "conf").mkdir()
    (job / "conf" / "a.yaml").write_text("defaults: [b, a]\nepochs: ${lr}\nlr: ${epochs}\n")
    (job / "conf" / "b.yaml").write_text("defaults: [a, /b]\nx: ${x}\n")
    (job / "train.py").write_text(
        "import hydra\n@hydra.main(config_path='conf', config_name='a')\n"
        "def main(cfg):\n    fit(cfg.lr, cfg.epochs, cfg.x)\nmain()\n"
    )
    record = of(job)
    assert (record.epochs, record.learning_rate) == (None, None)
    of_script(job, "source job.sh\nbash job.sh\n. ./job.sh\nf() { f; f; }\nf\npython train.py\n")


@pytest.mark.slow
def test_a_script_and_an_ini_of_a_megabyte(job):
    of_script(job, "echo 'some words' | sort > /dev/null # and a comment\n" * 18_000)
    of_script(job, 'A=$((A+1)); B="$B$A"; python train.py --epochs $A\n' * 2_000)
    of_script(job, "if [ $A ]; then\n" * 5_000)
    of_script(job, "f() { " * 5_000)
    of_script(job, "x" * 990_000)
    (job / "c.ini").write_text("[a]\n" + "key = value\n" * 80_000)
    assert of(job, "python", "train.py", "--config", "c.ini").epochs.value == 7


@pytest.mark.parametrize(
    "cells",
    [
        "not a list",
        [None, 1, "x", {}],
        [{"cell_type": "code"}],
        [{"cell_type": "code", "source": 5}],
        [{"cell_type": "code", "source": ["%%bash\n", "touch ran\n"]}],
        [{"cell_type": "code", "source": ["!touch ran\n", "%run x\n", "epochs = 3\n"]}],
        [{"cell_type": "code", "source": "x\n"}] * 20_000,
    ],
    ids=range(7),
)
def test_notebooks(job, cells):
    (job / "n.ipynb").write_text(json.dumps({"cells": cells}))
    of(job, "jupyter", "nbconvert", "--execute", "n.ipynb")
    assert not (job / "ran").exists()


def test_nothing_runs(job):
    ran = job / "ran"
    touch = f"touch {ran}"
    code = f"__import__('os').system({touch!r})"
    (job / "helpers.py").write_text(f"{code}\ndef f(x={code}): pass\n@{code}\nclass C: pass\n")
    for name in ("setup.py", "conftest.py", "sitecustomize.py", "usercustomize.py", "__init__.py"):
        (job / name).write_text(f"{code}\n")
    (job / "pyproject.toml").write_text(f'[build-system]\nrequires = []\nbackend = "{code}"\n')
    (job / "Makefile").write_text(f"X := $(shell {touch})\ntrain:\n\t{touch}\n\tpython train.py\n")
    (job / "c.yaml").write_text(f"lr: !!python/object/apply:os.system ['{touch}']\n")
    (job / "evil.pth").write_text(f"import os; {code}\n")
    (job / "train.py").write_text(
        f"from helpers import *\n{code}\n"
        "class Meta(type):\n"
        f"    def __new__(cls, *a): {code}; return super().__new__(cls, *a)\n"
        "class A(metaclass=Meta):\n"
        f"    x = {code}\n    def __init_subclass__(cls): {code}\n"
        f"f'{{{code}}}'\n@lambda f: {code}\ndef g(a: {code}) -> {code}: ...\n{PARSER}"
    )
    of(job, "python", "train.py", "--config", "c.yaml")
    of(job, "make", "train")
    of_script(
        job,
        f"{touch}\nX=`{touch}`\nY=$({touch})\ntrap '{touch}' EXIT\neval '{touch}'\n"
        f'cat <(\n{touch})\npython - <<E\n{code}\nE\npython -c "{code}"\n: > {ran}\n',
    )
    assert not ran.exists()


def test_files_that_change_and_vanish_while_they_are_read(job):
    stop = threading.Event()
    (job / "helpers.py").write_text("X = 3\n")
    (job / "train.py").write_text(
        "from helpers import *\nepochs = 7\nfor e in range(epochs): fit()\n"
    )

    def churn():
        number = 0
        while not stop.is_set():
            number += 1
            (job / "helpers.py").write_text(f"X = {number}\n" * (number % 50))
            (job / "helpers.py").unlink(missing_ok=True)
            (job / "helpers.py").symlink_to("/etc/passwd")
            (job / "helpers.py").unlink(missing_ok=True)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(10):
            advice = unwatched(job)
            assert advice.workload.epochs.value == 7
            assert "root:" not in str(advice)
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(job):
    (job / "c.yaml").write_text("lr: 0.1\n")
    (job / "c.yaml").chmod(0)
    assert of(job, "python", "train.py", "--config", "c.yaml").learning_rate is None


@pytest.mark.slow
def test_a_config_named_thousands_of_times(job):
    (job / "base.flags").write_text("--epochs=7\n--lr=0.1\n" * 20)
    defined = "".join(f"flags.DEFINE_integer('a{n}', {n}, '')\n" for n in range(20))
    (job / "train.py").write_text(f"from absl import app, flags\n{defined}app.run(main)\n")
    of_script(job, "python train.py" + " --flagfile=base.flags" * 5_000)
