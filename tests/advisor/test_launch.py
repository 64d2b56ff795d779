"""What really runs, under scripts and launchers."""

import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.resolve import resolve


@pytest.fixture
def project(tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "fit.py").write_text("print(2)\n")
    (tmp_path / "inner.sh").write_text("python train.py --inner $1\n")
    return tmp_path


def main_run(project, *command):
    return resolve(Target.from_command(project, command)).main


def script_launch(project, text, *args):
    (project / "job.sh").write_text(textwrap.dedent(text))
    return resolve(Target.from_script(project, "job.sh", args))


def arguments(run):
    return [word.text if word.known else None for word in run.arguments]


@pytest.mark.parametrize(
    "prefix",
    [
        "python",
        "python3.11 -u -X dev",
        "/usr/bin/python3",
        "srun python",
        "srun -n 4 --gpus-per-task=1 -l python -u",
        "torchrun --nproc_per_node 8 --standalone",
        "python -m torch.distributed.run --nnodes 2 --nproc_per_node=4",
        "python -u -m torch.distributed.launch --nproc_per_node=4",
        "accelerate launch --config_file fsdp.yaml --num_processes 8",
        "deepspeed --num_gpus 4 --hostfile hosts",
        "mpirun -np 4 -x PATH --bind-to none python",
        "horovodrun -np 4 python",
        "uv run",
        "uv run --with numpy --python 3.12 python",
        "conda run -n torch --no-capture-output python",
        "poetry run python",
        "singularity exec --nv -B /data image.sif python",
        "time nohup python",
        "env A=b C=d python",
        "A=b",
        "timeout -k 5 3600 nice -n 10 python",
        "numactl --cpunodebind=0 --membind 0 python",
        "CUDA_VISIBLE_DEVICES=0 srun --ntasks 2 accelerate launch",
    ],
)
def test_launchers_are_stripped_to_the_entry_point(project, prefix):
    start = "./train.py" if prefix == "A=b" else "train.py"
    run = script_launch(project, f"{prefix} {start} --x 1 y\n").main
    assert run.entry.name == "train.py"
    assert run.entry.source is not None
    assert arguments(run) == ["--x", "1", "y"]


@pytest.mark.parametrize(
    ("command", "name", "expected"),
    [
        (["bash", "-c", "cd sub && python fit.py --a ${B:-4}"], "sub/fit.py", ["--a", "4"]),
        (["bash", "-lc", "exec python train.py"], "train.py", []),
        (["bash", "inner.sh", "7"], "train.py", ["--inner", "7"]),
        (["./inner.sh", "7"], "train.py", ["--inner", "7"]),
        (["python", "-m", "sub.fit", "z"], "sub/fit.py", ["z"]),
        (["python", "-m", "torchtune", "z"], "-m torchtune", ["z"]),
        (["torchrun", "-m", "sub.fit"], "sub/fit.py", []),
    ],
)
def test_commands_end_in_an_entry_point(project, command, name, expected):
    run = main_run(project, *command)
    assert run.entry.name == name
    assert arguments(run) == expected


@pytest.mark.parametrize("command", [["ls"], ["python", "-c", "1"], ["srun"], ["bash"], [""]])
def test_commands_without_an_entry_point(project, command):
    assert main_run(project, *command) is None


def test_variables_defaults_arrays_and_continuations(project):
    run = script_launch(
        project,
        """\
        LR=0.1
        export EPOCHS="${EPOCHS:-30}"   # a default
        FLAGS=(--a 1   # the first
               --b "two words")
        FLAGS+=(--c)
        : ${SIZE:=8}
        python train.py --lr=$LR \\
            --epochs "$EPOCHS" "${FLAGS[@]}" --size $SIZE --where '$HOME' --out $SCRATCH/x "$@"
        """,
        "--last",
        "a b",
    ).main
    assert arguments(run) == [
        *("--lr=0.1", "--epochs", "30", "--a", "1", "--b", "two words", "--c"),
        *("--size", "8", "--where", "$HOME", "--out", None, "--last", "a b"),
    ]
    lines = {word.text: word.evidence[0].line for word in run.arguments}
    assert lines["30"] == 2
    assert lines["two words"] == 4
    assert lines["--epochs"] == 8
    assert run.arguments[-1].evidence[0].file == "<command>"


def test_what_only_a_branch_or_a_loop_sets_is_unknown(project):
    run = script_launch(
        project,
        """\
        A=1
        if test "$X" = y; then A=2; B=3; fi
        [ "$X" = z ] && C=4
        for D in 5 6; do
          python train.py $A $B $C $D
        done
        """,
    ).main
    assert arguments(run) == [None, None, None, None]


def test_here_documents_comments_and_strings_are_not_commands(project):
    launch = script_launch(
        project,
        """\
        cat > x.py <<'EOF'
        python sub/fit.py
        EOF
        echo "python sub/fit.py"  # python sub/fit.py
        python train.py
        """,
    )
    assert [run.entry.name for run in launch.runs] == ["train.py"]


def test_the_run_that_trains_is_the_main_one(project):
    (project / "prepare_data.py").write_text("")
    launch = script_launch(
        project,
        """\
        pip install -e .
        python prepare_data.py
        srun python train.py > log.txt 2>&1
        python sub/fit.py
        """,
    )
    assert launch.main.entry.name == "train.py"
    assert [word.text for word in launch.main.log_files] == ["log.txt"]
    assert len(launch.runs) == 3


def test_a_python_script_with_directives_is_its_own_entry_point(project):
    (project / "job").write_text("#!/usr/bin/env python3\n#SBATCH --gpus=2\nprint(1)\n")
    launch = resolve(Target.from_script(project, "job", ("--x",)))
    assert launch.main.entry.name == "job"
    assert launch.asked.gpus[0] == 2


def test_a_script_that_calls_itself_ends(project):
    launch = script_launch(project, "bash job.sh\npython train.py\n")
    assert launch.main.entry.name == "train.py"


def test_variables_that_double_themselves_end(project):
    lines = ["A=xx"] + ['A="$A$A"'] * 60 + ["python train.py $A"]
    run = script_launch(project, "\n".join(lines)).main
    assert len(run.arguments[0].text) <= 200_000


@pytest.mark.parametrize(
    ("directives", "gpus", "nodes", "seconds"),
    [
        ("#SBATCH --gpus=4", 4, None, None),
        ("#SBATCH -G a100:4 -t 90", 4, None, 5400),
        ("#SBATCH --gres=gpu -N2", 2, 2, None),
        ("#SBATCH --gres=gpu:v100:2,nvme:1\n#SBATCH --nodes 3", 6, 3, None),
        ("#SBATCH --gpus-per-node=8 --nodes=2-4", 16, 2, None),
        ("#SBATCH --gpus-per-task=1 -n 5", 5, None, None),
        ("#SBATCH --time=2-03:04:05", None, None, 2 * 86400 + 3 * 3600 + 4 * 60 + 5),
        ("#SBATCH --time=10:30", None, None, 630),
        ("#SBATCH --time=UNLIMITED --gres=tmp:5G", None, None, None),
        ("##SBATCH --gpus=4", None, None, None),
        ("echo\n#SBATCH --gpus=4", None, None, None),
    ],
)
def test_directives(project, directives, gpus, nodes, seconds):
    asked = script_launch(project, f"#!/bin/bash\n{directives}\n").asked
    assert (asked.gpus and asked.gpus[0]) == gpus
    assert asked.nodes == nodes
    assert asked.time_limit_s == seconds
