"""What really runs, under scripts and launchers."""

import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve


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
        "srun --kill-on-bad-exit --bcast --accel-bind g python",
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
        "torchrun --virtual-local-rank --nproc-per-node 8 --unheard-of 3",
        "torchrun --nproc_per_node $1",
        "accelerate launch --multi_gpu --mixed_precision bf16 --use_fsdp",
        "mpirun -n 8 --mca btl ^openib -x A=b -hostfile hosts python",
        "mpirun -n 8 -ppn 4 -f hosts -env A=1 -genv B 2 python",
        "horovodrun -np 4 -H a:2,b:2 python",
        "lightning run model --devices 2",
        "fabric run --accelerator cuda",
        "ray job submit --address http://a --no-wait -- python",
        "uvx --from pkg python",
        "pdm run python",
        "pixi run -e gpu python",
        "docker run --rm --gpus all -v $PWD:/w -w /w image:1 python",
        "podman run image python",
        "apptainer run --nv image.sif python",
        "enroot start --rw -m a:b name python",
        "shifter --image=x:1 python",
        "srun --container-image=x --container-mounts a:b python",
        "nsys profile -o out -t cuda,nvtx --stats=true python",
        "ncu --set full -o x python",
        "py-spy record -o p.svg -- python",
        "python -m cProfile -s time -o out",
        "python -m coverage run --source a",
        "coverage run -p",
        "python -m debugpy --listen 5678 --wait-for-client",
        "gdb -ex run --args python",
        "strace -f -o log python",
        "taskset -c 0-3 python",
        "xvfb-run -a python",
        "stdbuf -oL python",
        "aprun -n 4 -N 1 python",
        "jsrun -n 2 -g 6 -a 6 python",
        "flux run -N 2 -g 8 python",
        "$NOBODY_SETS python",
        "python $NOBODY_SETS",
        "gantry run --its own -- python",
        "exec python",
        "ssh -p 22 host python",
        "sudo -u me python",
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


@pytest.mark.parametrize(
    "command",
    [
        *(["ls"], ["python", "-c", "1"], ["srun"], ["bash"], [""], ["python"], ["python", "-V"]),
        *(["pip", "install", "x"], ["python", "-m", "pip", "install", "x"], ["module", "load"]),
        *(["accelerate", "config"], ["sbatch"], ["make", "x"], ["docker", "pull", "x"], ["./x"]),
    ],
)
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


def test_launchers_keep_what_they_were_told(project):
    run = script_launch(
        project,
        """\
        N=4
        srun -N 2 accelerate launch --config_file fsdp.yaml --num-processes=$N --use_fsdp train.py
        """,
    ).main
    assert run.launchers == ("srun", "accelerate")
    told = {each.name: each.options for each in run.launched}
    assert told["srun"]["N"].text == "2"
    assert told["accelerate"]["config_file"].text == "fsdp.yaml"
    assert told["accelerate"]["num_processes"].text == "4"
    assert told["accelerate"]["num_processes"].evidence[0].line == 1
    assert told["accelerate"]["use_fsdp"].text == "true"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'export CMD="train.py --a 1"; srun bash -c "python -u $CMD --b 2"',
            ["--a", "1", "--b", "2"],
        ),
        ("export CMD='train.py --a 1'; srun bash -c 'python $CMD --rank $SLURM_PROCID'", None),
        ("A=(--a 'x y'); CMD=\"python train.py ${A[@]}\"; eval $CMD", ["--a", "x", "y"]),
        ("sbatch --gres=gpu:2 -N 3 inner.sh 5", ["--inner", "5"]),
        ('sbatch --wrap="python train.py --w"', ["--w"]),
        ("sbatch <<EOF\n#!/bin/bash\n#SBATCH -N 1\npython train.py \\$X 1\nEOF", [None, "1"]),
        ("cat > gen.sh <<EOF\npython train.py --gen\nEOF\nbash gen.sh", ["--gen"]),
        ("printf 'EPOCHS=7\\n' > conf.sh; source conf.sh; python train.py $EPOCHS", ["7"]),
        ("source settings.sh; python train.py $FROM_FILE", ["9"]),
        ("ssh node 'cd sub && python ../train.py x'", ["x"]),
        ("parallel -j 2 python train.py --lr {} ::: 1 2", ["--lr", None]),
        ("cat list | xargs -n1 python train.py --file", ["--file"]),
        ("bash < inner.sh", ["--inner"]),
        ("python $REPO/train.py 1", ["1"]),
        ("cd /somewhere/else; python train.py 1", ["1"]),
        ("python /workspace/project/train.py 1", ["1"]),
        ("make train EPOCHS=3", ["--epochs", "3", "--lr", "0.1"]),
        ("bash deep/down/run.sh", ["--deep"]),
    ],
)
def test_ways_to_the_entry_point(project, text, expected):
    (project / "settings.sh").write_text("export FROM_FILE=9\n")
    (project / "deep" / "down").mkdir(parents=True)
    (project / "deep" / "down" / "run.sh").write_text("python train.py --deep\n")
    (project / "Makefile").write_text(
        "EPOCHS ?= 1\nLR = 0.1\ntrain: data\n\t@python train.py --epochs $(EPOCHS) --lr $(LR)\n"
    )
    run = script_launch(project, text + "\n").main
    assert run.entry.name == "train.py"
    assert run.entry.source is not None
    assert arguments(run) == (expected or ["--a", "1", "--rank", None])


def test_each_argument_keeps_its_line_through_an_inner_shell(project):
    run = script_launch(
        project,
        """\
        LAUNCHER="torchrun --nproc_per_node 4"
        ARGS=" \\
            --lr 0.1 \\
            --epochs 3
            --size $SIZE \\
        "
        srun bash -c "$LAUNCHER --node_rank \\$SLURM_PROCID train.py $ARGS" 2>&1 | tee -a log.txt
        """,
    ).main
    assert arguments(run) == ["--lr", "0.1", "--epochs", "3", "--size", None]
    lines = {word.text: word.evidence[0].line for word in run.arguments}
    assert (lines["0.1"], lines["3"]) == (3, 4)
    assert [word.text for word in run.log_files] == ["log.txt"]
    assert run.launched[1].options["node_rank"].known is False


def test_quotes_and_equals_signs_do_not_cost_the_lines_of_an_inner_shell(project):
    run = script_launch(
        project,
        """\
        ARGS=" \\
            --method 'type:a|b' \\
            --lr=0.1 \\
            size=3 \\
        "
        CMD="`pwd`/train.py $ARGS --out $SITE/x"
        srun bash -c "A=1 python $CMD" > $SITE/logs/run_$SLURM_JOB_ID.log
        """,
    ).main
    assert arguments(run) == ["--method", "type:a|b", "--lr=0.1", "size=3", "--out", None]
    lines = {word.text: word.evidence[0].line for word in run.arguments}
    assert (lines["--method"], lines["--lr=0.1"], lines["size=3"]) == (2, 3, 4)
    assert run.env["A"].text == "1"
    assert [word.text for word in run.log_files] == ["$SITE/logs/run_$SLURM_JOB_ID.log"]


@pytest.mark.parametrize(
    "line",
    [
        "docker run --rm -e B=2 -e A=1 -v x:y image python train.py",
        "singularity exec --env A=1,B=2 x.sif python train.py",
        "srun --export=ALL,A=1,B=2 python train.py",
        "mpirun -x PATH -x A=1 -x B=2 python train.py",
    ],
)
def test_variables_that_a_launcher_sets(project, line):
    env = script_launch(project, f"{line}\n").main.env
    assert (env["A"].text, env["B"].text) == ("1", "2")


def test_a_log_of_which_not_even_the_end_is_known_is_none(project):
    assert script_launch(project, "python train.py > $LOG 2> logs/$NAME\n").main.log_files == ()


def test_inner_submissions_ask_for_what_the_job_gets(project):
    (project / "inner.sh").write_text("#SBATCH -N 2 --gres=gpu:1\npython train.py\n")
    asked = script_launch(project, "sbatch --gres=gpu:4 inner.sh\n").asked
    assert asked.gpus[0] == 8
    assert asked.nodes == 2


def test_what_the_directives_say_reaches_the_program(project):
    run = script_launch(
        project,
        """\
        #!/bin/bash
        #SBATCH --nodes=2 --gpus-per-node=4
        python train.py --world $((SLURM_NNODES * SLURM_GPUS_ON_NODE)) --id $SLURM_JOB_ID
        """,
    ).main
    assert arguments(run) == ["--world", "8", "--id", None]
    assert run.arguments[1].evidence[0].line == 2


def test_python_in_the_script_itself(project):
    launch = script_launch(
        project,
        """\
        LR=0.5
        python - --flag <<EOF
        lr = $LR
        EOF
        python -c "import train; train.main(2)"
        """,
    )
    first, second = launch.runs
    assert (first.entry.name, second.entry.name) == ("<stdin>", "<string>")
    assert first.entry.source.lines()[2] == "lr = 0.5"
    assert arguments(first) == ["--flag"]
    assert "train.main(2)" in second.entry.source.lines()[4]


def test_files_the_script_writes_are_known(project):
    launch = script_launch(
        project,
        """\
        config="./ds.$SLURM_JOB_ID.json"
        cat <<EOT > $config
        {"stage": 2}
        EOT
        python train.py --deepspeed_config $config
        """,
    )
    assert launch.written["ds.$SLURM_JOB_ID.json"].lines()[2] == '{"stage": 2}'
    assert launch.main.arguments[1].known


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[project.scripts]\nmy-train = "pkg.cli:go"\n'),
        ("pyproject.toml", '[tool.poetry.scripts]\nmy-train = "pkg.cli:go"\n'),
        ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n  my-train = pkg.cli:go\n"),
        ("setup.py", 'setup(entry_points={"console_scripts": ["my-train=pkg.cli:go"]})\n'),
    ],
)
def test_console_scripts_of_the_job_s_own_package(project, file, text):
    (project / file).write_text(text)
    (project / "src" / "pkg").mkdir(parents=True)
    (project / "src" / "pkg" / "cli.py").write_text("def go(): ...\n")
    entry = main_run(project, "uv", "run", "my-train", "--x").entry
    assert (entry.name, entry.function) == ("src/pkg/cli.py", "go")
    assert entry.import_root == project / "src"


def test_programs_from_elsewhere_keep_their_name(project):
    launch = script_launch(
        project,
        """\
        nvidia-smi
        huggingface-cli download x
        llamafactory-cli train conf.yaml
        python sub/evaluate.py
        """,
    )
    assert launch.main.entry.name == "llamafactory-cli"
    assert launch.main.entry.source is None
    assert arguments(launch.main) == ["train", "conf.yaml"]


def test_notebooks_are_their_code_at_their_own_lines(project):
    (project / "nb.ipynb").write_text(
        '{"cells": [\n{"cell_type": "markdown", "source": ["lr = 9"]},\n'
        '{"cell_type": "code",\n "source": [\n  "!pip install x\\n",\n  "lr = \\"a\\""\n ]}]}\n'
    )
    for command in (["papermill", "nb.ipynb", "out.ipynb", "-p", "x", "1"],):
        source = main_run(project, *command).entry.source
        assert source.lines()[4:6] == ["pass  # !pip install x", 'lr = "a"']
    run = main_run(project, "jupyter", "nbconvert", "--execute", "nb.ipynb")
    assert run.entry.name == "nb.ipynb"


@pytest.mark.parametrize(
    ("lines", "main"),
    [
        ("python train.py\npython sub/evaluate.py", "train.py"),
        ("torchrun sub/evaluate.py\npython train.py", "train.py"),
        ("python sub/evaluate.py\npython sub/plot.py > x", "sub/evaluate.py"),
        ("python sub/fit.py --eval-only\npython main.py", "main.py"),
        ("python main.py prepare\npython main.py train", "main.py"),
        ("python -m pip install x\npython sub/evaluate.py", "sub/evaluate.py"),
        (
            "if [ $X = 1 ]; then python main.py; else python other.py; fi\npython third.py",
            "third.py",
        ),
    ],
)
def test_the_run_that_the_job_is_about(project, lines, main):
    for name in ("main.py", "other.py", "third.py", "sub/evaluate.py"):
        (project / name).write_text("")
    assert script_launch(project, lines + "\n").main.entry.name == main


def test_nothing_outside_the_job_is_read(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    (tmp_path / "secret.sh").write_text("LEAK=1\n")
    (tmp_path / "secret.py").write_text("x = 1\n")
    (job / "link.py").symlink_to(tmp_path / "secret.py")
    text = (
        "source ../secret.sh; A=$(cat ../secret.sh); python ../secret.py $LEAK $A\npython link.py\n"
    )
    (job / "job.sh").write_text(text)
    launch = resolve(Target.from_script(job, "job.sh", ()))
    assert [run.entry.source for run in launch.runs] == [None, None]
    assert arguments(launch.runs[0]) == [None, None]


@pytest.mark.slow
def test_scripts_that_start_thousands_of_others_end(project):
    (project / "inner.sh").write_text("python train.py\n" * 5000)
    launch = script_launch(project, "bash inner.sh\n" * 5000)
    assert launch.main.entry.name == "train.py"


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
        ("#SBATCH --gres=gpu:1g.20gb", 1, None, None),
        ("#SBATCH --gres=gpu:3g.40gb:2", 2, None, None),
        ("#$ -l gpu=true", 1, None, None),
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


@pytest.mark.parametrize("launcher", [("multiproc.py",), ("-m", "multiproc")])
def test_a_launcher_of_the_job_s_own(tmp_path, launcher):
    (tmp_path / "multiproc.py").write_text("import subprocess\n")
    (tmp_path / "train.py").write_text("")
    target = Target.from_command(tmp_path, ("python", *launcher, "train.py", "--lr", "1"))
    main = resolve(target).main
    assert (main.entry.name, [word.text for word in main.arguments]) == ("train.py", ["--lr", "1"])


def test_the_arguments_of_a_python_script_are_its_commands(tmp_path):
    (tmp_path / "train.py").write_text("")
    of = {
        words: resolve(Target.from_script(tmp_path, "train.py", words)).commands
        for words in (("--epochs", "3"), ("--epochs", "4"))
    }
    assert len({*of.values()}) == 2


def test_a_wrapper_runs_what_it_is_given(project):
    (project / "in_container.sh").write_text(
        'args=""\nfor i in "$@"; do args="$args \\"${i//x/y}\\""; done\n'
        'singularity exec image.sif bash -c "source /ext3/env.sh; eval $args"\n'
    )
    run = script_launch(project, "bash in_container.sh python train.py --lr 1\n").main
    assert run.entry.name == "train.py"
    assert arguments(run) == ["--lr", "1"]
    assert script_launch(project, "bash in_container.sh rm -rf train.py\n").main is None
