"""From sbatch's command line to a queued job."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from schedmate.advisor import Advisor
from schedmate.config import Settings
from schedmate.model import BadInput, JobState, NotFound
from schedmate.service.usecases import sbatch
from schedmate.service.usecases.submission import submission_of
from schedmate.service.usecases.submit import submit
from schedmate.site_settings import MailSettings
from schedulers.local_site import wait_for


@pytest.mark.parametrize(
    ("words", "flags", "job", "is_command"),
    [
        ("job.sh", "", "job.sh", False),
        ("job.sh --epochs 3", "", "job.sh --epochs 3", False),
        ("--gpus=2 job.sh", "--gpus=2", "job.sh", False),
        ("--gpus 2 job.sh -x", "--gpus 2", "job.sh -x", False),
        ("-G2 -N 1 job.sh", "-G2 -N 1", "job.sh", False),
        ("--exclusive job.sh", "--exclusive", "job.sh", False),
        ("--exclusive=user job.sh", "--exclusive=user", "job.sh", False),
        ("--nice job.sh", "--nice", "job.sh", False),
        ("--nice=5 job.sh", "--nice=5", "job.sh", False),
        ("-H -Q --parsable job.sh", "-H -Q --parsable", "job.sh", False),
        ("-- echo --gpus 2", "", "echo --gpus 2", True),
        ("-J name -- echo", "-J name", "echo", True),
        ("-- -- echo -- x", "", "echo -- x", True),
        ("job.sh -- x", "", "job.sh -- x", False),
        ("--gpus 2", "--gpus 2", "", False),
        ("--gpus", "--gpus", "", False),
        ("--", "", "", True),
        ("", "", "", False),
    ],
)
def test_the_flags_of_sbatch_end_where_the_job_begins(words, flags, job, is_command):
    line = sbatch.split(words.split())

    assert (line.flags, line.job) == (tuple(flags.split()), tuple(job.split()))
    assert line.is_command is is_command


@pytest.mark.parametrize(
    ("words", "options", "job"),
    [
        ("-N2 job.sh", {"nodes": "2"}, "job.sh"),
        ("-HQN 2 job.sh", {"hold": "", "quiet": "", "nodes": "2"}, "job.sh"),
        ("-Jhelp job.sh", {"job-name": "help"}, "job.sh"),
        ("-koff job.sh", {"no-kill": "off"}, "job.sh"),
        ("-k job.sh", {"no-kill": ""}, "job.sh"),
        ("--part main job.sh", {"partition": "main"}, "job.sh"),
        ("--tasks-per-node=2 job.sh", {"ntasks-per-node": "2"}, "job.sh"),
        ("--kill-on-invalid-dep yes job.sh", {"kill-on-invalid-dep": "yes"}, "job.sh"),
        ("--contiguous --spread-job job.sh", {"contiguous": "", "spread-job": ""}, "job.sh"),
        ("--get-user-env job.sh", {"get-user-env": ""}, "job.sh"),
        ("-n1 : -n 2 job.sh", {"ntasks": "1"}, "job.sh"),
        ("--comment --json job.sh", {"comment": "--json"}, "job.sh"),
        ("--of-a-plugin job.sh", {}, "job.sh"),
        ("--of-a-plugin=3 -Z job.sh", {}, "job.sh"),
    ],
)
def test_flags_are_read_as_getopt_long_reads_them(words, options, job):
    line = sbatch.split(words.split())

    assert (dict(line.options), " ".join(line.job)) == (options, job)
    again = sbatch.split([*line.as_words(), *line.job])
    assert (again.options, again.job) == (line.options, line.job)


def test_own_flags_are_no_values_and_no_words_of_the_job():
    words = ["--json", "--comment", "--json", "-Jx", "job.sh", "--json"]
    assert sbatch.part(words, ("--json",)) == (["--json"], words[1:])


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python3 train.py --lr 1", "train.py"),
        ("/usr/bin/python3.11 -u src/train.py", "train.py"),
        ("torchrun --nproc-per-node 2 train.py data.py", "train.py"),
        ("python -m lab.train --config a.py", "lab.train"),
        ("uv run python train.py", "train.py"),
        ("bash -x run.sh a.py", "run.sh"),
        ("python3 -c 1 train.py", "python3"),
        ("./simulate train.py", "simulate"),
        ("python3", "python3"),
    ],
)
def test_a_command_is_named_after_what_it_runs(place, command, name):
    assert submission_of(place.settings, ["--", *command.split()]).name == name
    assert submission_of(place.settings, ["-Jx", "--", *command.split()]).name == "x"


def test_our_own_flags_stand_anywhere_before_the_job(tmp_path, monkeypatch):
    """Whatever is varied beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sh").write_text("#!/bin/sh\n")
    words = "--sweep lr=1,2 --host box2 --json --sweep=seed=1..2%3 --notify=a@b -Jx job.sh --host h"

    hosts, words = sbatch.take_own(words.split(), "--host")
    ours, words = sbatch.part(words, ("--json",))

    assert (hosts, ours) == (["box2"], ["--json"])
    queued = submission_of(Settings(scheduler="local", mail=MailSettings(host="m")), words)
    assert queued.options["notify"] == "a@b"
    assert (len(queued.tasks), queued.most_tasks, queued.name) == (4, 3, "x")
    assert queued.tasks[3].command[1:] == ("--host", "h", "--lr", "2", "--seed", "2")
    for flag in ("--host", "--notify", "--commands", "--sweep"):
        with pytest.raises(BadInput, match=f"{flag} wants"):
            sbatch.take_own([flag], flag)


def test_a_flag_that_sbatch_does_not_have_is_refused_by_the_local_scheduler(place):
    with pytest.raises(BadInput, match="there is no flag --gpuss"):
        submission_of(place.settings, ["--gpuss=2", "--wrap", "true"])


@pytest.fixture
def here(place, monkeypatch):
    monkeypatch.chdir(place.work)
    return place


SCRIPT = """#!/bin/bash
#SBATCH --job-name=mine --gpus=2
#SBATCH --time=01:00:00
#SBATCH -o out-%j.txt
#SBATCH --nice=3
echo ran $1
"""


def test_the_directives_of_a_script_are_honoured_and_flags_outrank_them(here):
    (here.work / "job.sh").write_text(SCRIPT)

    submission = submission_of(here.settings, ["--time=2:00", "-J", "other", "job.sh", "a b"])

    assert submission.name == "other"
    assert (submission.request.gpus, submission.request.time_limit_s) == (2, 120)
    assert (submission.stdout, submission.stderr, submission.nice) == ("out-%j.txt", None, 3)
    assert submission.command == (str(here.work / "job.sh"), "a b")
    assert submission.script == str(here.work / "job.sh")
    assert submission.passthrough == ()


def test_slurm_gets_the_flags_as_they_are(here):
    (here.work / "job.sh").write_text(SCRIPT)
    slurm = replace(here.settings, scheduler="slurm")

    submission = submission_of(slurm, ["--qos=x", "job.sh"])

    assert submission.passthrough == ("--qos=x",)
    assert (submission.stdout, submission.nice) == (None, 0)


def test_a_command_and_a_python_file(here):
    (here.work / "train.py").write_text("#SBATCH --gpus=8\nprint(1)\n")
    settings = here.settings

    command = submission_of(settings, ["--", "echo", "--gpus", "2"])
    program = submission_of(settings, ["train.py", "--epochs", "3"])

    assert (command.command, command.script, command.name) == (
        ("echo", "--gpus", "2"),
        None,
        "echo",
    )
    assert program.command == ("python3", "train.py", "--epochs", "3")
    assert (program.script, program.name, program.request.gpus) == (None, "train.py", 0)


def test_a_directory_that_is_gone(here, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(BadInput, match="the directory that you are in is gone"):
        submission_of(here.settings, ["--", "true"])


def test_another_directory(here, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "job.sh").write_text("#!/bin/sh\ntrue\n")

    submission = submission_of(here.settings, ["-D", str(tmp_path / "there"), "job.sh"])

    assert submission.workdir == str(tmp_path / "there")
    assert submission.script == str(tmp_path / "there" / "job.sh")


@pytest.mark.parametrize(
    ("words", "kind", "sentence"),
    [
        ([], BadInput, "name a script, or a command behind `--`"),
        (["--gpus", "2"], BadInput, "name a script"),
        (["--"], BadInput, "name a script"),
        (["missing.sh"], NotFound, r"there is no script .*missing\.sh; a command goes behind"),
        (["."], BadInput, "is not a file"),
        (["--nice=much", "--", "true"], BadInput, "--nice wants a whole number, not 'much'"),
    ],
)
def test_bad_input_is_a_sentence(here, words, kind, sentence):
    with pytest.raises(kind, match=sentence):
        submission_of(here.settings, words)


@pytest.mark.parametrize("content", [b"#!\xff\xfe\n" * 1000, b"#!/x\n#SBATCH --time='unclosed\n"])
def test_odd_scripts_are_still_submitted(here, content):
    (here.work / "odd").write_bytes(content)

    assert submission_of(here.settings, ["odd"]).script == str(here.work / "odd")


@pytest.mark.processes
def test_a_script_on_standard_input(here, monkeypatch):
    text = b"#!/bin/sh\n#SBATCH --gpus=0 --comment=x\necho piped $0 $SLURM_JOB_NAME > piped\n"

    def submitted(data, *words):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return submission_of(here.settings, words)

    queued = submitted(text, "-t5")
    assert (queued.name, queued.request.no_gpus, queued.request.time_limit_s) == ("sbatch", 1, 300)
    assert queued.options == {"comment": "x"}
    submit(here.settings, queued)
    wait_for((here.work / "piped").exists, "its run")
    wait_for(lambda: (here.work / "piped").read_text().endswith("script sbatch\n"), "its name")
    for data, words in ((b"", "name a script"), (b"echo 1\n", "has to begin with #!")):
        with pytest.raises(BadInput, match=words):
            submitted(data)


@pytest.mark.processes
def test_a_submitted_job_runs_and_its_advice_is_kept_under_its_id(here):
    (here.work / "job.sh").write_text(SCRIPT)
    done = submit(here.settings, submission_of(here.settings, ["job.sh", "well"]))

    wait_for(lambda: here.ended(done.job_id), "the end")

    assert here.job(done.job_id).state is JobState.COMPLETED
    assert here.lines(f"out-{done.job_id}.txt") == ["ran well"]
    with here.store() as store:
        assert store.advice(done.job_id).advice == done.advised.advice


@pytest.mark.processes
def test_advice_is_never_in_the_way(here, monkeypatch, caplog):
    def stumble(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(Advisor, "advise", stumble)

    done = submit(here.settings, here.submission("true"))

    assert done.advised is None
    assert here.job(done.job_id).id == done.job_id
    assert "no advice" in caplog.text


@pytest.mark.processes
@pytest.mark.parametrize(("mode", "nice"), [("observe", 0), ("assist", -5000), ("act", -5000)])
def test_its_place_in_the_queue_is_set_unless_only_observing(here, mode, nice):
    here.mode = mode

    job_id = here.submit("true")

    assert here.job(job_id).nice == nice


@pytest.mark.parametrize(
    "flags",
    [["--test-only"], ["--wait"], ["-C", "a100"], ["-N2"], ["-w", "elsewhere"], ["-n4"]],
    ids=" ".join,
)
def test_what_only_slurm_can_do_is_refused_rather_than_passed_over(here, flags):
    (here.work / "job.sh").write_text(SCRIPT)
    with pytest.raises(BadInput, match="the local queue"):
        submission_of(here.settings, [*flags, "job.sh"])
    slurm = replace(here.settings, scheduler="slurm")
    assert submission_of(slurm, [*flags, "job.sh"]).passthrough == tuple(flags)


@pytest.mark.parametrize("flags", [["--wrap=echo a b"], ["--wrap", "echo a b"]], ids=str)
def test_a_wrapped_command_runs_in_a_shell(here, flags):
    slurm = replace(here.settings, scheduler="slurm")
    for settings, passed in ((here.settings, ()), (slurm, ("--qos=x",))):
        submission = submission_of(settings, ["--qos=x", *flags])
        assert submission.command == ("/bin/sh", "-c", "echo a b")
        assert submission.passthrough == passed


@pytest.mark.processes
def test_what_ended_without_a_daemon_is_remembered_at_the_next_submission(here):
    (here.work / "train.py").write_text("print('step 1/1')\n")
    words = ["train.py"]
    first = submit(here.settings, submission_of(here.settings, words))
    wait_for(lambda: here.ended(first.job_id))
    second = submit(here.settings, submission_of(here.settings, words))
    assert second.advised.advice.prediction.basis == "identical"


@pytest.mark.parametrize(
    "flag", ["--time=x", "--time=-5", "--time=99999999999", "--gpus=-1", "--gpus=1e9", "--nodes=0"]
)
def test_what_is_no_amount_is_refused(place, flag):
    with pytest.raises(BadInput, match=f"^{flag.partition('=')[0]} wants"):
        submission_of(place.settings, [flag, "--wrap", "true"])


@pytest.mark.parametrize("flag", ["--time=0", "--time=0:00:00", "--time=UNLIMITED", "-t", "-t0"])
def test_no_limit_is_a_limit_too(place, flag):
    """Of 0 seconds it would be the end of every job."""
    words = [flag, "0"] if flag == "-t" else [flag]
    assert submission_of(place.settings, [*words, "--wrap", "true"]).request.time_limit_s is None
