"""What the local queue makes of sbatch's flags."""

from __future__ import annotations

import signal

import pytest

from schedmate.advisor.interpret.shell.directives import read_options
from schedmate.config import Settings
from schedmate.model import BadInput
from schedmate.model.warning_signal import WarningSignal, read_signal
from schedmate.service.usecases import local_flags, sbatch
from schedmate.service.usecases.local_flags import (
    MEANINGLESS,
    WORKING,
    read_local_flags,
)
from schedmate.site_settings import MailSettings

ENV = {"PATH": "/bin", "HOME": "/home/ada", "LR": "3", "SECRET": "x"}


def read(*words, **parts):
    line = sbatch.split([*words, "train.sh"])
    return read_local_flags(read_options(line.as_words()), Settings(**parts), ENV)


@pytest.mark.parametrize(
    ("words", "megabytes"),
    [
        (["--mem=512"], 512),
        (["--mem", "1G"], 1024),
        (["--mem=1500K"], 2),
        (["--mem=0"], None),
        (["--mem-per-cpu=100M", "-c", "1"], 100),
        (["--mem-per-gpu=200M", "--gpus=2"], 400),
        ([], None),
    ],
)
def test_memory(words, megabytes):
    assert read(*words).memory_mb == megabytes


@pytest.mark.parametrize(
    ("stated", "gpus"),
    [("gpu", 1), ("gpu:h100:2,gpu:a100:1", 3), ("gres/gpu=2", 2), ("none", 0)],
)
def test_gpus_as_generic_resources(stated, gpus):
    asked = read_options([f"--gres={stated}"])
    assert asked.gpus[0] == gpus
    assert read(f"--gres={stated}").options == {}


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], {"PATH", "HOME", "LR", "SECRET"}),
        (["--export=ALL"], {"PATH", "HOME", "LR", "SECRET"}),
        (["--export=NONE"], {"PATH", "HOME"}),
        (["--export=LR,ABSENT"], {"PATH", "HOME", "LR"}),
        (["--export=ALL,SEED=4"], {"PATH", "HOME", "LR", "SECRET", "SEED"}),
    ],
)
def test_export(words, names):
    found = read(*words).env

    assert set(found) == names
    assert found.get("SEED", "4") == "4"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("USR1", WarningSignal(signal.SIGUSR1, 60.0, first_only=False)),
        ("B:SIGTERM@120", WarningSignal(signal.SIGTERM, 120.0, first_only=True)),
        ("10@5", WarningSignal(10, 5.0, first_only=False)),
    ],
)
def test_signal(text, meant):
    assert read_signal(text) == meant


def test_what_the_run_needs_is_kept():
    found = read("--exclusive", "--open-mode=append", "--signal=USR1@30", "-t5", "-c1", "-pgpu")

    assert found.options == {"exclusive": "1", "open-mode": "append", "signal": "USR1@30"}
    assert found.cpus == 1
    assert found.notes == ("without meaning on one machine, and left out: --partition",)


@pytest.mark.parametrize(("enforced", "said"), [(True, 0), (False, 1)])
def test_a_bound_that_is_only_watched_is_named_as_such(monkeypatch, enforced, said):
    monkeypatch.setattr(local_flags, "memory_is_enforced", lambda: enforced)
    assert sum("ended above 512 MB" in note for note in read("--mem=512").notes) == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-N2"], "has one node"),
        (["-n4"], "starts one task"),
        (["-C", "a100"], "cannot do --constraint: choose a kind of GPU"),
        (["--mem=lots"], "500M or 16G"),
        (["--mem=900T"], "more than the"),
        (["-c", "99999"], "cores of this machine"),
        (["--signal=USR1"], "submit with --time"),
        (["--signal=NOPE", "-t5"], "[B:]SIGNAL[@SECONDS]"),
        (["--open-mode=w"], "append or truncate"),
        (["--export=a-b"], "names of variables"),
        (["--mail-type=END"], "no mail can be sent from here"),
        (["--wait"], "logs -f waits"),
        (["--gres=shard:2"], "--gres names shard:2, and the local queue hands out"),
        (["--gres=gpu:2,nvme:1"], "--gres names nvme:1"),
        (["--gres=gpu:"], "--gres names gpu:, and"),
        (["--tres-per-task=cpu=4,gres/gpu=1"], "--tres-per-task names cpu=4"),
    ],
)
def test_what_it_cannot_do_is_refused_in_a_sentence(words, said):
    with pytest.raises(BadInput, match=said.replace("[", r"\[")):
        read(*words)


def test_mail_is_taken_where_it_can_be_sent():
    words = ("--mail-type=END,fail", "--mail-user=ada@example.org")

    found = read(*words, mail=MailSettings(host="mail.example.org"))

    assert found.options == {"mail-type": "END,FAIL", "notify": "ada@example.org"}


def test_every_flag_it_takes_is_one_of_slurm():
    assert sbatch.FLAGS | {"tres-per-node"} >= WORKING | MEANINGLESS
    assert not WORKING & MEANINGLESS
