"""Trees and texts made to break a reader: an answer all the same, and nothing leaked or run."""

import os
import pwd
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from files.people import let_all_reach
from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.python.imports import MAX_FILES, with_local_imports
from schedmate.advisor.launch.resolve import resolve
from schedmate.model.account import account_name
from schedmate.testing.history import MemoryHistory

ANY_TEXT = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
SHELLISH = st.lists(
    st.sampled_from(
        [
            *("python ", "train.py ", "$", "${", "}", "$(", ")", "`", "'", '"', "\\", "\n", ";"),
            *("<<EOF\n", "EOF\n", "A=", "A=(", "$A", "${A:-", "if ", "fi\n", "for A in ", "do "),
            *("{ ", "} ", "&& ", "| tee ", "> x ", "#SBATCH --gres=gpu:", "cd ", "\x00", "\r", "é"),
            *("bash -c ", "eval ", "env ", "srun ", "--epochs ", "-m ", "source ", "case x in "),
        ]
    ),
    max_size=40,
).map("".join)


def advise(target):
    memory = MemoryHistory()
    return Advisor(memory, memory).advise(target).advice


def of_command(directory, *command):
    return advise(Target.from_command(directory, command))


def of_script_text(directory, text, user=None):
    return advise(
        Target(
            workdir=directory,
            command=("job.sh", "1"),
            script_text=text,
            script_name="job.sh",
            args=("1",),
            user=user or account_name(),
            name="job",
        )
    )


class TestAnyText:
    @ANY_TEXT
    @given(text=st.one_of(st.text(), SHELLISH))
    def test_as_a_script(self, tmp_path, text):
        of_script_text(tmp_path, text)

    @ANY_TEXT
    @given(
        content=st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "ignore")))
    )
    def test_as_a_python_file(self, tmp_path, content):
        (tmp_path / "train.py").write_bytes(content)
        of_command(tmp_path, "python", "train.py", "--epochs", "3")

    @ANY_TEXT
    @given(words=st.lists(st.text(), min_size=1))
    def test_as_a_command(self, tmp_path, words):
        of_command(tmp_path, *words)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 100,
        b"\xff\xfeepochs = 3",
        b"# -*- coding: latin-1 -*-\nepochs = 3 # \xe9\n",
        b"# coding: no-such-codec\nepochs = 3\n",
        b"(" * 100_000,
        b"-" * 50_000 + b"1",
        b"x = " + b"[" * 90 + b"]" * 90,
        b"x = " + b"1+" * 20_000 + b"1",
        b"epochs = 9" + b"9" * 5000,
        b"x = '\\d'\n",
        b"import argparse\np.add_argument('--epochs', default=2**2**2**2**2**2)\n",
    ],
    ids=range(12),
)
def test_python_files_that_are_none(tmp_path, content):
    (tmp_path / "train.py").write_bytes(content)
    advice = of_command(tmp_path, "python", "train.py")
    assert advice.workload.entry_point.value == "train.py"


def test_other_encodings_are_read(tmp_path):
    (tmp_path / "train.py").write_bytes(b"# coding: latin-1\nepochs = 3  # \xe9t\xe9\n")
    epochs = of_command(tmp_path, "python", "train.py").workload.epochs
    assert epochs.value == 3
    assert epochs.evidence[0].text == "epochs = 3  # été"


def test_files_that_are_no_files(tmp_path):
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "directory.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate(100_000_000)
    for name in ("loop", "directory", "pipe", "device", "huge"):
        (tmp_path / "train.py").write_text(f"import {name}\nepochs = 4\n")
        assert of_command(tmp_path, "python", "train.py").workload.epochs.value == 4
        of_command(tmp_path, "python", f"{name}.py")
        of_command(tmp_path, "bash", f"{name}.py")


def test_imports_in_a_circle(tmp_path):
    (tmp_path / "train.py").write_text(
        "from a import *\nimport train\nfor e in range(epochs): pass\n"
    )
    (tmp_path / "a.py").write_text("from b import *\n")
    (tmp_path / "b.py").write_text("import a, train\nepochs = 6\n")
    assert of_command(tmp_path, "python", "train.py").workload.epochs.value == 6


@pytest.mark.slow
def test_thousands_of_imports_cost_no_more_than_the_limit(tmp_path):
    for number in range(2000):
        (tmp_path / f"m{number}.py").write_text(f"import m{number + 1}\n")
    (tmp_path / "train.py").write_text("".join(f"import m{n}\n" for n in range(2000)))
    target = Target.from_command(tmp_path, ("python", "train.py"))
    entry = resolve(target).main.entry
    assert len(with_local_imports(entry, target.files)) == MAX_FILES


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "$(" * 20_000,
        "'" * 20_001,
        '"$(' * 10_000,
        "${A:-" * 10_000,
        "A=(" * 10_000,
        "<<E\n" * 10_000,
        "a=$a$a$a$a\n" * 10_000,
        "python x.py " * 10_000,
        "env " * 40_000,
        "\\\n" * 40_000,
        "if x; then " * 10_000,
        "TOKEN=" * 20_000,
        "sk-" * 40_000,
        "#SBATCH --gres=" + "gpu:" * 20_000,
    ],
    ids=range(14),
)
def test_long_scripts_end_in_time(tmp_path, text):
    started = time.process_time()
    of_script_text(tmp_path, text)
    assert time.process_time() - started < 20


def test_imports_do_not_lead_out_of_the_job(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    (tmp_path / "secret.py").write_text("epochs = 666\n")
    (job / "linked.py").symlink_to(tmp_path / "secret.py")
    for line in ("import linked", "from .. import secret", "from ... import secret"):
        (job / "train.py").write_text(f"{line}\n")
        assert of_command(job, "python", "train.py").workload.epochs is None


@pytest.mark.processes
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read what others may not")
def test_root_shows_a_user_only_what_that_user_may_read(tmp_path):
    user = pwd.getpwnam("nobody").pw_name
    let_all_reach(tmp_path)
    file = tmp_path / "train.py"
    file.write_text("epochs = 3\n")
    file.chmod(0o600)
    secret = of_script_text(tmp_path, "python train.py\n", user=user)
    assert "epochs = 3" not in str(secret)
    file.chmod(0o644)
    assert "epochs = 3" in str(of_script_text(tmp_path, "python train.py\n", user=user))


def test_nothing_is_run(tmp_path):
    (tmp_path / "train.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    touch = f"touch {tmp_path}/ran"
    of_script_text(tmp_path, f"{touch}\nA=$({touch})\n`{touch}`\npython train.py\n")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"for i in range({bound}): pass"
            for bound in ("10**30", "-10**30, 10**30", "0, 10**30, 7")
        ),
        "'a' * (-(10**30))",
        "'abc'.split('b', 10**30)",
        "[1] * 10**30",
        "'abc'[10**30:]",
    ],
)
def test_numbers_beyond_a_machine_s_are_read(tmp_path, line):
    (tmp_path / "big.py").write_text(f"import torch\nx = 1\n{line}\nepochs = 3\n")
    memory = MemoryHistory()
    target = Target.from_command(tmp_path, ("python", "big.py"))
    advised = Advisor(memory, memory).advise(target)
    assert advised.advice.workload.entry_point.value == "big.py"
    assert advised.advice.workload.epochs.value == 3
