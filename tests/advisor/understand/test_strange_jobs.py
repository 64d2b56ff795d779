"""Shapes met in jobs of unknown repositories, with the record a person would write.

A field that is `None` must not be stated.
"""

import shlex
import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
"""

CASES = {
    "a name that no line binds raises in a try": (
        {
            "train.py": """\
            from net import Net
            import torch

            class Config:
                epochs = 100

            try:
                print(profiled_by_a_tool)
                Config.epochs = 1
            except Exception:
                print("no profile")
            optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
            for epoch in range(1, Config.epochs + 1):
                optimizer.step()
            """,
        },
        {"epochs": 100.0},
    ),
    "a name that a later line binds does not": (
        {
            "train.py": """\
            from net import Net
            import torch
            epochs = 3

            def train():
                global epochs
                try:
                    print(settings)
                    epochs = 7
                except Exception:
                    pass
                optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
                for epoch in range(epochs):
                    optimizer.step()

            settings = {}
            train()
            """,
        },
        {"epochs": 7.0},
    ),
    "one round more than the number that is stated": (
        {
            "train.py": """\
            from net import Net
            import torch
            steps = int("500k".replace("k", "000"))
            optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
            for step in range(0, steps + 1):
                optimizer.step()
            """,
        },
        {"max_steps": 500_000},
    ),
    "a loop over iterations up to the number of epochs": (
        {
            "train.py": """\
            import argparse
            from net import Net
            import torch
            parser = argparse.ArgumentParser()
            parser.add_argument("--epochs", type=int, default=140)
            args = parser.parse_args()
            optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
            for iteration in range(1, args.epochs + 1):
                optimizer.step()
            """,
        },
        {"epochs": 140.0, "max_steps": None},
    ),
    "the rate of a factor beside the networks": (
        {
            "train.py": """\
            from net import Net
            import torch
            actor, log_alpha = Net(), torch.tensor(0.1)
            actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
            log_alpha_optimizer = torch.optim.Adam([log_alpha], lr=1e-4)
            """,
        },
        {"learning_rate": 1e-3},
    ),
    "an own optimiser that starts from another rate": (
        {
            "train.py": """\
            from net import Net
            import torch

            class Warm(torch.optim.Adam):
                def __init__(self, params, lr=1e-3, start=1e-7):
                    super().__init__(params, lr=start)
                    self.peak = lr

            optimizer = Warm(Net().parameters(), lr=5e-4)
            """,
        },
        {"learning_rate": 5e-4},
    ),
    "a callback that saves where only the run knows": (
        {
            "train.py": """\
            import os
            from lightning import Trainer
            from lightning.pytorch.callbacks import ModelCheckpoint
            saved = ModelCheckpoint(dirpath=os.environ["PLACE"])
            trainer = Trainer(max_epochs=2, callbacks=[saved], default_root_dir="/scratch/runs")
            """,
        },
        {"checkpoint_dir": None, "epochs": 2.0},
    ),
    "prepared data that a data set keeps is no checkpoint": (
        {
            "train.py": """\
            import os
            from net import Net
            import torch

            class Windows(torch.utils.data.Dataset):
                def __init__(self, path):
                    self.kept = path + ".pt"
                    if os.path.exists(self.kept):
                        self.examples = torch.load(self.kept)
                    else:
                        self.examples = [path]
                        torch.save(self.examples, self.kept)

            windows = Windows("data/books.jsonl")
            model = Net()
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

            def resume(path):
                optimizer.load_state_dict(torch.load(path)["optimizer"])

            for epoch in range(3):
                loss = model(windows)
                loss.backward()
                optimizer.step()
            """,
        },
        {"resumes": False},
    ),
    "losses that are written to a table": (
        {
            "train.py": """\
            from net import Net
            import torch
            optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
            for epoch in range(3):
                optimizer.step()
                with open("results/train_loss.txt", "a") as kept:
                    kept.write("0.1")
            """,
        },
        {"log_files": ("results/train_loss.txt",)},
    ),
    "a split and what was done to it": (
        {
            "train.py": """\
            from torch.utils.data import DataLoader
            from torchvision.datasets import ImageFolder
            place = "./pictures/birds_of_ohio/"
            loader = DataLoader(ImageFolder(place + "train_cropped_augmented/"), batch_size=80)
            """,
        },
        {"dataset": "birds_of_ohio"},
    ),
    "a part of a word is no network": (
        {
            "train.py": """\
            from net import Net
            from data import ActivityLog
            import torch
            loader = torch.utils.data.DataLoader(ActivityLog(), batch_size=2)
            optimizer = torch.optim.Adam(Net().parameters(), lr=1e-3)
            """,
            "data.py": "class ActivityLog:\n    pass\n",
        },
        {"task": None},
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES)
def test_a_record_is_what_a_person_would_write(tmp_path, files, expected):
    for name, text in {"net.py": NET, **files}.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    target = Target.from_command(tmp_path, shlex.split("python train.py"))
    understood, _ = understand(resolve(target), target.files, Request())
    found = {field: getattr(understood.workload, field) for field in expected}
    assert {field: each and each.value for field, each in found.items()} == expected
