"""`schedmate submit` in place of sbatch on a real cluster: the same job, words and exit codes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.model import BadInput
from schedmate.model.batch_script import check_batch_script
from warm_python import OF_VERBS, warm_python

pytestmark = pytest.mark.slurm

JOB = "#!/bin/bash\n#SBATCH --job-name=mine --gpus=1\n#SBATCH -t 5\necho $1\n"
HET = "#!/bin/bash\n#SBATCH -N1 --job-name=first\n#SBATCH hetjob\n#SBATCH -N1\ntrue\n"
PATIENCE_S = 120

LINES: list[list[str]] = [
    ["job.sh"],
    ["job.sh", "--gpus", "7", "-x", "--", "a b", "--json"],
    ["./job.sh", "1"],
    ["-N2", "job.sh"],
    ["-N", "2", "job.sh"],
    ["--nodes=2", "job.sh"],
    ["--nodes", "1-2", "job.sh"],
    ["--nodes=1", "--ntasks-per-node=2", "-c", "2", "job.sh"],
    ["--tasks-per-node=2", "job.sh"],
    ["--part=main", "--tim", "3", "--job-n", "short", "job.sh"],
    ["-HQ", "job.sh"],
    ["-HJheld", "job.sh"],
    ["-Jhelp", "job.sh"],
    ["--hold", "job.sh"],
    ["--exclusive", "job.sh"],
    ["--exclusive=user", "job.sh"],
    ["--contiguous", "--spread-job", "job.sh"],
    ["--nice", "job.sh"],
    ["--nice=77", "job.sh"],
    ["-k", "job.sh"],
    ["-koff", "job.sh"],
    ["--no-kill=off", "job.sh"],
    ["--requeue", "job.sh"],
    ["--no-requeue", "job.sh"],
    ["--get-user-env", "--export=NONE", "job.sh"],
    ["--propagate=NONE", "-s", "-O", "job.sh"],
    ["--kill-on-invalid-dep", "yes", "job.sh"],
    ["--dependency", "singleton", "job.sh"],
    ["-d", "afterok:99999999", "job.sh"],
    ["--begin=2037-01-01T00:00:00", "job.sh"],
    ["--array=1-3%1", "job.sh"],
    ["-a", "5,7", "-o", "out-%A_%a.txt", "job.sh"],
    ["--gres=gpu:2", "--mem", "1G", "--tmp=5", "job.sh"],
    ["-G", "a100:1", "--comment", "a word, and --json", "job.sh"],
    ["--mail-type=END", "--mail-user", "someone", "--signal=B:USR1@60", "job.sh"],
    ["--open-mode=append", "-e", "err", "-i", "/dev/null", "job.sh"],
    ["-D", "/tmp", "job.sh"],
    ["--time-min=1", "-t", "1-0", "--deadline=2037-01-01", "job.sh"],
    ["--wckey=x", "--use-min-nodes", "--switches=1@5", "job.sh"],
    ["-w", "node0", "-x", "node1", "job.sh"],
    ["--parsable", "job.sh"],
    ["--parsable", "-Q", "job.sh"],
    ["--wrap", "echo 'a  b'; true"],
    ["--wrap=true", "-J", "wrapped"],
    ["--wrap=true", "job.sh"],
    ["--ntasks=1", ":", "--ntasks=2", "job.sh"],
    ["het.sh"],
    ["--", "job.sh", "x"],
    ["script.py", "--json"],
    ["-v", "job.sh"],
    # what sbatch refuses
    ["missing.sh"],
    ["dos.sh"],
    ["plain.txt"],
    ["empty"],
    ["blank"],
    ["nul.sh"],
    ["noise"],
    ["/bin/true"],
    ["."],
    ["-p", "nowhere", "job.sh"],
    ["-phigh", "job.sh"],
    ["--nodes=999", "job.sh"],
    ["--nodes=x", "job.sh"],
    ["--time=never", "job.sh"],
    ["--no-such-flag", "job.sh"],
    ["--no-such-flag=1", "job.sh"],
    ["--nod=1", "job.sh"],
    ["-Z", "job.sh"],
    ["--gpus"],
    ["-t"],
    ["--gres=gpu:99", "job.sh"],
    ["--account=nobody-has-this", "--qos=none", "job.sh"],
    ["-M", "elsewhere", "job.sh"],
    ["--usage"],
    ["-V"],
    ["--version"],
]
STDIN = {
    "heredoc": ([], JOB),
    "heredoc with flags": (["-N1", "--parsable"], JOB),
    "empty": ([], ""),
    "no script": ([], "echo hello\n"),
}
ENVIRONMENTS = [
    {"SBATCH_PARTITION": "main", "SBATCH_TIMELIMIT": "7", "SBATCH_JOB_NAME": "by variable"},
    {"SBATCH_EXPORT": "NONE"},
    {"SBATCH_PARTITION": "nowhere"},
    {"SBATCH_GPUS": "2", "SBATCH_NO_REQUEUE": "1", "SBATCH_ARRAY_INX": "1-2"},
]


@pytest.fixture(scope="module")
def waiting_cluster(slurm_cluster):
    """No job starts, so that all of them show the same."""
    change("State=DOWN")
    yield slurm_cluster
    subprocess.run(["scancel", "--user=root"], check=False)
    change("State=UP")


def change(setting):
    subprocess.run(["scontrol", "update", "PartitionName=main", setting], check=True)


@pytest.fixture
def work(tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    for name, text in {
        "job.sh": JOB,
        "het.sh": HET,
        "dos.sh": "#!/bin/bash\r\ntrue\r\n",
        "plain.txt": "no script\n",
        "empty": "",
        "blank": " \n\n",
        "nul.sh": "#!/bin/bash\necho a\0b\n",
        "noise": "\x03\x01Å\x00ÿ" * 500,
        "script.py": "#!/usr/bin/env python3\n#SBATCH -J python\nprint(1)\n",
    }.items():
        (place / name).write_text(text)
    return place


def environment(work, **more):
    base = {name: value for name, value in os.environ.items() if not name.startswith("SBATCH_")}
    ours = {"SCHEDMATE_SCHEDULER": "slurm", "SCHEDMATE_STATE_DIR": str(work.parent / "state")}
    return {**base, **ours, "SCHEDMATE_LLM__ENABLED": "false", **more}


def run(command, work, *, text="", **more):
    done = subprocess.run(
        command,
        cwd=work,
        input=text.encode(),
        capture_output=True,
        env=environment(work, **more),
        check=False,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


SUBMIT = [sys.executable, "-m", "schedmate", "submit"]


@pytest.fixture(scope="module")
def both(waiting_cluster):
    """What each printed, and what became of the job, ids and times aside."""
    with warm_python(Path(sys.executable), OF_VERBS) as python:

        def both(words, work, *, text="", **more):
            theirs = described(run(["sbatch", *words], work, text=text, **more))
            ours = python.run(
                ["-m", "schedmate", "submit", *words],
                cwd=work,
                env=environment(work, **more),
                text=text.encode(),
            )
            return theirs, described((ours[0], ours[1].decode(), ours[2].decode()))

        yield both


def described(ran):
    code, out, err = ran
    found = re.search(r"\d+", out)
    job = shown(found[0]) if found is not None and code == 0 and "slurm" not in out else newest()
    return code, re.sub(r"\d+", "N", out), without_numbers(err), job


def newest():
    """Of a submission that printed no id; an empty text where nothing waits."""
    ids = subprocess.check_output(["squeue", "-h", "-o", "%A"], text=True).split()
    return shown(max(ids, key=int)) if ids else ""


def shown(job_id):
    text = subprocess.check_output(["scontrol", "-o", "show", "job", job_id], text=True)
    subprocess.run(["scancel", job_id], check=True)
    changing = "SubmitTime|EligibleTime|AccrueTime|LastSchedEval|EndTime|Priority|Reason|Scheduler"
    text = re.sub(rf"\b({changing}|StartTime|SuspendTime)=\S*", "", text)
    return re.sub(r"(JobId|JobIdSet|slurm|out)([=-])[\d,-]+", r"\1\2ID", text)


def without_numbers(text):
    times = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+", "TIME", text)
    return re.sub(r"(?<=[Jj]ob )\d+|(?<=pid )\d+|\d{3,}", "N", times)


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_a_command_line_does_what_it_does_with_sbatch(both, work, words):
    theirs, ours = both(words, work)
    assert ours == theirs


@pytest.mark.parametrize(
    "name", ["job.sh", "script.py", "dos.sh", "plain.txt", "empty", "blank", "nul.sh", "noise"]
)
def test_our_check_of_a_script_is_that_of_sbatch(waiting_cluster, work, name):
    code, _, _ = run(["sbatch", name], work)
    newest()
    try:
        check_batch_script(name, (work / name).read_bytes())
    except BadInput:
        assert code != 0
    else:
        assert code == 0


@pytest.mark.parametrize("case", STDIN)
def test_a_script_on_standard_input(both, work, case):
    words, text = STDIN[case]
    theirs, ours = both(words, work, text=text)
    assert ours == theirs


@pytest.mark.parametrize("variables", ENVIRONMENTS, ids=" ".join)
def test_variables_of_sbatch(both, work, variables):
    theirs, ours = both(["job.sh"], work, **variables)
    assert ours == theirs
    theirs, ours = both(["--time=3", "-N1", "job.sh"], work, **variables)
    assert ours == theirs


def test_the_table_is_long_enough():
    assert len(LINES) + len(STDIN) + 2 * len(ENVIRONMENTS) >= 40


@pytest.fixture
def running_cluster(slurm_cluster):
    change("State=UP")
    return slurm_cluster


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--wait", "--wrap=exit 3"], 3),
        (["-W", "--parsable", "--wrap=true"], 0),
        (["--test-only", "job.sh"], 0),
        (["--test-only", "-N", "99", "job.sh"], 1),
    ],
    ids=str,
)
def test_what_needs_a_cluster_that_works(running_cluster, work, words, code):
    theirs, ours = (run([*head, *words], work) for head in (["sbatch"], SUBMIT))
    assert ours[0] == theirs[0] == code
    numbers = re.compile(r"\d+")
    assert [numbers.sub("N", text) for text in ours[1:]] == [
        numbers.sub("N", text) for text in theirs[1:]
    ]


def test_a_waiting_submission_prints_the_id_at_once(running_cluster, work):
    with subprocess.Popen(
        [*SUBMIT, "--wait", "--wrap=sleep 3; exit 4"],
        cwd=work,
        env=environment(work),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith("Submitted batch job ")
        assert process.poll() is None
        assert process.wait(PATIENCE_S) == 4


def test_accounting_shows_the_line_as_sbatch_got_it(running_cluster, work):
    words = ["--parsable", "-t1", "--comment=a b", "job.sh", "x"]
    lines = set()
    for head in (["sbatch"], SUBMIT):
        job_id = run([*head, *words], work)[1].strip()
        question = ["sacct", "-n", "-X", "-P", "-j", job_id, "-o", "SubmitLine"]
        deadline = time.monotonic() + PATIENCE_S
        while not (line := subprocess.check_output(question, text=True).strip()):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        lines.add(line)
    assert lines == {"sbatch --parsable -t1 --comment=a b job.sh x"}


def test_the_job_gets_the_environment_and_the_input_that_sbatch_would_give_it(
    running_cluster, work
):
    (work / "env.sh").write_text("#!/bin/bash\nenv | sort; cat; umask; ulimit -a; echo $0 $@\n")
    printed = []
    for head in (["sbatch"], SUBMIT):
        words = ["--wait", "-Q", "-o", "out.txt", "env.sh", "a b"]
        assert run([*head, *words], work, MINE="one\ntwo")[0] == 0
        printed.append(re.sub(r"\d+", "N", (work / "out.txt").read_text()))
    assert "MINE=one" in printed[0]
    assert printed[1] == printed[0]


ADVICE = "expected to run"


def in_a_terminal(work, *words, **more):
    """What a person sees of stderr."""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*SUBMIT, *words],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment(work, **more),
        check=False,
        timeout=PATIENCE_S,
    )
    os.write(theirs, b"\0")
    os.close(theirs)
    seen = b""
    while not seen.endswith(b"\0"):
        seen += os.read(ours, 4096)
    os.close(ours)
    return done.returncode, done.stdout.decode(), seen.decode().strip("\0")


def test_advice_is_for_terminals_unless_it_is_wanted_elsewhere(running_cluster, work):
    (work / "learn.sh").write_text("#!/bin/bash\n#SBATCH --gpus=8 -H\npython3 gone.py\n")
    plain = run([*SUBMIT, "learn.sh"], work)
    always = run([*SUBMIT, "learn.sh"], work, SCHEDMATE_SUBMIT__ADVICE="always")
    seen = in_a_terminal(work, "learn.sh")
    never = in_a_terminal(work, "learn.sh", SCHEDMATE_SUBMIT__ADVICE="never")

    assert [ran[0] for ran in (plain, always, seen, never)] == [0, 0, 0, 0]
    assert plain[2] == never[2] == ""
    assert "gone.py" in always[2]
    assert "gone.py" in seen[2]
    assert seen[1].startswith("Submitted batch job ")


BROKEN = {
    "the store is a directory": {"SCHEDMATE_STATE_DIR": "{tmp}/occupied"},
    "the state directory cannot be made": {"SCHEDMATE_STATE_DIR": "/proc/none/of/this"},
    "a wrong setting": {"SCHEDMATE_RETRIES": "many"},
    "a misspelt variable": {"SCHEDMATE_SCHEDULLER": "slurm"},
    "no settings file": {"SCHEDMATE_CONFIG": "/nowhere/config.toml"},
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_schedmate_stops_no_submission(running_cluster, work, tmp_path, case):
    (tmp_path / "occupied" / "schedmate.sqlite3").mkdir(parents=True)
    more = {name: value.format(tmp=tmp_path) for name, value in BROKEN[case].items()}

    code, out, err = run([*SUBMIT, "-H", "job.sh"], work, **more)

    assert (code, re.sub(r"\d+", "N", out)) == (0, "Submitted batch job N\n")
    assert err.startswith("schedmate: submitting without advice: ")
    assert err.count("\n") == 1


def test_a_script_named_sbatch_that_calls_us_is_not_called_again(running_cluster, work, tmp_path):
    wrapper = tmp_path / "bin" / "sbatch"
    wrapper.parent.mkdir()
    wrapper.write_text('#!/bin/sh\nexec schedmate submit "$@"\n')
    wrapper.chmod(0o755)

    code, out, _ = run(
        [*SUBMIT, "-H", "job.sh"], work, PATH=f"{wrapper.parent}:{os.environ['PATH']}"
    )

    assert (code, re.sub(r"\d+", "N", out)) == (0, "Submitted batch job N\n")


def test_without_sbatch_the_scheduler_is_unreachable(work):
    code, out, err = run([*SUBMIT, "job.sh"], work, PATH="/nowhere")
    assert (code, out) == (4, "")
    assert "sbatch is not on the PATH" in err


def test_a_python_file_and_a_command(running_cluster, work):
    (work / "train.py").write_text("import sys; print('ran', *sys.argv[1:])\n")
    for words, name in ((["train.py", "a b"], "train.py"), (["--", "echo", "ran", "a b"], "echo")):
        code, out, _ = run([*SUBMIT, "--wait", "--parsable", "-o", "out.txt", *words], work)
        assert code == 0
        assert (work / "out.txt").read_text() == "ran a b\n"
        assert f"JobName={name}" in shown(out.strip())
