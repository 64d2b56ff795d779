"""PyTorch training scripts, interpreted for real: what the libraries will get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.frameworks.families import PYTORCH_FAMILY
from advisor.frameworks.interpreted import said, statements


@pytest.fixture
def told(tmp_path: Path):
    """What is said; a library's class or dtype by the last part of its name."""

    def tell(code: str, *arguments: str) -> dict[str, Any]:
        found = said(tmp_path, code, *arguments, readers=PYTORCH_FAMILY)
        return {field: _plain(value) for field, value in found.items()}

    return tell


def _plain(value: Any) -> Any:
    return value.name.rpartition(".")[2] if hasattr(value, "name") else value


CLASSIC = """
    import argparse
    import torch
    import torch.nn as nn
    import torchvision
    from torch.utils.data import DataLoader

    def train(model, loader, optimizer, epoch, accumulate):
        for step, (x, y) in enumerate(loader):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(x).sum()
            loss.backward()
            if (step + 1) % accumulate == 0:
                optimizer.step()

    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--arch", default="resnet18")
        parser.add_argument("--epochs", type=int, default=90)
        parser.add_argument("-b", "--bs", type=int, default=256)
        parser.add_argument("--lr", type=float, default=0.1)
        parser.add_argument("--accumulate", type=int, default=2)
        parser.add_argument("--save-freq", type=int, default=10)
        parser.add_argument("--opt", default="sgd")
        args = parser.parse_args()
        kinds = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}
        train_set = torchvision.datasets.CIFAR10("data", train=True)
        test_set = torchvision.datasets.CIFAR10("data", train=False)
        test_loader = DataLoader(test_set, batch_size=1000)
        train_loader = DataLoader(train_set, batch_size=args.bs, shuffle=True)
        model = torchvision.models.__dict__[args.arch](num_classes=10)
        optimizer = kinds[args.opt](model.parameters(), lr=args.lr)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=5)
        for epoch in range(1, args.epochs + 1):
            train(model, train_loader, optimizer, epoch, args.accumulate)
            if epoch % args.save_freq == 0:
                torch.save(model.state_dict(), "runs/cifar/last.pth")

    if __name__ == "__main__":
        main()
"""


def test_a_classic_script(told):
    assert told(CLASSIC, "--opt", "adamw", "--epochs", "30", "-b", "64") == {
        "batch_size": 64,
        "optimizer": "AdamW",
        "learning_rate": 0.1,
        "precision": "bfloat16",
        "epochs": 30,
        "gradient_accumulation": 2,
        "checkpoint_dir": "runs/cifar",
        "checkpoint_every": 10,
        "model": "resnet18",
        "dataset": "cifar10",
    }


def test_evidence_is_where_the_job_chose_not_where_the_library_was_called(tmp_path):
    found = statements(tmp_path, CLASSIC, "--opt", "adamw", readers=PYTORCH_FAMILY)
    first = {each.field: each.value.lines[0] for each in found}
    assert first["optimizer"].file == "<command>"
    assert '"--arch"' in first["model"].text
    assert '"--lr"' in first["learning_rate"].text
    assert '"--epochs"' in first["epochs"].text


def test_a_patience_of_a_schedule_is_no_early_stopping(told):
    assert "early_stopping" not in told(CLASSIC)


def test_a_class_of_the_job_s_own_stops_early(told):
    code = """
        class EarlyStopping:
            def __init__(self, patience):
                self.patience = patience

        stopper = EarlyStopping(patience=7)
    """
    assert told(code) == {"early_stopping": True}


def test_steps_with_micro_steps_and_a_way_out(told):
    code = """
        import torch
        accumulation_steps = 8
        max_iters = 600_000
        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.Adam(model.parameters(), lr=6e-4)
        iter_num = 0
        while True:
            for micro_step in range(accumulation_steps):
                loss = model(torch.ones(4)).sum()
                loss.backward()
            optimizer.step()
            iter_num += 1
            if iter_num > max_iters:
                break
    """
    assert told(code) == {
        "optimizer": "Adam",
        "learning_rate": 6e-4,
        "max_steps": 600_000,
        "gradient_accumulation": 8,
    }


def test_an_agent_s_rhythms_are_no_accumulation_and_its_passes_no_epochs(told):
    code = """
        import gymnasium as gym
        import torch
        optimizer = torch.optim.Adam([], lr=1e-3)
        for iteration in range(488):
            for epoch in range(4):
                if iteration % 4 == 0:
                    optimizer.step()
    """
    assert told(code) == {"optimizer": "Adam", "learning_rate": 1e-3}


def test_an_own_optimizer(told):
    code = """
        from torch.optim import Optimizer

        class Lionheart(Optimizer):
            def __init__(self, params, lr=1e-4, betas=(0.9, 0.99)):
                super().__init__(params, dict(lr=lr, betas=betas))

        optimizer = Lionheart([], lr=3e-5)
    """
    assert told(code) == {"optimizer": "Lionheart", "learning_rate": 3e-5}


def test_resuming_from_what_is_there(told):
    code = """
        import os
        import torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if os.path.exists("out/last.pt"):
            checkpoint = torch.load("out/last.pt")
            model.load_state_dict(checkpoint["model"])
            optimizer.load_state_dict(checkpoint["optimizer"])
            epoch = checkpoint["epoch"]
        torch.save({"model": model.state_dict(), "epoch": 1}, "out/last.pt")
    """
    assert told(code)["resumes"] is True


def test_pretrained_weights_are_no_resumption(told):
    code = """
        import torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.load_state_dict(torch.load("checkpoint.pt"))
    """
    assert "resumes" not in told(code)


def test_transformers_by_their_modules_and_configs(told):
    code = """
        from dataclasses import dataclass
        import torch.nn as nn

        @dataclass
        class GPTConfig:
            block_size: int = 1024
            vocab_size: int = 50304
            n_layer: int = 12
            n_head: int = 12
            n_embd: int = 768

        config = GPTConfig(n_layer=6, block_size=256)
    """
    assert told(code) == {
        "sequence_length": 256,
        "vocab_size": 50304,
        "n_layer": 6,
        "n_head": 12,
        "d_model": 768,
    }
    module = """
        import torch.nn as nn
        layer = nn.TransformerEncoderLayer(d_model=512, nhead=8)
        encoder = nn.TransformerEncoder(layer, num_layers=6)
        token_embedding = nn.Embedding(32000, 512)
        label_embedding = nn.Embedding(1000, 512)
    """
    assert told(module) == {"d_model": 512, "n_head": 8, "n_layer": 6, "vocab_size": 32000}


LIGHTNING = """
    import lightning as L
    import torch
    from torch.utils.data import DataLoader
    from torchvision.datasets import MNIST

    class Lit(L.LightningModule):
        def __init__(self, lr=1e-3):
            super().__init__()
            self.lr = lr

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=self.lr)

    class Data(L.LightningDataModule):
        def __init__(self, batch_size=32):
            super().__init__()
            self.batch_size = batch_size

        def setup(self, stage):
            self.train_set = MNIST(".", train=True)

        def train_dataloader(self):
            return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True)

        def val_dataloader(self):
            return DataLoader(self.train_set, batch_size=512)

    trainer = L.Trainer(max_epochs=20, precision="16-mixed", strategy="ddp", devices=4)
    trainer.fit(Lit(lr=2e-3), Data(batch_size=64), ckpt_path="last")
"""


def test_lightning(told, tmp_path):
    assert told(LIGHTNING) == {
        "batch_size": 64,
        "optimizer": "AdamW",
        "learning_rate": 2e-3,
        "precision": "16-mixed",
        "parallelism": "ddp",
        "epochs": 20,
        "dataset": "mnist",
        "resumes": True,
    }
    found = statements(tmp_path, LIGHTNING, readers=PYTORCH_FAMILY)
    certain = {each.field for each in found if each.certain}
    assert {"batch_size", "optimizer", "learning_rate", "dataset"} <= certain


TRANSFORMERS = """
    from dataclasses import dataclass, field
    from datasets import load_dataset
    from transformers import (
        AutoConfig, AutoModelForCausalLM, AutoTokenizer, HfArgumentParser, Trainer,
        TrainingArguments,
    )

    @dataclass
    class ModelArguments:
        model_name: str = field(default="gpt2")

    def main():
        parser = HfArgumentParser((ModelArguments, TrainingArguments))
        model_args, training_args = parser.parse_args_into_dataclasses()
        data = load_dataset("wikitext", "wikitext-103-raw-v1")
        tokenizer = AutoTokenizer.from_pretrained(model_args.model_name)
        config = AutoConfig.from_pretrained(model_args.model_name)
        model = AutoModelForCausalLM.from_config(config)

        def tokenize(examples):
            return tokenizer(examples["text"], truncation=True, max_length=512)

        data = data.map(tokenize)
        trainer = Trainer(model=model, args=training_args, train_dataset=data)
        trainer.train(resume_from_checkpoint=training_args.resume_from_checkpoint)

    main()
"""


def test_transformers_trainer_with_a_parser(told):
    words = (
        "--output_dir out --per_device_train_batch_size 16 --bf16 --max_steps 5000 "
        "--learning_rate 3e-4 --gradient_accumulation_steps 2 --optim adafactor"
    )
    found = told(TRANSFORMERS, *words.split())
    assert found == {
        "batch_size": 16,
        "gradient_accumulation": 2,
        "learning_rate": 3e-4,
        "optimizer": "adafactor",
        "checkpoint_dir": "out",
        "max_steps": 5000,
        "precision": "bf16",
        "model": "gpt2",
        "dataset": "wikitext-103-raw-v1",
        "sequence_length": 512,
    }


def test_accelerate_with_a_loop_of_the_job_s_own(told):
    code = """
        import torch
        from accelerate import Accelerator
        from torch.utils.data import DataLoader
        from transformers import AutoModelForSequenceClassification

        accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=4)
        model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased")
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
        loader = DataLoader([], shuffle=True, batch_size=16)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for epoch in range(3):
            for step, batch in enumerate(loader):
                with accelerator.accumulate(model):
                    loss = model(**batch).loss
                    accelerator.backward(loss)
                    optimizer.step()
            accelerator.save_state("out/state")
    """
    assert told(code) == {
        "batch_size": 16,
        "optimizer": "AdamW",
        "learning_rate": 2e-5,
        "precision": "bf16",
        "gradient_accumulation": 4,
        "epochs": 3,
        "checkpoint_dir": "out/state",
        "checkpoint_every": 1,
        "model": "bert-base-cased",
    }


def test_detectron2_by_assignment(told):
    code = """
        from detectron2 import model_zoo
        from detectron2.config import get_cfg
        from detectron2.engine import DefaultTrainer

        cfg = get_cfg()
        cfg.merge_from_file(model_zoo.get_config_file("COCO-Detection/retinanet_R_50_FPN_3x.yaml"))
        cfg.DATASETS.TRAIN = ("balloon_train",)
        cfg.SOLVER.IMS_PER_BATCH = 2
        cfg.SOLVER.BASE_LR = 0.00025
        cfg.SOLVER.MAX_ITER = 300
        trainer = DefaultTrainer(cfg)
        trainer.resume_or_load(resume=False)
        trainer.train()
    """
    assert told(code) == {
        "batch_size": 2,
        "learning_rate": 0.00025,
        "max_steps": 300,
        "dataset": "balloon_train",
        "model": "retinanet_R_50_FPN_3x",
    }


def test_ultralytics(told):
    code = """
        from ultralytics import YOLO
        model = YOLO("yolov8n.pt")
        model.train(data="coco128.yaml", epochs=100, imgsz=640, batch=16)
    """
    assert told(code) == {
        "model": "yolov8n",
        "dataset": "coco128",
        "epochs": 100,
        "batch_size": 16,
    }


def test_nothing_of_another_world(told):
    code = """
        import tensorflow as tf
        model = tf.keras.Sequential()
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
        model.fit([], epochs=5, batch_size=32)
    """
    assert told(code) == {}


OWN_OPTIMISER = """
    import torch
    from torch.optim import Optimizer

    class AdamW(Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, dict(lr=lr))

    def make_sgd(net):
        return torch.optim.SGD(net.parameters(), lr=1.0)

    net = torch.nn.Linear(1, 1)
    optimizer = AdamW(net.parameters(), lr=0.1)
"""


def test_an_own_optimiser_that_is_made_beats_a_library_s_that_is_not(tmp_path: Path):
    found = list(statements(tmp_path, OWN_OPTIMISER, readers=PYTORCH_FAMILY))
    (optimizer,) = (each for each in found if each.field == "optimizer")
    assert optimizer.value.data == "AdamW"
    assert optimizer.value.lines[0].text == "optimizer = AdamW(net.parameters(), lr=0.1)"
