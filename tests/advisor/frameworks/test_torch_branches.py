"""What real scripts taught: things that look alike and mean something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.frameworks.families import PYTORCH_FAMILY
from advisor.frameworks.interpreted import said


@pytest.fixture
def told(tmp_path: Path):
    def tell(code: str, *arguments: str) -> dict[str, Any]:
        return said(tmp_path, code, *arguments, readers=PYTORCH_FAMILY)

    return tell


def test_a_scaler_without_autocast_is_no_half_precision(told):
    code = """
        import torch
        scaler = torch.cuda.amp.GradScaler()
    """
    assert told(code) == {}


def test_a_branch_that_nobody_can_decide_says_nothing_of_precision_or_spread(told):
    code = """
        import os
        import torch
        model = torch.nn.Linear(2, 2)
        if os.environ.get("HALF"):
            model.half()
        if torch.cuda.device_count() > 1:
            model = torch.nn.DataParallel(model)
    """
    assert told(code) == {}


def test_only_a_loader_for_tests_is_no_batch_of_the_training(told):
    code = """
        from torch.utils.data import DataLoader
        testloader = DataLoader([], batch_size=4, shuffle=False)
    """
    assert told(code) == {}


def test_a_critic_trained_more_often_is_no_accumulation(told):
    code = """
        import torch
        optimizer_g = torch.optim.Adam([], lr=2e-4)
        optimizer_d = torch.optim.Adam([], lr=2e-4)
        for epoch in range(10):
            for i in range(100):
                optimizer_d.step()
                if i % 5 == 0:
                    optimizer_g.step()
    """
    assert "gradient_accumulation" not in told(code)


def test_a_classifier_trained_for_evaluation_is_not_what_the_trainer_trains(told):
    code = """
        import torch
        from transformers import AutoModel, Trainer, TrainingArguments

        def evaluate():
            optimizer = torch.optim.RMSprop([], lr=0.1)
            for epoch in range(4):
                optimizer.step()

        args = TrainingArguments(output_dir="out", num_train_epochs=1)
        model = AutoModel.from_pretrained("bert-base-uncased")
        trainer = Trainer(model=model, args=args)
        trainer.train()
        evaluate()
    """
    assert told(code) == {"checkpoint_dir": "out", "epochs": 1, "model": "bert-base-uncased"}


def test_a_network_for_the_loss_is_not_the_model(told):
    code = """
        from torchvision import models

        class PerceptualLoss:
            def __init__(self):
                self.net = models.vgg16(pretrained=True).features

        loss = PerceptualLoss()
    """
    assert "model" not in told(code)


def test_it_loads_the_very_file_it_writes(told):
    code = """
        import os
        import torch

        class Trainer:
            def __init__(self, path):
                self.path = path
                if os.path.exists(path):
                    self.load_snapshot(path)

            def load_snapshot(self, path):
                snapshot = torch.load(path)
                self.first = snapshot["epoch"]

            def train(self, epochs, save_every):
                for epoch in range(epochs):
                    if epoch % save_every == 0:
                        torch.save({}, self.path)

        Trainer("snapshots/snapshot.pt").train(50, 10)
    """
    assert told(code) == {
        "resumes": True,
        "checkpoint_dir": "snapshots",
        "checkpoint_every": 10,
        "epochs": 50,
    }


def test_a_trainer_that_looks_for_checkpoints_resumes(told):
    code = """
        import pathlib
        from transformers import Trainer, TrainingArguments
        args = TrainingArguments(output_dir="out")
        trainer = Trainer(model=None, args=args)
        if list(pathlib.Path(args.output_dir).glob("checkpoint-*")):
            trainer.train(resume_from_checkpoint=True)
        else:
            trainer.train()
    """
    assert told(code)["resumes"] is True


@pytest.mark.parametrize("code", ["", "import torch\n", "torch.optim.SGD()", "x = 1 /", "\0"])
def test_any_text_is_answered(told, code):
    assert told(code) == {} or "optimizer" in told(code)
