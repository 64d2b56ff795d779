from schedmate.model import Request, Submission
from schedmate.schedulers.slurm.submitting import batch_script, minutes, sbatch_arguments


def submission(**parts):
    return Submission(**{"command": ("python", "x y.py"), "workdir": "/w", "name": "n", **parts})


def test_a_command_becomes_a_script():
    plain = submission()
    assert batch_script(plain) == "#!/bin/bash\nexec python 'x y.py'\n"
    assert sbatch_arguments(plain) == ["--parsable", "--job-name=n", "--chdir=/w", "--requeue"]


def test_a_script_is_handed_on_as_it_is():
    script = submission(command=("-x.sh", "--lr", "1"), script="-x.sh", passthrough=("-A", "me"))
    assert batch_script(script) is None
    arguments = sbatch_arguments(script)
    assert arguments[:3] == ["--parsable", "-A", "me"]
    assert arguments[-4:] == ["--", "-x.sh", "--lr", "1"]


def test_what_is_asked_for():
    request = Request(
        gpus=4,
        nodes=2,
        cpus=8,
        memory_mb=1000,
        time_limit_s=61,
        partition="gpu",
        exclude_nodes=("a", "b"),
    )
    flags = sbatch_arguments(submission(request=request, stdout="o", stderr="e", nice=3))
    assert set(flags) >= {
        *("--nodes=2", "--gres=gpu:2", "--cpus-per-task=8", "--mem=1000M", "--time=2"),
        *("--partition=gpu", "--exclude=a,b", "--output=o", "--error=e", "--nice=3"),
    }


def test_gpus_that_cannot_be_shared_out_evenly():
    assert "--gpus=3" in sbatch_arguments(submission(request=Request(gpus=3, nodes=2)))


def test_the_users_choice_stands():
    chosen = submission(env={"A": "1"}, passthrough=("--export=NONE", "--no-requeue"))
    flags = sbatch_arguments(chosen)
    assert "--export=ALL" not in flags
    assert "--requeue" not in flags
    assert "--export=ALL" in sbatch_arguments(submission(env={"A": "1"}))


def test_limits_are_whole_minutes():
    assert [minutes(s) for s in (0, 1, 60, 61, 3600)] == [1, 1, 1, 2, 60]
