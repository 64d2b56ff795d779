"""Small trees in the shapes that real repositories have, with the record a person would write.

A field that is `None` must not be stated.
"""

import shlex
import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

RESUMES = {
    "newest file of a glob": (
        {
            "train.py": """\
            import argparse, glob, os
            import torch
            from nets import UNet
            p = argparse.ArgumentParser()
            p.add_argument("--out", default="runs")
            p.add_argument("--epochs", type=int, default=40)
            args = p.parse_args()
            model = UNet()
            opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
            start = 0
            found = sorted(glob.glob(os.path.join(args.out, "ckpt_*.pt")))
            if found:
                state = torch.load(found[-1], map_location="cpu")
                model.load_state_dict(state["model"])
                opt.load_state_dict(state["opt"])
                start = state["epoch"] + 1
            for epoch in range(start, args.epochs):
                opt.step()
                torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": epoch},
                           os.path.join(args.out, f"ckpt_{epoch}.pt"))
            """
        },
        "python train.py",
        {"resumes": True},
    ),
    "helper that returns the newest or None": (
        {
            "train.py": """\
            import os, re
            import torch
            from torch import nn
            OUT = "checkpoints"
            def latest_checkpoint(folder):
                if not os.path.isdir(folder):
                    return None
                names = [n for n in os.listdir(folder) if n.startswith("step_")]
                if not names:
                    return None
                newest = max(names, key=lambda n: int(re.findall(r"\\d+", n)[0]))
                return os.path.join(folder, newest)
            def main():
                model = nn.Linear(4, 4)
                opt = torch.optim.SGD(model.parameters(), lr=0.1)
                step = 0
                path = latest_checkpoint(OUT)
                if path is not None:
                    ckpt = torch.load(path)
                    model.load_state_dict(ckpt["model"])
                    opt.load_state_dict(ckpt["optimizer"])
                    step = ckpt["step"]
                while step < 1000:
                    opt.step()
                    step += 1
                    if step % 100 == 0:
                        torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(),
                                    "step": step}, f"{OUT}/step_{step}")
            main()
            """
        },
        "python train.py",
        {"resumes": True, "max_steps": 1000},
    ),
    "only the best loss is read from a checkpoint": (
        {
            "train.py": """\
            import os
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            best = 1e9
            if os.path.exists("best.pt"):
                state = torch.load("best.pt")
                best = state["best_loss"]
            for epoch in range(5):
                opt.step()
                torch.save({"model": model.state_dict(), "best_loss": 1.0}, "best.pt")
            """
        },
        "python train.py",
        {"resumes": None, "epochs": 5},
    ),
    "only the best loss is read, in one line": (
        {
            "train.py": """\
            import os
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            best_loss = torch.load("best.pt")["loss"] if os.path.exists("best.pt") else 1e9
            for epoch in range(5):
                opt.step()
                torch.save({"model": model.state_dict(), "loss": 1.0}, "best.pt")
            """
        },
        "python train.py",
        {"resumes": None, "epochs": 5},
    ),
    "newest state of a glob": (
        {
            "train.py": """\
            import glob, os
            from pathlib import Path
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            found = sorted(glob.glob("out/*.pt"))
            first = 0
            if found:
                state = torch.load(found[-1])
                model.load_state_dict(state["model"])
                first = state["epoch"] + 1
            for epoch in range(first, 5):
                opt.step()
                torch.save({"model": model.state_dict(), "epoch": epoch}, f"out/{epoch}.pt")
            """
        },
        "python train.py",
        {"resumes": True, "epochs": 5},
    ),
    "newest weights of a path, without their epoch": (
        {
            "train.py": """\
            import glob, os
            from pathlib import Path
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            found = list(Path("out").glob("*.pt"))
            if len(found) > 0:
                newest = max(found, key=os.path.getmtime)
                state = torch.load(newest)
                model.load_state_dict(state)
            for epoch in range(5):
                opt.step()
                torch.save(model.state_dict(), f"out/{epoch}.pt")
            """
        },
        "python train.py",
        {"resumes": None, "epochs": 5},
    ),
    "weights of another directory": (
        {
            "train.py": """\
            import glob, os
            from pathlib import Path
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            found = sorted(glob.glob("pretrained/*.pt"))
            if found:
                model.load_state_dict(torch.load(found[-1]))
            for epoch in range(5):
                opt.step()
                torch.save(model.state_dict(), f"out/{epoch}.pt")
            """
        },
        "python train.py",
        {"resumes": None, "epochs": 5},
    ),
    "flag that is None": (
        {
            "train.py": """\
            import argparse
            import torch
            p = argparse.ArgumentParser()
            p.add_argument("--resume", type=str, default=None)
            args = p.parse_args()
            if args.resume is not None:
                load_everything(args.resume)
            """
        },
        "python train.py",
        {"resumes": False},
    ),
    "flag that is given": (
        {
            "train.py": """\
            import argparse
            import torch
            p = argparse.ArgumentParser()
            p.add_argument("--resume_ckpt", type=str, default=None)
            args = p.parse_args()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if args.resume_ckpt:
                state = torch.load(args.resume_ckpt)
                model.load_state_dict(state["model"])
                optimizer.load_state_dict(state["optimizer"])
            """
        },
        "python train.py --resume_ckpt runs/last.pt",
        {"resumes": None},
    ),
    "checkpoint flag without the word resume": (
        {
            "train.py": """\
            import argparse
            import torch
            p = argparse.ArgumentParser()
            p.add_argument("--checkpoint", default="")
            args = p.parse_args()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            start_epoch = 0
            if args.checkpoint:
                state = torch.load(args.checkpoint)
                model.load_state_dict(state["model"])
                optimizer.load_state_dict(state["optimizer"])
                start_epoch = state["epoch"]
            for epoch in range(start_epoch, 20):
                optimizer.step()
            """
        },
        "python train.py",
        {"resumes": False, "epochs": 20},
    ),
    "cached data and pretrained weights": (
        {
            "train.py": """\
            import os
            import torch
            from torchvision.models import resnet18
            model = resnet18()
            model.load_state_dict(torch.load("weights/resnet18.pth"))
            if os.path.exists("cache/train.pt"):
                data = torch.load("cache/train.pt")
            else:
                data = make()
                torch.save(data, "cache/train.pt")
            opt = torch.optim.Adam(model.parameters(), lr=1e-3)
            for epoch in range(5):
                opt.step()
                torch.save(model.state_dict(), "out/model.pt")
            """
        },
        "python train.py",
        {"resumes": None, "epochs": 5, "model": "resnet18"},
    ),
    "lightning last": (
        {
            "train.py": """\
            import lightning as L
            from mod import Lit
            trainer = L.Trainer(max_epochs=7, devices=2)
            trainer.fit(Lit(), ckpt_path="last")
            """
        },
        "python train.py",
        {"resumes": True, "epochs": 7},
    ),
    "accelerate newest directory": (
        {
            "train.py": """\
            import os
            from accelerate import Accelerator
            accelerator = Accelerator(mixed_precision="bf16")
            out = "state"
            first_step = 0
            if os.path.isdir(out) and os.listdir(out):
                newest = max(os.listdir(out), key=lambda d: int(d.split("_")[-1]))
                accelerator.load_state(os.path.join(out, newest))
                first_step = int(newest.split("_")[-1])
            for step in range(first_step, 500):
                accelerator.backward(loss)
                if step % 50 == 0:
                    accelerator.save_state(f"{out}/step_{step}")
            """
        },
        "accelerate launch train.py",
        {"resumes": True, "precision": "bf16"},
    ),
    "deepspeed load_checkpoint": (
        {
            "train.py": """\
            import deepspeed
            model = build()
            engine, opt, _, _ = deepspeed.initialize(model=model, config="ds.json")
            path, client = engine.load_checkpoint("ckpts")
            start = client["step"] if path else 0
            for step in range(start, 300):
                engine.step()
                if step % 100 == 0:
                    engine.save_checkpoint("ckpts", client_state={"step": step})
            """,
            "ds.json": '{"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": true}}',
        },
        "deepspeed train.py",
        {"resumes": True, "batch_size": 4},
    ),
    "orbax latest step": (
        {
            "train.py": """\
            import jax
            import orbax.checkpoint as ocp
            options = ocp.CheckpointManagerOptions(save_interval_steps=200)
            manager = ocp.CheckpointManager("/ckpt/run", options=options)
            state = init()
            if manager.latest_step() is not None:
                state = manager.restore(manager.latest_step(), args=ocp.args.StandardRestore(state))
            for step in range(10):
                manager.save(step, args=ocp.args.StandardSave(state))
            """
        },
        "python train.py",
        {"resumes": True},
    ),
    "stable-baselines": (
        {
            "train.py": """\
            import os
            from stable_baselines3 import PPO
            if os.path.exists("ppo.zip"):
                model = PPO.load("ppo.zip", env="CartPole-v1")
            else:
                model = PPO("MlpPolicy", "CartPole-v1")
            model.learn(total_timesteps=100000)
            model.save("ppo.zip")
            """
        },
        "python train.py",
        {"resumes": False},
    ),
    "tensorflow manager": (
        {
            "train.py": """\
            import tensorflow as tf
            model = build()
            opt = tf.keras.optimizers.Adam(1e-3)
            ckpt = tf.train.Checkpoint(model=model, opt=opt)
            manager = tf.train.CheckpointManager(ckpt, "tf_ckpts", max_to_keep=3)
            ckpt.restore(manager.latest_checkpoint)
            for epoch in range(12):
                manager.save()
            """
        },
        "python train.py",
        {"resumes": True},
    ),
    "hf trainer true": (
        {
            "train.py": """\
            from transformers import Trainer, TrainingArguments, AutoModelForCausalLM
            model = AutoModelForCausalLM.from_pretrained("gpt2")
            args = TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=3)
            Trainer(model=model, args=args, train_dataset=ds).train(resume_from_checkpoint=True)
            """
        },
        "python train.py",
        {"resumes": True, "epochs": 2, "batch_size": 3, "model": "gpt2"},
    ),
}

BATCHES = {
    "global divided by the world": (
        {
            "train.py": """\
            import argparse, os
            import torch, torch.distributed as dist
            from torch.utils.data import DataLoader
            p = argparse.ArgumentParser()
            p.add_argument("--global_batch_size", type=int, default=256)
            args = p.parse_args()
            dist.init_process_group("nccl")
            world = int(os.environ["WORLD_SIZE"])
            loader = DataLoader(train_set, batch_size=args.global_batch_size // world, shuffle=True)
            """
        },
        "torchrun --nproc_per_node=8 train.py",
        {"batch_size": 32},
    ),
    "written back to the options": (
        {
            "train.py": """\
            import argparse
            import torch
            from torch.utils.data import DataLoader
            p = argparse.ArgumentParser()
            p.add_argument("-b", "--batch-size", type=int, default=256)
            args = p.parse_args()
            def worker(gpu, ngpus, args):
                args.batch_size = int(args.batch_size / ngpus)
                loader = make_loader(args)
            def make_loader(args):
                return DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
            gpus = torch.cuda.device_count()
            torch.multiprocessing.spawn(worker, nprocs=gpus, args=(gpus, args))
            """
        },
        "srun --gres=gpu:4 python train.py",
        {"batch_size": 64},
    ),
    "accumulation derived from the global batch": (
        {
            "train.py": """\
            import os
            import torch
            from torch.utils.data import DataLoader
            total_batch = 512
            micro_batch = 16
            world = int(os.environ.get("WORLD_SIZE", 1))
            accum = total_batch // (micro_batch * world)
            loader = DataLoader(train_set, batch_size=micro_batch, shuffle=True)
            for i, batch in enumerate(loader):
                loss = step(batch) / accum
                loss.backward()
                if (i + 1) % accum == 0:
                    optimizer.step()
            """
        },
        "torchrun --nproc_per_node 4 train.py",
        {"batch_size": 16, "gradient_accumulation": 8},
    ),
    "divided by a number that is not known": (
        {
            "train.py": """\
            import argparse
            import torch
            from torch.utils.data import DataLoader
            from lib import n_gpus
            p = argparse.ArgumentParser()
            p.add_argument("--batch_size", type=int, default=64)
            p.add_argument("--lr", type=float, default=3e-4)
            args = p.parse_args()
            loader = DataLoader(train_set, batch_size=args.batch_size // n_gpus(), shuffle=True)
            """
        },
        "python train.py",
        {"batch_size": None, "learning_rate": 3e-4},
    ),
    "global word beside gathered gradients": (
        {
            "train.py": """\
            import argparse, torch
            from lib import run
            p = argparse.ArgumentParser()
            p.add_argument("--global-batch-size", type=int, default=128)
            p.add_argument("--accumulation-steps", type=int, default=4)
            run(p.parse_args())
            """
        },
        "torchrun --nproc_per_node=4 train.py",
        {"batch_size": None, "gradient_accumulation": 4},
    ),
    "global word alone, no loader in sight": (
        {
            "train.py": """\
            import argparse, torch
            from lib import run
            p = argparse.ArgumentParser()
            p.add_argument("--global-batch-size", type=int, default=128)
            p.add_argument("--lr", type=float, default=3e-4)
            run(p.parse_args())
            """
        },
        "torchrun --nproc_per_node=4 train.py",
        {"batch_size": 32, "learning_rate": 3e-4},
    ),
}

MODELS = {
    "lightning module around a backbone": (
        {
            "train.py": """\
            import pytorch_lightning as pl, torch, torchvision
            class LitClassifier(pl.LightningModule):
                def __init__(self, lr=1e-3):
                    super().__init__()
                    self.model = torchvision.models.efficientnet_b0(num_classes=10)
                def configure_optimizers(self):
                    return torch.optim.Adam(self.parameters(), lr=1e-3)
            pl.Trainer(max_epochs=3).fit(LitClassifier(), train)
            """
        },
        "python train.py",
        {"model": "efficientnet_b0", "epochs": 3},
    ),
    "own module around timm": (
        {
            "train.py": """\
            import timm, torch
            from torch import nn
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.backbone = timm.create_model("convnext_tiny", pretrained=True)
                    self.head = nn.Linear(768, 4)
            model = Net()
            opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
            """
        },
        "python train.py",
        {"model": "convnext_tiny", "learning_rate": 2e-4},
    ),
    "data parallel around an own class": (
        {
            "train.py": """\
            import torch
            from torch import nn
            from torch.nn.parallel import DistributedDataParallel as DDP
            class PointTransformer(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(3, 64)
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.encoder = PointTransformer()
                    self.head = nn.Linear(64, 40)
            net = DDP(Model().cuda())
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            """
        },
        "torchrun --nproc_per_node=2 train.py",
        {"model": "PointTransformer", "parallelism": "ddp"},
    ),
    "blocks of an own class": (
        {
            "train.py": """\
            import torch
            from torch import nn
            class ResidualBlock(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(3, 64)
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = ResidualBlock()
            model = Model()
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            """
        },
        "python train.py",
        {"model": None, "learning_rate": 0.1},
    ),
    "lightning module around an own class": (
        {
            "train.py": """\
            import lightning as L, torch
            from torch import nn
            class SwinUNETR(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(3, 64)
            class LitModule(L.LightningModule):
                def __init__(self, net):
                    super().__init__()
                    self.net = net
                def configure_optimizers(self):
                    return torch.optim.AdamW(self.net.parameters(), lr=1e-4)
            L.Trainer(max_epochs=100).fit(LitModule(SwinUNETR()))
            """
        },
        "python train.py",
        {"model": "SwinUNETR", "optimizer": "adamw"},
    ),
}

CONFIGS = {
    "yacs defaults in a package": (
        {
            "config/__init__.py": "from .defaults import get_cfg_defaults\n",
            "config/defaults.py": """\
            from yacs.config import CfgNode as CN
            _C = CN()
            _C.MODEL = CN()
            _C.MODEL.NAME = "resnet50"
            _C.SOLVER = CN()
            _C.SOLVER.MAX_EPOCHS = 120
            _C.SOLVER.BASE_LR = 3e-4
            _C.SOLVER.IMS_PER_BATCH = 64
            def get_cfg_defaults():
                return _C.clone()
            """,
            "configs/vit.yml": "MODEL:\n  NAME: vit_base\nSOLVER:\n  MAX_EPOCHS: 60\n",
            "train.py": """\
            import argparse, torch
            from config import get_cfg_defaults
            p = argparse.ArgumentParser()
            p.add_argument("--config_file", default="")
            p.add_argument("opts", nargs=argparse.REMAINDER)
            args = p.parse_args()
            cfg = get_cfg_defaults()
            if args.config_file:
                cfg.merge_from_file(args.config_file)
            cfg.merge_from_list(args.opts)
            cfg.freeze()
            """,
        },
        "python train.py --config_file configs/vit.yml SOLVER.BASE_LR 0.01",
        {"model": "vit_base", "epochs": 60, "learning_rate": 0.01},
    ),
    "registry with a decorator": (
        {
            "configs.py": """\
            from dataclasses import dataclass
            CONFIGS = {}
            def register(name):
                def wrap(fn):
                    CONFIGS[name] = fn
                    return fn
                return wrap
            @dataclass
            class TrainConfig:
                batch_size: int = 8
                epochs: int = 1
                lr: float = 1e-3
            @register("small")
            def small():
                return TrainConfig(batch_size=16, epochs=10)
            @register("large")
            def large():
                return TrainConfig(batch_size=128, epochs=90, lr=4e-3)
            def get_config(name):
                return CONFIGS[name]()
            """,
            "train.py": """\
            import sys, torch
            from configs import get_config
            config = get_config(sys.argv[1])
            """,
        },
        "python train.py large",
        {"batch_size": 128, "epochs": 90, "learning_rate": 4e-3},
    ),
    "dict of presets": (
        {
            "train.py": """\
            import argparse, torch
            PRESETS = {
                "debug": dict(epochs=1, batch_size=2, lr=1e-2),
                "full": dict(epochs=300, batch_size=96, lr=5e-4),
            }
            p = argparse.ArgumentParser()
            p.add_argument("--preset", choices=PRESETS, default="full")
            cfg = argparse.Namespace(**PRESETS[p.parse_args().preset])
            for epoch in range(cfg.epochs):
                pass
            """
        },
        "python train.py",
        {"epochs": 300, "batch_size": 96, "learning_rate": 5e-4},
    ),
    "config module by name": (
        {
            "configs/base.py": "batch_size = 8\nepochs = 5\nlr = 1e-3\n",
            "configs/big.py": "from configs.base import *\nbatch_size = 48\nepochs = 50\n",
            "train.py": """\
            import importlib, sys, torch
            cfg = importlib.import_module("configs." + sys.argv[1])
            for epoch in range(cfg.epochs):
                train(cfg.batch_size, cfg.lr)
            """,
        },
        "python train.py big",
        {"batch_size": 48, "epochs": 50, "learning_rate": 1e-3},
    ),
    "environment in front": (
        {
            "train.py": """\
            import os, torch
            EPOCHS = int(os.environ.get("EPOCHS", 10))
            BATCH_SIZE = int(os.getenv("BATCH_SIZE", "32"))
            LR = float(os.environ.get("LR", "1e-3"))
            for epoch in range(EPOCHS):
                pass
            """
        },
        "env BATCH_SIZE=64 LR=0.01 python train.py",
        {"epochs": 10, "batch_size": 64, "learning_rate": 0.01},
    ),
    "ini": (
        {
            "run.ini": "[train]\nepochs = 25\nbatch_size = 12\nlr = 0.002\n"
            "[model]\nname = bert-base-uncased\n",
            "train.py": """\
            import configparser, sys, torch
            parser = configparser.ConfigParser()
            parser.read(sys.argv[1])
            epochs = parser.getint("train", "epochs")
            batch_size = parser["train"].getint("batch_size")
            lr = float(parser["train"]["lr"])
            model = parser.get("model", "name")
            for epoch in range(epochs):
                pass
            """,
        },
        "python train.py run.ini",
        {"epochs": 25, "batch_size": 12, "learning_rate": 0.002, "model": "bert-base-uncased"},
    ),
    "toml": (
        {
            "run.toml": "[training]\nepochs = 8\nbatch_size = 20\n"
            '[optimizer]\nname = "lion"\nlr = 1e-4\n',
            "train.py": """\
            import sys, tomllib, torch
            with open(sys.argv[1], "rb") as f:
                cfg = tomllib.load(f)
            train(cfg)
            """,
        },
        "python train.py run.toml",
        {"epochs": 8, "batch_size": 20, "optimizer": "lion", "learning_rate": 1e-4},
    ),
    "namespace of a json": (
        {
            "conf.json": '{"epochs": 33, "batch_size": 10, "lr": 0.0005}',
            "train.py": """\
            import argparse, json, torch
            p = argparse.ArgumentParser()
            p.add_argument("-c", "--config", default="conf.json")
            with open(p.parse_args().config) as f:
                args = argparse.Namespace(**json.load(f))
            for epoch in range(args.epochs):
                step(args.batch_size, args.lr)
            """,
        },
        "python train.py",
        {"epochs": 33, "batch_size": 10, "learning_rate": 0.0005},
    ),
    "omegaconf from the command line": (
        {
            "base.yaml": "train:\n  epochs: 4\n  batch_size: 6\n  lr: 0.001\n",
            "train.py": """\
            import torch
            from omegaconf import OmegaConf
            cli = OmegaConf.from_cli()
            cfg = OmegaConf.merge(OmegaConf.load(cli.config), cli)
            fit(cfg)
            """,
        },
        "python train.py config=base.yaml train.epochs=11",
        {"epochs": 11, "batch_size": 6, "learning_rate": 0.001},
    ),
    "draccus": (
        {
            "train.py": """\
            from dataclasses import dataclass, field
            import draccus, torch
            @dataclass
            class OptimConfig:
                lr: float = 1e-4
            @dataclass
            class TrainConfig:
                batch_size: int = 8
                steps: int = 100000
                optim: OptimConfig = field(default_factory=OptimConfig)
            @draccus.wrap()
            def main(cfg: TrainConfig):
                train(cfg)
            main()
            """
        },
        "python train.py --batch_size=24 --optim.lr=3e-5",
        {"batch_size": 24, "max_steps": 100000, "learning_rate": 3e-5},
    ),
    "jsonargparse function": (
        {
            "train.py": """\
            from jsonargparse import CLI
            import torch
            def main(epochs: int = 3, batch_size: int = 5, lr: float = 0.1):
                for epoch in range(epochs):
                    pass
            CLI(main)
            """
        },
        "python train.py --epochs 9",
        {"epochs": 9, "batch_size": 5, "learning_rate": 0.1},
    ),
    "pydantic settings and the environment": (
        {
            "train.py": """\
            from pydantic_settings import BaseSettings, SettingsConfigDict
            import torch
            class Settings(BaseSettings):
                model_config = SettingsConfigDict(env_prefix="TRAIN_")
                epochs: int = 6
                batch_size: int = 7
            settings = Settings()
            for epoch in range(settings.epochs):
                step(settings.batch_size)
            """
        },
        "env TRAIN_EPOCHS=16 python train.py",
        {"epochs": 16, "batch_size": 7},
    ),
    "lightning cli with defaults and links": (
        {
            "main.py": """\
            import torch
            from lightning.pytorch.cli import LightningCLI
            from lightning import LightningModule, LightningDataModule
            class Data(LightningDataModule):
                def __init__(self, batch_size: int = 32): super().__init__()
            class Model(LightningModule):
                def __init__(self, batch_size: int = 1, lr: float = 1e-3): super().__init__()
            class CLI(LightningCLI):
                def add_arguments_to_parser(self, parser):
                    parser.link_arguments("data.batch_size", "model.batch_size")
            CLI(Model, Data, trainer_defaults={"max_epochs": 15, "precision": "bf16-mixed"})
            """
        },
        "python main.py fit --data.batch_size 8",
        {"epochs": 15, "precision": "bf16", "batch_size": 8, "learning_rate": 1e-3},
    ),
    "structured config of nested dataclasses": (
        {
            "settings.py": """\
            from dataclasses import dataclass
            from omegaconf import MISSING, DictConfig
            @dataclass
            class Run(DictConfig):
                name: str = MISSING
                dry_run: bool = False
            @dataclass
            class Training(DictConfig):
                steps: int
                batch_size: int
            @dataclass
            class Config(DictConfig):
                run: Run
                training: Training
            """,
            "conf/config.yaml": "defaults: [base, _self_]\ntraining: {steps: 400, batch_size: 6}\n",
            "train.py": """\
            import hydra
            from hydra.core.config_store import ConfigStore
            from transformers import TrainingArguments
            from settings import Config
            store = ConfigStore.instance()
            store.store(name="base", node=Config)
            @hydra.main(config_path="conf", config_name="config", version_base=None)
            def main(cfg):
                if cfg.run.dry_run:
                    cfg.training.steps = 3
                TrainingArguments("out", max_steps=cfg.training.steps,
                                  save_steps=cfg.training.steps // (2 if cfg.run.dry_run else 10),
                                  per_device_train_batch_size=cfg.training.batch_size)
            main()
            """,
        },
        "python train.py run.name=a training.steps=900",
        {"max_steps": 900, "batch_size": 6, "checkpoint_every": 90},
    ),
    "class filled from the command line by its names": (
        {
            "train.py": """\
            import argparse, torch
            class Config:
                batch_size = 1
                epochs = 20
                lr = 0.5
                def __init__(self, args):
                    for name in dir(self):
                        if not name.startswith("__") and hasattr(args, name):
                            setattr(self, name, getattr(args, name))
            p = argparse.ArgumentParser()
            p.add_argument("--batch_size", type=int, default=8)
            p.add_argument("--epochs", type=int, default=2)
            config = Config(p.parse_args())
            loader = torch.utils.data.DataLoader([], batch_size=config.batch_size, shuffle=True)
            for epoch in range(config.epochs):
                step(config.lr)
            """
        },
        "python train.py --epochs 3",
        {"batch_size": 8, "epochs": 3, "learning_rate": 0.5},
    ),
    "module by its path": (
        {
            "configs/a.py": "epochs = 12\nbatch_size = 6\nlr = 0.02\n",
            "train.py": """\
            import importlib.util, sys, torch
            spec = importlib.util.spec_from_file_location("config", sys.argv[1])
            config = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(config)
            for epoch in range(config.epochs):
                step(config.batch_size, config.lr)
            """,
        },
        "python train.py configs/a.py",
        {"epochs": 12, "batch_size": 6, "learning_rate": 0.02},
    ),
    "file that only a library reads": (
        {
            "configs/base.yml": "epoch: 7\nLearningRate: {base_lr: 0.01}\n",
            "configs/net.yml": "_BASE_: [base.yml]\nTrainReader: {batch_size: 3}\n",
            "train.py": """\
            import torch
            from toolbox.cli import Parser
            from toolbox.engine import Trainer
            Trainer(Parser().parse_args()).train()
            """,
        },
        "python train.py -c configs/net.yml",
        {"epochs": 7, "batch_size": 3, "learning_rate": 0.01},
    ),
    "configs of a program that is elsewhere": (
        {
            "configs/config.yaml": "defaults: [{trainer: small}, {experiment: null}]\n",
            "configs/trainer/small.yaml": "max_epochs: 2\n",
            "configs/experiment/big.yaml": """\
            # @package _global_
            trainer: {max_epochs: 9, accumulate_grad_batches: 2}
            module: {optimizer: {_target_: torch.optim.AdamW, lr: 0.002}}
            """,
        },
        "python -m toolbox.run experiment=big trainer.max_epochs=11",
        {
            "epochs": 11,
            "gradient_accumulation": 2,
            "optimizer": "adamw",
            "learning_rate": 0.002,
        },
    ),
    "data that only a library reads is no config": (
        {
            "data/train.json": '{"epochs": 5, "batch_size": 3}',
            "train.py": "import torch\nfrom toolbox import main\nmain()\n",
        },
        "python train.py --train-file data/train.json",
        {"epochs": None, "batch_size": None},
    ),
    "yacs literals": (
        {
            "train.py": """\
            import sys, torch
            from yacs.config import CfgNode as CN
            cfg = CN()
            cfg.NAME = "none"
            cfg.SOLVER = CN()
            cfg.SOLVER.MAX_EPOCHS = 1
            cfg.OUTPUT_DIR = ""
            cfg.merge_from_list(sys.argv[1:])
            for epoch in range(cfg.SOLVER.MAX_EPOCHS):
                torch.save(cfg, cfg.OUTPUT_DIR + "/last.pt")
            """
        },
        """python train.py SOLVER.MAX_EPOCHS 12 OUTPUT_DIR "('out/a')" """,
        {"epochs": 12, "checkpoint_dir": "out/a"},
    ),
    "lightning cli with classes in classes": (
        {
            "main.py": """\
            import torch
            from lightning import LightningModule
            from lightning.pytorch.cli import LightningCLI
            class Model(LightningModule):
                def __init__(self, backbone, optimizer=None):
                    super().__init__()
                    self.backbone, self.optimizer = backbone, optimizer
                def configure_optimizers(self):
                    return self.optimizer(self.parameters())
            class CLI(LightningCLI):
                def add_arguments_to_parser(self, parser):
                    parser.set_defaults({"trainer.max_epochs": 4})
            CLI(Model)
            """,
            "net.py": """\
            from torch import nn
            class Backbone(nn.Module):
                def __init__(self, dim: int, num_layers: int):
                    super().__init__()
                    self.layers = nn.ModuleList([nn.Linear(dim, dim) for _ in range(num_layers)])
            """,
            "run.yaml": """\
            model:
              backbone:
                class_path: net.Backbone
                init_args: {dim: 64, num_layers: 5}
              optimizer:
                class_path: torch.optim.Adagrad
                init_args: {lr: 0.03}
            """,
        },
        "python main.py fit --config run.yaml",
        {"epochs": 4, "n_layer": 5, "optimizer": "adagrad", "learning_rate": 0.03},
    ),
}

NOT_RUN = {
    "hooks run, functions beside them do not": (
        {
            "net.py": """\
            import lightning as L, torch
            class Net(L.LightningModule):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(2, 2)
                def configure_optimizers(self):
                    return torch.optim.AdamW(self.parameters(), lr=1e-3)
            """,
            "train.py": """\
            import lightning as L, torch
            from net import Net
            class Task:
                def __init__(self):
                    self.model = torch.nn.Linear(2, 2)
                def build_optimizer(self):
                    return torch.optim.SGD(self.model.parameters(), lr=0.1)
            task = Task()
            L.Trainer(max_epochs=3).fit(Net())
            """,
        },
        "python train.py",
        {"optimizer": "adamw", "learning_rate": 1e-3},
    ),
    "rounds that are named by what they call": (
        {
            "train.py": """\
            import jax, optax
            def run_epoch(state, data):
                key = jax.random.PRNGKey(0)
                for i in range(len(data)):
                    state = state.apply_gradients(grads=jax.grad(loss)(state.params))
                return state
            state = optax.adam(1e-3)
            for i in range(40):
                state = run_epoch(state, load())
            """
        },
        "python train.py",
        {"epochs": 40, "max_steps": None},
    ),
    "loop that starts at one and ends before": (
        {
            "train.py": """\
            import argparse, torch
            p = argparse.ArgumentParser()
            p.add_argument("--epochs", type=int, default=120)
            args = p.parse_args()
            net = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for epoch in range(1, args.epochs):
                opt.step()
            """
        },
        "python train.py",
        {"epochs": 120},
    ),
    "task of ray": (
        {
            "train.py": """\
            import ray, torch
            @ray.remote(num_gpus=1)
            def work(lr):
                net = torch.nn.Linear(2, 2)
                return torch.optim.Adagrad(net.parameters(), lr=lr)
            def other():
                return torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=5)
            ray.get(work.remote(0.02))
            """
        },
        "python train.py",
        {"optimizer": "adagrad", "learning_rate": 0.02},
    ),
    "function that a launcher calls": (
        {
            "train.py": """\
            import torch
            import torch_xla.distributed.xla_multiprocessing as xmp
            def work(rank, lr, epochs):
                net = torch.nn.Linear(2, 2)
                opt = torch.optim.RMSprop(net.parameters(), lr=lr)
                for epoch in range(epochs):
                    opt.step()
            xmp.spawn(work, args=(0.02, 6))
            """
        },
        "python train.py",
        {"optimizer": "rmsprop", "learning_rate": 0.02, "epochs": 6},
    ),
    "option that the code replaces by what it counts": (
        {
            "train.py": """\
            import argparse, torch
            p = argparse.ArgumentParser()
            p.add_argument("--vocab_size", type=int, default=100)
            p.add_argument("--batch_size", type=int, default=64)
            args = p.parse_args()
            args.vocab_size = len(open("vocab.txt").read())
            args.batch_size = args.batch_size // torch.cuda.device_count()
            net(args.vocab_size, args.batch_size)
            """
        },
        "python train.py",
        {"vocab_size": None, "batch_size": 64},
    ),
    "a helper that is not called": (
        {
            "train.py": """\
            import torch
            def debug_config():
                return dict(epochs=1, batch_size=2, learning_rate=0.5)
            def config():
                return dict(epochs=77, batch_size=14, learning_rate=2e-3)
            cfg = config()
            for epoch in range(cfg["epochs"]):
                step(cfg)
            """
        },
        "python train.py",
        {"epochs": 77, "batch_size": 14, "learning_rate": 2e-3},
    ),
    "steps of the schedule and of the log": (
        {
            "train.py": """\
            import torch
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.Adam(model.parameters(), lr=1e-3)
            sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=500)
            warmup_steps = 200
            log_steps = 10
            plot_epochs = 4
            for epoch in range(30):
                for batch in loader:
                    opt.step()
                for i in range(plot_epochs):
                    plot(i)
            """
        },
        "python train.py",
        {"epochs": 30, "max_steps": None},
    ),
    "inner epochs": (
        {
            "train.py": """\
            import torch
            policy = torch.nn.Linear(2, 2)
            opt = torch.optim.Adam(policy.parameters(), lr=3e-4)
            num_epochs = 200
            ppo_epochs = 4
            for epoch in range(num_epochs):
                data = collect(policy)
                for _ in range(ppo_epochs):
                    for batch in data:
                        opt.step()
            """
        },
        "python train.py",
        {"epochs": 200},
    ),
    "class default overwritten from data": (
        {
            "conf.yaml": "hidden_size: 768\nvocab_size: 32000\n",
            "train.py": """\
            import torch, yaml
            class Config:
                hidden_size = 64
                vocab_size = 100
                epochs = 2
            with open("conf.yaml") as f:
                for key, value in yaml.safe_load(f).items():
                    setattr(Config, key, value)
            Config.vocab_size = len(open("vocab.txt").read())
            for epoch in range(Config.epochs):
                net(Config.hidden_size, Config.vocab_size)
            """,
        },
        "python train.py",
        {"epochs": 2, "d_model": 768, "vocab_size": None},
    ),
}

SIGNS = {
    "patience of a schedule, at the top of the code": (
        {
            "train.py": """\
            import torch
            PATIENCE = 5
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=PATIENCE)
            for epoch in range(5):
                schedule.step(1.0)
            """
        },
        "python train.py",
        {"early_stopping": None},
    ),
    "patience of a schedule, by its place": (
        {
            "train.py": """\
            import argparse
            import torch
            p = argparse.ArgumentParser()
            p.add_argument("--patience", type=int, default=5)
            args = p.parse_args()
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "min", 0.1, args.patience)
            """
        },
        "python train.py",
        {"early_stopping": None},
    ),
    "patience of a schedule and of the loop": (
        {
            "train.py": """\
            import torch
            PATIENCE = 5
            model = torch.nn.Linear(2, 2)
            opt = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=PATIENCE)
            bad = 0
            for epoch in range(50):
                loss = step(model)
                schedule.step(loss)
                bad = bad + 1 if loss > 1 else 0
                if bad >= PATIENCE:
                    break
            """
        },
        "python train.py",
        {"early_stopping": True},
    ),
    "two functions that train": (
        {
            "train.py": """\
            import torch
            from torch.utils.data import DataLoader
            def pretrain():
                model = torch.nn.Linear(2, 2)
                opt = torch.optim.SGD(model.parameters(), lr=0.1)
                loader = DataLoader(first, batch_size=8, shuffle=True)
                for epoch in range(5):
                    for batch in loader:
                        opt.step()
            def finetune():
                model = torch.nn.Linear(4, 4)
                opt = torch.optim.Adam(model.parameters(), lr=0.2)
                train_loader = DataLoader(second, batch_size=16, shuffle=True)
                for epoch in range(50):
                    for batch in train_loader:
                        opt.step()
            pretrain()
            finetune()
            """
        },
        "python train.py",
        {"epochs": 5, "batch_size": 8},
    ),
    "two settings of a training": (
        {
            "train.py": """\
            from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
            model = AutoModelForCausalLM.from_pretrained("gpt2")
            first = TrainingArguments("a", num_train_epochs=1, learning_rate=0.1)
            Trainer(model=model, args=first).train()
            second = TrainingArguments("b", num_train_epochs=2, per_device_train_batch_size=4)
            Trainer(model=model, args=second).train()
            """
        },
        "python train.py",
        {"epochs": 1, "learning_rate": 0.1, "checkpoint_dir": "a", "batch_size": None},
    ),
    "a measure of any generated text": (
        {
            "train.py": """\
            import torch
            from torch import nn
            from rouge_score import rouge_scorer
            from lib import batches
            class Captioner(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.lstm = nn.LSTM(8, 8)
            model = Captioner()
            opt = torch.optim.Adam(model.parameters(), lr=1e-3)
            scorer = rouge_scorer.RougeScorer(["rougeL"])
            for epoch in range(3):
                for batch in batches:
                    loss = model(batch)
                    loss.backward()
                    opt.step()
            """
        },
        "python train.py",
        {"epochs": 3},
    ),
}

CASES = {
    f"{kind}: {name}": case
    for kind, cases in (
        ("resumes", RESUMES),
        ("batch", BATCHES),
        ("model", MODELS),
        ("config", CONFIGS),
        ("not run", NOT_RUN),
        ("signs", SIGNS),
    )
    for name, case in cases.items()
}


def record(project, files, command):
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(textwrap.dedent(text))
    target = Target.from_command(project, shlex.split(command))
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


def stated(workload, field):
    finding = getattr(workload, field)
    return None if finding is None else finding.value


@pytest.mark.parametrize(("files", "command", "expected"), CASES.values(), ids=CASES)
def test_a_record_is_what_a_person_would_write(tmp_path, files, command, expected):
    workload = record(tmp_path, files, command)
    assert {field: stated(workload, field) for field in expected} == expected


def test_a_measure_of_any_generated_text_makes_no_summarization(tmp_path):
    files, command, _ = SIGNS["a measure of any generated text"]
    assert stated(record(tmp_path, files, command), "task") != "summarization"
