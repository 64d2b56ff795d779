"""Programs behind workflow files, images that are built first, and commands only a shell reads."""

import pytest

from advisor.launch.trees import Tree, advised, assert_found, value

WORKFLOWS = (
    Tree(
        "a rule of Snakemake with values of its config",
        """\
        === Snakefile
        configfile: "config/run.yaml"
        include: "rules/train.smk"

        rule all:
            input: config["out"] + "/model.pt"

        rule fetch:
            output: "data.csv"
            shell: "wget -O {output} http://data"
        === rules/train.smk
        rule train:
            input:
                data="data.csv",
            output:
                config["out"] + "/model.pt"
            params:
                epochs=config["epochs"],
                name=lambda wildcards: wildcards.name,
            shell:
                \"\"\"
                mkdir -p out
                python train.py \\
                    --epochs {params.epochs} \\
                    --name {params.name}
                \"\"\"
        === config/run.yaml
        out: results
        epochs: 9
        """,
        "-- snakemake --cores 4",
    ),
    Tree(
        "another file of Snakemake, its config on the command line, and a script",
        """\
        === flow/main.smk
        rule fit:
            output: "model.pt"
            script: "train.py"
        """,
        "-- snakemake -s flow/main.smk --configfile a.yaml fit",
        epochs=5,
    ),
    Tree(
        "a stage of DVC with its parameters",
        """\
        === dvc.yaml
        stages:
          prepare:
            cmd: python prepare.py
          train:
            cmd: python train.py --epochs ${train.epochs}
        === params.yaml
        train:
          epochs: 9
        === prepare.py
        import json
        """,
        "-- dvc repro",
    ),
    Tree(
        "an entry point of MLflow with a parameter that is given",
        """\
        === MLproject
        name: net
        entry_points:
          main:
            parameters:
              epochs: {type: int, default: 3}
            command: "python train.py --epochs {epochs}"
        """,
        "-- mlflow run . -P epochs=9",
    ),
    Tree(
        "a task of a Taskfile",
        """\
        === Taskfile.yml
        version: '3'
        vars: {EPOCHS: 9}
        tasks:
          train:
            cmds:
              - mkdir -p out
              - python train.py --epochs {{.EPOCHS}}
        """,
        "-- task train",
    ),
    Tree(
        "an image that is built first, with operators between the words",
        """\
        === Dockerfile
        FROM python
        WORKDIR /opt/net
        COPY . /opt/net
        CMD ["python", "train.py", "--epochs", "9"]
        """,
        "-- docker build -t net . && docker run --gpus all net",
    ),
    Tree(
        "an image that is built in a directory",
        """\
        === Makefile
        all:
        \tdocker image build -t net -f engine/Dockerfile.train engine
        \tdocker run --gpus all net
        === engine/Dockerfile.train
        FROM base
        WORKDIR /engine
        COPY . .
        CMD ["python", "train.py", "--epochs", "9"]
        """,
        "-- make all",
        entry="engine/train.py",
        at="engine/train.py",
    ),
    Tree(
        "a service that is built in a directory",
        """\
        === compose.yaml
        services:
          train:
            build: ./engine
        === engine/Dockerfile
        FROM base
        WORKDIR /engine
        COPY . .
        CMD ["python", "train.py", "--epochs", "9"]
        """,
        "-- docker compose up train",
        entry="engine/train.py",
        at="engine/train.py",
    ),
    Tree(
        "a workflow of Argo, whose entry point is the name of a template",
        """\
        === flow.yaml
        apiVersion: argoproj.io/v1alpha1
        kind: Workflow
        spec:
          entrypoint: main
          templates:
            - name: main
              container:
                image: net
                command: [python]
                args: ["train.py", "--epochs", "9"]
        """,
        "-- argo submit flow.yaml",
    ),
    Tree(
        "arguments that the program sets itself",
        """\
        === start.py
        import sys
        import train
        sys.argv = ["train", "--epochs", "9"]
        train.main()
        """,
        "-- python start.py",
        entry="start.py",
    ),
    Tree(
        "a module that another program runs",
        """\
        === start.py
        import runpy, sys
        sys.argv = ["train", "--epochs", "9"]
        runpy.run_module("train", run_name="__main__")
        """,
        "-- python start.py",
        entry="start.py",
    ),
    Tree(
        "a whole line in one word",
        "",
        "-- 'cd sub && python ../train.py --epochs 9'",
    ),
    Tree(
        "a script by its bare name, with an ending of its own",
        """\
        === launch.cluster
        #!/bin/bash
        srun python train.py $@
        """,
        "-- launch.cluster --epochs 9",
    ),
)


@pytest.mark.parametrize("tree", WORKFLOWS, ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    (tmp_path / "sub").mkdir()
    assert_found(tree, tmp_path)


def test_of_one_programs_runs_the_first_counts_and_of_programs_the_last(tmp_path):
    tree = Tree(
        "stages",
        """\
        === train_teacher.py
        import torch
        === job.sh
        python train_teacher.py --epochs 2
        python train.py --epochs 9
        python train.py --epochs 4 --lr 3
        """,
        "job.sh",
    )
    assert_found(tree, tmp_path)


MOVED = Tree(
    "moved", "=== job.sh\npython src/train.py --epochs 9\n", "job.sh", at="src/cli/train.py"
)


def test_a_program_that_is_not_where_the_command_has_it_is_read_as_a_guess(tmp_path):
    advice = advised(MOVED, tmp_path)
    assert value(advice.workload, "entry_point") == "src/cli/train.py"
    assert value(advice.workload, "optimizer") == "sgd"
    assert advice.workload.optimizer.confidence <= 0.5
    assert any("is not there" in remark.text for remark in advice.advice)


def test_of_two_programs_of_that_name_neither_is(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "train.py").write_text("import torch\n")
    assert value(advised(MOVED, tmp_path).workload, "optimizer") is None
