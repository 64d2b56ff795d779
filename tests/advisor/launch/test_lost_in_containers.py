"""Container files, images and mounts: the program lies elsewhere there."""

from contextlib import suppress

import pytest

from advisor.launch.trees import Tree, assert_found
from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.model import BadInput

CONTAINERS = (
    Tree(
        "a Dockerfile with an entry point and its arguments",
        """\
        === Dockerfile
        FROM pytorch/pytorch:2.3.1-cuda12.1-cudnn8-runtime
        WORKDIR /workspace
        COPY src/ /workspace/code/
        RUN pip install -r requirements.txt
        ENTRYPOINT ["python", "/workspace/code/train.py"]
        CMD ["--epochs", "9"]
        """,
        "Dockerfile",
        entry="src/train.py",
        at="src/train.py",
    ),
    Tree(
        "a Dockerfile with a command for the shell",
        """\
        === docker/Dockerfile.gpu
        FROM python:3.11 AS base
        ENV EPOCHS=9 \\
            LR=0.2
        WORKDIR /app
        COPY . .
        CMD python train.py --epochs $EPOCHS --lr ${LR}
        """,
        "docker/Dockerfile.gpu",
        more=(("learning_rate", 0.2),),
    ),
    Tree(
        "a program that the image has elsewhere",
        """\
        === Dockerfile
        FROM python:3.11
        COPY experiments/net/ /opt/program/
        === job.sh
        docker run --gpus all -e A=1 net:latest python /opt/program/train.py --epochs 9
        """,
        "job.sh",
        entry="experiments/net/train.py",
        at="experiments/net/train.py",
    ),
    Tree(
        "a container that runs what its image says",
        """\
        === Dockerfile
        FROM python:3.11
        WORKDIR /app
        COPY . /app
        ENTRYPOINT ["python", "train.py"]
        === job.sh
        docker build -t net .
        docker run --rm --gpus all net --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "a directory mounted under another name",
        """\
        === job.sh
        docker run -v $PWD/code:/workspace -w /workspace img:1 bash -c "python train.py --epochs 9"
        """,
        "job.sh",
        entry="code/train.py",
        at="code/train.py",
    ),
    Tree(
        "mounts of pyxis",
        """\
        === job.sh
        #SBATCH --nodes=2 --gpus-per-node=8
        MOUNTS="$(pwd)/code:/net,/data:/data"
        srun --container-image=nvcr.io/nvidia/pytorch:24.01-py3 --container-mounts="$MOUNTS" \\
          --container-workdir=/net bash -c 'torchrun --nproc_per_node 8 train.py --epochs 9'
        """,
        "job.sh",
        entry="code/train.py",
        at="code/train.py",
        more=(("gpus", 16),),
    ),
    Tree(
        "an image with a run script",
        """\
        === net.def
        Bootstrap: docker
        From: pytorch/pytorch

        %files
            code /opt/code

        %post
            pip install numpy

        %runscript
            exec python /opt/code/train.py "$@"
        === job.sh
        apptainer build net.sif net.def
        apptainer run --nv net.sif --epochs 9
        """,
        "job.sh",
        entry="code/train.py",
        at="code/train.py",
    ),
    Tree(
        "a compose file",
        """\
        === docker-compose.yml
        services:
          board:
            image: tensorflow/tensorflow
            command: tensorboard --logdir /logs
          train:
            build: .
            working_dir: /app
            environment:
              - EPOCHS=9
            command: >
              bash -c "pip install -e . &&
              python train.py --epochs $$EPOCHS"
            deploy:
              resources:
                reservations:
                  devices:
                    - driver: nvidia
                      count: 2
                      capabilities: [gpu]
        """,
        "docker-compose.yml",
        more=(("gpus", 2),),
    ),
    Tree(
        "docker compose run with a command",
        """\
        === compose.yaml
        services:
          net:
            build: .
            entrypoint: ["python"]
            volumes:
              - ./code:/app
            working_dir: /app
        """,
        "-- docker compose run --rm net train.py --epochs 9",
        entry="code/train.py",
        at="code/train.py",
    ),
)


@pytest.mark.parametrize("tree", CONTAINERS, ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Dockerfile", 'FROM x\nENTRYPOINT ["docker", "run", "x"]\n'),
        ("Dockerfile", "FROM x\nCMD docker run a && docker run b\n"),
        ("Dockerfile", "FROM x\nCMD [\n"),
        ("Dockerfile", "COPY\nENV\nWORKDIR\nCMD\n" + "\\\n" * 50),
        ("compose.yaml", "services:\n  a:\n    image: x\n    command: docker compose up\n"),
        ("job.yaml", "kind: Job\napiVersion: v1\nspec: &a\n  template: *a\n"),
        ("job.yaml", "kind: Job\napiVersion: v1\nspec: " + "[" * 300 + "]" * 300),
        ("x.def", "%runscript\n%files\n%environment\n"),
        ("x.sub", "executable = $(executable)\nqueue\n"),
    ],
)
def test_files_that_lead_to_themselves_or_nowhere_end(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with suppress(BadInput):
        assert resolve(Target.from_script(tmp_path, name, ())).main is None
