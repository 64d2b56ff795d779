"""Command lines that only a shell takes apart, and commands behind programs that are not known."""

import pytest

from advisor.launch.trees import Tree, assert_found

FILES = """\
=== scripts/train.sh
export PATH=/usr/local/cuda/bin:$PATH
python train.py --epochs 9
=== exp/run.sh
cd ..
python train.py --epochs 9
=== remote.sh
ssh node1 <<EOF
cd /home/me/project
python train.py --epochs 9
EOF
=== keys.sh
tmux new-session -d -s training
tmux send-keys -t training "python train.py --epochs 9" C-m
=== detached.sh
screen -dmS training bash -c 'source ~/venv/bin/activate; python train.py --epochs 9; exec bash'
"""
COMMANDS = (
    "source scripts/train.sh",
    ". scripts/train.sh",
    "eval 'python train.py --epochs 9'",
    "cd exp; bash run.sh",
    "(cd exp && bash run.sh)",
    "module load cuda; srun python train.py --epochs 9",
    "EPOCHS=9; python train.py --epochs $EPOCHS",
    "export EPOCHS=9 && python train.py --epochs ${EPOCHS}",
    "for epochs in 9; do python train.py --epochs $epochs; done",
    "if true; then python train.py --epochs 9; fi",
    "{ python train.py --epochs 9; }",
    "$PYTHON $PWD/train.py --epochs 9",
    "bash remote.sh",
    "bash keys.sh",
    "bash detached.sh",
    "script -c 'python train.py --epochs 9' out.log",
    "flock -n /tmp/lock -c 'python train.py --epochs 9'",
    "su - me -c 'python train.py --epochs 9'",
    "micromamba -r /opt/conda run -n env python train.py --epochs 9",
    "queue-it --gpus 2 python train.py --epochs 9",
    "oarsub -l gpu=1 'python train.py --epochs 9'",
    "kubectl exec pod -- python train.py --epochs 9",
    "python -m somewhere.launch --workers 2 train.py --epochs 9",
    "gcloud compute tpus tpu-vm ssh v4 --zone=z --command='python train.py --epochs 9'",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_finds_the_program(command, tmp_path):
    assert_found(Tree(command, FILES, f"-- {command}"), tmp_path)


def test_an_interpolation_of_a_config_is_no_variable_of_the_shell(tmp_path):
    command = "-- python train.py --epochs 9 '--name=${model.name}'"
    assert_found(Tree("interpolation", "=== a\n", command), tmp_path)
