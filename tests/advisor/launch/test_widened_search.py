"""Scripts that hide what they start: in a file they write, in a branch, in a call of themselves."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

TRAIN = """\
import argparse, torch
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=1e-3)
p.add_argument("--epochs", type=int, default=5)
args = p.parse_args()
model = torch.nn.Linear(2, 2)
opt = torch.optim.Adam(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    opt.step()
"""
JOB = "#!/bin/bash\n#SBATCH --gres=gpu:2\npython train.py --lr 0.5\n"
ECHOED = "echo '#SBATCH --gres=gpu:2'\necho 'python train.py --lr 0.5'\n"
WRITTEN = {
    "a file of mktemp": f"TMP=$(mktemp)\ncat > $TMP <<EOF\n{JOB}EOF\nsbatch $TMP\n",
    "a variable that is unset": f"cat > $TMP <<EOF\n{JOB}EOF\nsbatch $TMP\n",
    "a random name": f"J=$SCRATCH/j_$RANDOM.sh\ncat > $J <<EOF\n{JOB}EOF\nid=$(sbatch $J)\n",
    "a group of commands": f"J=job.sh\n{{\n{ECHOED}}} > $J\nsbatch $J\n",
}


def launched(project, script, *args, as_command=False):
    (project / "train.py").write_text(TRAIN)
    (project / "run.sh").write_text(f"#!/bin/bash\n{script}")
    if as_command:
        target = Target.from_command(project, ["bash", "run.sh", *args])
    else:
        target = Target.from_script(project, "run.sh", args)
    launch = resolve(target)
    return launch, understand(launch, target.files, Request())[0].workload


@pytest.mark.parametrize("script", WRITTEN.values(), ids=WRITTEN)
def test_a_job_file_that_the_script_writes_and_submits_is_read(tmp_path, script):
    _, workload = launched(tmp_path, script)
    assert (workload.learning_rate.value, workload.learning_rate.confidence) == (0.5, 0.95)
    assert workload.gpus.value == 2


def test_of_job_files_that_a_loop_writes_the_first_is_read_with_less_confidence(tmp_path):
    script = (
        'for lr in 0.1 0.2; do\nJ=jobs/$lr.sbatch\ncat > "$J" <<EOF\n'
        'python train.py --lr $lr\nEOF\nsbatch "$J"\ndone\n'
    )
    _, workload = launched(tmp_path, script)
    assert workload.epochs.value == 5
    assert workload.learning_rate.confidence <= 0.7


CASE = "case $1 in\n small) python train.py --lr 0.1 ;;\n *) echo usage; exit 1 ;;\nesac\n"


@pytest.mark.parametrize("as_command", [False, True])
def test_a_branch_that_no_word_takes_is_read_with_little_confidence(tmp_path, as_command):
    launch, workload = launched(tmp_path, CASE, "medium", as_command=as_command)
    assert (workload.learning_rate.value, workload.learning_rate.confidence) == (0.1, 0.5)
    assert launch.main.not_taken


def test_what_branches_that_are_not_taken_disagree_on_is_unknown(tmp_path):
    script = "case $1 in\n a) python train.py --lr 0.1 ;;\n b) python train.py --lr 0.2 ;;\nesac\n"
    _, workload = launched(tmp_path, script)
    assert workload.entry_point.value == "train.py"
    assert workload.learning_rate is None


def test_a_branch_that_is_taken_is_no_wider_search(tmp_path):
    launch, workload = launched(tmp_path, CASE, "small")
    assert workload.learning_rate.confidence == 0.95
    assert not launch.main.not_taken


def test_a_script_that_calls_itself_with_other_words_is_read_as_called(tmp_path):
    script = 'if [ "$1" != inner ]; then srun bash run.sh inner; exit; fi\n'
    script += "python train.py --lr 0.3\n"
    _, workload = launched(tmp_path, script, as_command=True)
    assert (workload.learning_rate.value, workload.learning_rate.confidence) == (0.3, 0.95)


def test_a_script_that_only_calls_itself_starts_nothing_known(tmp_path):
    launch, _ = launched(tmp_path, "bash run.sh\n", as_command=True)
    assert launch.main is None
    assert [words[0].text for words in launch.lost] == ["run.sh"]
