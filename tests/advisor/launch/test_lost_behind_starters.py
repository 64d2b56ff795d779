"""Task runners, modules, console scripts and programs that start the real one."""

import pytest

from advisor.launch.trees import Tree, assert_found

STARTERS = (
    Tree(
        "a here-document of Python",
        """\
        === job.sh
        python - <<'EOF'
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(9):
            model(torch.rand(1)).backward()
            optimizer.step()
        EOF
        """,
        "job.sh",
        entry="<stdin>",
    ),
    Tree(
        "tasks of pixi",
        """\
        === pixi.toml
        [tasks]
        data = "python prepare.py"
        train = { cmd = "python train.py --epochs 9", depends-on = ["data"] }
        === prepare.py
        print(1)
        """,
        "-- pixi run train",
    ),
    Tree(
        "scripts of pdm, poe and hatch",
        """\
        === pyproject.toml
        [tool.pdm.scripts]
        fit = "python train.py --epochs 9"
        """,
        "-- pdm run fit",
    ),
    Tree(
        "tasks of poe under poetry",
        """\
        === pyproject.toml
        [tool.poe.tasks.fit]
        cmd = "python train.py --epochs 9"
        """,
        "-- poetry run poe fit",
    ),
    Tree(
        "scripts of hatch",
        """\
        === pyproject.toml
        [tool.hatch.envs.gpu.scripts]
        fit = ["python train.py --epochs {args:9}"]
        """,
        "-- hatch run gpu:fit",
    ),
    Tree(
        "a recipe of just with a parameter",
        """\
        === justfile
        set shell := ["bash", "-c"]

        # trains
        train epochs="3" *args:
            python train.py --epochs {{epochs}} {{args}}
        """,
        "-- just train 9 --lr 0.2",
        more=(("learning_rate", 0.2),),
    ),
    Tree(
        "a recipe in another directory",
        """\
        === ml/Makefile
        EPOCHS ?= 2
        .PHONY: fit
        fit:
        \t@echo training
        \tCUDA_VISIBLE_DEVICES=0 python train.py \\
        \t  --epochs $(EPOCHS)
        """,
        "-- make -C ml fit EPOCHS=9",
        entry="ml/train.py",
        at="ml/train.py",
    ),
    Tree(
        "a Makefile as the script, with its target",
        """\
        === Makefile
        .PHONY: install train
        install:
        \tpip install -e .
        train: install
        \tpython train.py --epochs 9
        """,
        "Makefile train",
    ),
    Tree(
        "a Makefile as the script, without a target",
        """\
        === Makefile
        help:
        \t@echo help
        train:
        \tpython train.py --epochs 9
        """,
        "Makefile",
    ),
    Tree(
        "a module below src",
        """\
        === src/net/__init__.py
        """,
        "-- python -m net.train --epochs 9",
        entry="src/net/train.py",
        at="src/net/train.py",
    ),
    Tree(
        "a module found by PYTHONPATH",
        """\
        === job.sh
        export PYTHONPATH=$PWD/lib/code:$PYTHONPATH
        python -m net.train --epochs 9
        === lib/code/net/__init__.py
        """,
        "job.sh",
        entry="lib/code/net/train.py",
        at="lib/code/net/train.py",
    ),
    Tree(
        "a console script of a package below",
        """\
        === trainer/pyproject.toml
        [project.scripts]
        fit-net = "net.train:main"
        === trainer/net/__init__.py
        === job.sh
        pip install -e ./trainer
        fit-net --epochs 9
        """,
        "job.sh",
        entry="trainer/net/train.py",
        at="trainer/net/train.py",
    ),
    Tree(
        "a Python program that starts the real one",
        """\
        === launch.py
        import subprocess
        import sys

        command = [sys.executable, "train.py", "--epochs", "9"]
        subprocess.run(command, check=True)
        """,
        "launch.py",
    ),
    Tree(
        "a Python program that submits a job to Ray",
        """\
        === submit.py
        from ray.job_submission import JobSubmissionClient

        client = JobSubmissionClient("http://127.0.0.1:8265")
        client.submit_job(entrypoint="python train.py --epochs 9", runtime_env={"working_dir": "."})
        """,
        "submit.py",
    ),
    Tree(
        "ray job submit with a working directory",
        """\
        === job.sh
        ray start --head
        ray job submit --working-dir code --no-wait -- python train.py --epochs 9
        """,
        "job.sh",
        entry="code/train.py",
        at="code/train.py",
    ),
    Tree(
        "nested wrappers",
        """\
        === job.sh
        nohup timeout 2h numactl --membind=0 nsys profile -o p \\
          --trace=cuda,nvtx python -u train.py --epochs 9 > out.log 2>&1 &
        wait
        """,
        "job.sh",
        more=(("max_time_s", 7200.0),),
    ),
)


@pytest.mark.parametrize("tree", STARTERS, ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)
