"""Which of several programs the job is about, and where to look when none is found."""

import pytest

from advisor.launch.trees import EVALUATE, PREPARE, Tree, assert_found

SEVERAL = (
    Tree(
        "preparation, training, evaluation, by their names",
        f"""\
        === prepare.py
        {PREPARE.splitlines()[0]}
        === evaluate.py
        {EVALUATE.splitlines()[0]}
        === job.sh
        python prepare.py --epochs 1
        python train.py --epochs 9
        python evaluate.py --epochs 2
        """,
        "job.sh",
    ),
    Tree(
        "one program in several modes",
        """\
        === job.sh
        python main.py --mode train --epochs 9
        python main.py --mode test --epochs 2
        === main.py
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--mode")
        parser.add_argument("--epochs", type=int)
        args = parser.parse_args()
        if args.mode == "train":
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(args.epochs):
                model(torch.rand(1)).backward()
                optimizer.step()
        """,
        "job.sh",
        entry="main.py",
    ),
    Tree(
        "stages of which only the code says which one trains",
        """\
        === stage1.py
        import json
        json.dump([1], open("a.json", "w"))
        === stage3.py
        import torch
        print(torch.load("model.pt"))
        === job.sh
        python stage1.py
        python stage2.py --epochs 9
        python stage3.py
        """,
        "job.sh",
        entry="stage2.py",
        at="stage2.py",
    ),
    Tree(
        "a program that only an undecided branch runs, and one that runs",
        """\
        === train_big.py
        print(1)
        === job.sh
        if [ "$(hostname)" = big ]; then
          srun python train_big.py --epochs 3
        fi
        python train.py --epochs 9
        """,
        "job.sh",
    ),
)

WIDENED = (
    Tree(
        "a launcher of the site that nothing is known of",
        """\
        === job.sh
        site-run --image torch /opt/project/train.py --epochs 9
        """,
        "job.sh",
    ),
    Tree(
        "a wrapper that is not there",
        """\
        === job.sh
        $TOOLS/with_gpu.sh net/train.py --epochs 9
        """,
        "job.sh",
        entry="net/train.py",
        at="net/train.py",
    ),
    Tree(
        "a program of which only a word is known",
        """\
        === job.sh
        cd $CODE_DIR
        ./bin/launch train --epochs 9
        === tools/clean.py
        print(1)
        """,
        "job.sh",
        entry="net/train.py",
        at="net/train.py",
    ),
    Tree(
        "a program that a variable names",
        """\
        === net/data.py
        print(1)
        === job.sh
        #SBATCH --gpus=1
        module load cuda
        $RUN_CMD --epochs 9
        """,
        "job.sh",
        entry="net/train.py",
        at="net/train.py",
    ),
)


@pytest.mark.parametrize("tree", [*SEVERAL, *WIDENED], ids=lambda tree: tree.name)
def test_the_program_is_found(tree, tmp_path):
    assert_found(tree, tmp_path)
