"""Which of several programs the job is about, and where to look when none is found."""

import pytest

from advisor.launch.trees import EVALUATE, PREPARE, Tree, advised, assert_found, value

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


def confidence_of(tree, place):
    workload = advised(tree, place).workload
    return workload.entry_point.confidence, workload.epochs.confidence


def test_a_guess_is_held_with_little_confidence_and_said_to_be_one(tmp_path):
    [tree] = [each for each in WIDENED if "variable" in each.name]
    advice = advised(tree, tmp_path)
    assert advice.workload.epochs.confidence == 0.5
    assert advice.workload.gpus.confidence > 0.9
    [warning] = [each for each in advice.advice if each.level == "warning"]
    assert "net/train.py was read because it trains and fits the command" in warning.text


def test_one_side_of_an_undecided_branch_is_held_with_less_confidence(tmp_path):
    script = """\
    === job.sh
    if nvidia-smi; then python train.py --epochs 9; else python train.py --epochs {other}; fi
    """
    differing = Tree("", script.format(other="3"), "job.sh")
    assert max(confidence_of(differing, tmp_path / "a")) == 0.7
    same = Tree("", script.format(other="9"), "job.sh")
    assert min(confidence_of(same, tmp_path / "b")) > 0.8


@pytest.mark.parametrize(
    "line",
    ["./simulate --temperature 300", "./chat -m chat.bin", "./pretrain_data", "$SIM --model big"],
)
def test_a_guess_needs_a_reason(line, tmp_path):
    tree = Tree(
        "",
        f"""\
        === chat.py
        import torch
        model = torch.nn.Linear(1, 1)
        model(torch.rand(1)).backward()
        === job.sh
        {line}
        """,
        "job.sh",
        at="net/loop.py",
    )
    advice = advised(tree, tmp_path)
    assert advice.workload.entry_point is None
    assert [each.evidence[0].line for each in advice.advice] == [1]


@pytest.mark.parametrize("text", ["sleep 60", "echo train.py", "gmx mdrun -v", "./a.out"])
def test_jobs_of_other_kinds_are_left_alone(text, tmp_path):
    (tmp_path / "a.out").write_text("x")
    workload = advised(Tree("", f"=== job.sh\n{text}", "job.sh"), tmp_path).workload
    assert value(workload, "epochs") is None


@pytest.mark.parametrize(
    "line",
    [
        "for lr in 0.1 0.2; do python train.py --epochs 9 --lr $lr; done",
        "echo 1 | xargs -n 1 python train.py --epochs 9 --name",
    ],
)
def test_a_sweep_is_said_to_be_one(line, tmp_path):
    advice = advised(Tree("", f"=== job.sh\n{line}", "job.sh"), tmp_path)
    assert value(advice.workload, "epochs") == 9
    [hint] = [each for each in advice.advice if "several times" in each.text]
    assert hint.evidence[0].file == "job.sh"


def test_settings_of_a_program_that_the_training_imports_from_are_not_its_own(tmp_path):
    tree = Tree(
        "",
        """\
        === evaluate.py
        import argparse
        from torch.utils.data import DataLoader
        def accuracy(model):
            return 1.0
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--seq_len", type=int, default=78)
            args = parser.parse_args()
            loader = DataLoader(load(args.seq_len), batch_size=77, shuffle=True)
        if __name__ == "__main__":
            main()
        === train.py
        from evaluate import accuracy
        print(accuracy(None))
        === job.sh
        python train.py --epochs 9
        python evaluate.py --seq_len 80
        """,
        "job.sh",
        more=(("sequence_length", None), ("batch_size", None)),
    )
    assert_found(tree, tmp_path)
