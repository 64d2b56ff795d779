"""fastai: loaders by `bs`, lengths and rates by the learner's fit."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample
from schedmate.advisor.frameworks.doors import called
from schedmate.advisor.frameworks.rules import by_name, either

_LEARNER = "dls arch"

FRAMEWORK = Framework(
    settings={
        "batch_size": "*.bs",
        "model": "vision_learner.arch cnn_learner.arch unet_learner.arch",
        "optimizer": "*.opt_func",
        "epochs": "fit_one_cycle.n_epoch fit.n_epoch fit_flat_cos.n_epoch fine_tune.epochs",
        "learning_rate": "fit_one_cycle.lr_max fit.lr fit_flat_cos.lr fine_tune.base_lr",
        "precision": either(by_name("to_fp16", "fp16"), by_name("to_bf16", "bf16")),
    },
    calls=called(
        ("fastai",),
        {
            "fit_one_cycle": "n_epoch lr_max",
            "fit": "n_epoch lr",
            "fit_flat_cos": "n_epoch lr",
            "fine_tune": "epochs base_lr",
            "vision_learner": _LEARNER,
            "cnn_learner": _LEARNER,
            "unet_learner": _LEARNER,
        },
    ),
    samples=(
        Sample(
            command="python train.py",
            files={
                "train.py": "from fastai.vision.all import *\n"
                "from fastai.vision.all import ImageDataLoaders, vision_learner\n"
                "dls = ImageDataLoaders.from_folder('p', bs=64)\n"
                "learn = vision_learner(dls, 'resnet34', opt_func='Adam').to_fp16()\n"
                "learn.fine_tune(5, 0.01)\n",
            },
            claims={
                "batch_size": 64,
                "model": "resnet34",
                "optimizer": "Adam",
                "epochs": 5,
                "learning_rate": 0.01,
                "precision": "fp16",
            },
        ),
    ),
)
