"""Libraries that train for the job: what they are told, on traces put together by hand."""

from __future__ import annotations

from advisor.frameworks.families import by_calls
from advisor.frameworks.traces import made, named, reading, said, thing, val
from schedmate.advisor.frameworks.lightning import lightning_checkpoints
from schedmate.advisor.frameworks.resuming import trainer_resumes

detectron2 = by_calls("detectron2")
fastai = by_calls("fastai")
megatron = by_calls("megatron")
accelerate = by_calls("accelerate")
lightning = by_calls("lightning")
stable_baselines = by_calls("reinforcement")
composer = by_calls("composer")
deepspeed = by_calls("deepspeed")
mmengine = by_calls("mmengine")
fairseq = by_calls("fairseq")
torchtitan = by_calls("torchtitan")
training_arguments = by_calls("transformers")
ultralytics = by_calls("ultralytics")
ZERO3 = {
    "zero_optimization": {"stage": 3},
    "bf16": {"enabled": True},
    "train_micro_batch_size_per_gpu": 4,
    "gradient_accumulation_steps": "auto",
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-5}},
}


def test_lightning_trainer():
    early = thing(made("lightning.pytorch.callbacks.EarlyStopping", "val_loss"))
    trainer = made(
        "lightning.pytorch.Trainer",
        max_epochs=-1,
        max_steps=5000,
        precision="bf16-mixed",
        strategy="fsdp",
        accumulate_grad_batches=4,
        callbacks=[early],
    )
    assert said(lightning, reading(trainer)) == {
        "max_steps": 5000,
        "precision": "bf16-mixed",
        "parallelism": "fsdp",
        "gradient_accumulation": 4,
        "early_stopping": True,
    }


def test_lightning_strategies_as_objects():
    strategy = thing(made("lightning.pytorch.strategies.DeepSpeedStrategy", stage=3))
    assert said(lightning, reading(made("lightning.Trainer", strategy=strategy))) == {
        "parallelism": "zero3"
    }
    automatic = made("lightning.Trainer", strategy="auto", accelerator="gpu")
    assert said(lightning, reading(automatic)) == {}


def test_lightning_checkpoints_and_resumption():
    calls = [
        made("lightning.pytorch.callbacks.ModelCheckpoint", dirpath="out", every_n_train_steps=500),
        made("lightning.pytorch.Trainer.fit", named("m"), ckpt_path="last"),
    ]
    assert said(lightning_checkpoints, reading(*calls)) == {
        "checkpoint_dir": "out",
        "checkpoint_every": 500,
    }
    assert said(trainer_resumes, reading(*calls)) == {"resumes": True}


def test_training_arguments():
    arguments = made(
        "transformers.TrainingArguments",
        output_dir="out",
        per_device_train_batch_size=8,
        num_train_epochs=3,
        max_steps=-1,
        learning_rate=5e-5,
        bf16=True,
        tf32=True,
        save_steps=500,
        fsdp="full_shard auto_wrap",
    )
    assert said(training_arguments, reading(arguments)) == {
        "checkpoint_dir": "out",
        "batch_size": 8,
        "epochs": 3,
        "learning_rate": 5e-5,
        "precision": "bf16",
        "checkpoint_every": 500,
        "parallelism": "fsdp",
    }


def test_steps_beat_epochs_and_a_save_an_epoch_beats_steps_between_saves():
    config = made(
        "trl.SFTConfig", num_train_epochs=3, max_steps=100, save_strategy="epoch", save_steps=9
    )
    assert said(training_arguments, reading(config)) == {"max_steps": 100, "checkpoint_every": 1}


def test_the_directory_may_come_without_its_name():
    arguments = made("transformers.TrainingArguments", "out")
    assert said(training_arguments, reading(arguments)) == {"checkpoint_dir": "out"}


def test_training_arguments_with_a_deepspeed_file():
    arguments = made("transformers.TrainingArguments", deepspeed="ds.json")
    assert said(training_arguments, reading(arguments, configs={"ds.json": ZERO3})) == {
        "parallelism": "zero3",
        "precision": "bf16",
        "batch_size": 4,
        "optimizer": "AdamW",
        "learning_rate": 1e-5,
    }


def test_resuming_by_argument():
    train = made("transformers.Trainer.train", resume_from_checkpoint=True)
    assert said(trainer_resumes, reading(train)) == {"resumes": True}
    afresh = made("transformers.Trainer.train", resume_from_checkpoint=None)
    assert said(trainer_resumes, reading(afresh)) == {"resumes": False}
    assert said(trainer_resumes, reading(made("transformers.Trainer.train"))) == {}


def test_deepspeed_by_dict_and_by_option():
    assert said(deepspeed, reading(made("deepspeed.initialize", config=ZERO3)))["batch_size"] == 4
    asked = reading(
        made("deepspeed.initialize", args=val({"deepspeed_config": "z.json"})),
        configs={"z.json": {"zero_optimization": {"stage": 1}, "fp16": {"enabled": "auto"}}},
    )
    assert said(deepspeed, asked) == {"parallelism": "zero1"}


def test_accelerator():
    call = made("accelerate.Accelerator", mixed_precision="fp16", gradient_accumulation_steps=2)
    assert said(accelerate, reading(call)) == {"precision": "fp16", "gradient_accumulation": 2}
    assert said(accelerate, reading(made("accelerate.Accelerator", mixed_precision="no"))) == {}


def test_megatron_options_of_which_the_code_is_elsewhere():
    options = {
        "num-layers": "24",
        "hidden-size": "1024",
        "num-attention-heads": "16",
        "seq-length": "2048",
        "micro-batch-size": "4",
        "global-batch-size": "512",
        "train-samples": "1024000",
        "bf16": True,
        "tensor-model-parallel-size": "2",
        "pipeline-model-parallel-size": "4",
        "save": "ckpt",
        "load": "ckpt",
    }
    assert said(megatron, reading(options=options)) == {
        "framework": "megatron",
        "n_layer": "24",
        "d_model": "1024",
        "n_head": "16",
        "sequence_length": "2048",
        "batch_size": "4",
        "max_steps": 2000,
        "precision": "bf16",
        "parallelism": "3d",
        "checkpoint_dir": "ckpt",
        "resumes": True,
    }


def test_options_of_another_program_are_not_megatron_s():
    assert said(megatron, reading(options={"save": "x", "lr": 0.1, "num_layers": 2})) == {}


def test_mmengine():
    config = val(
        {
            "train_dataloader": {"batch_size": 2, "dataset": {"type": "CocoDataset"}},
            "train_cfg": {"type": "EpochBasedTrainLoop", "max_epochs": 12},
            "optim_wrapper": {
                "type": "AmpOptimWrapper",
                "optimizer": {"type": "SGD", "lr": 0.02},
            },
            "default_hooks": {"checkpoint": {"interval": 1}},
            "work_dir": "work",
            "model": {"type": "FasterRCNN"},
        }
    )
    assert said(mmengine, reading(made("mmengine.runner.Runner.from_cfg", config))) == {
        "batch_size": 2,
        "epochs": 12,
        "optimizer": "SGD",
        "learning_rate": 0.02,
        "precision": "fp16",
        "checkpoint_every": 1,
        "checkpoint_dir": "work",
        "dataset": "coco",
        "model": "FasterRCNN",
    }


def test_detectron2_s_batch_is_of_all_devices_together():
    solver = {"IMS_PER_BATCH": 16, "MAX_ITER": 90000, "BASE_LR": 0.02}
    config = val({"SOLVER": solver, "OUTPUT_DIR": "out"})
    call = made("detectron2.engine.DefaultTrainer", config)
    assert said(detectron2, reading(call, options={"num_gpus": 8})) == {
        "batch_size": 2,
        "max_steps": 90000,
        "learning_rate": 0.02,
        "checkpoint_dir": "out",
    }


def test_ultralytics():
    yolo = thing(made("ultralytics.YOLO", "weights/yolov8n.pt"))
    call = made(
        "ultralytics.YOLO.train",
        data="coco128.yaml",
        epochs=100,
        batch=16,
        optimizer="auto",
        _receiver=yolo,
    )
    assert said(ultralytics, reading(call)) == {
        "epochs": 100,
        "batch_size": 16,
        "dataset": "coco128",
        "model": "yolov8n",
    }


def test_fairseq_counts_tokens_not_samples():
    options = {
        "arch": "transformer_iwslt_de_en",
        "max_tokens": 4096,
        "max_update": 50000,
        "update_freq": [8],
        "criterion": "label_smoothed_cross_entropy",
        "fp16": True,
    }
    assert said(fairseq, reading(options=options)) == {
        "model": "transformer_iwslt_de_en",
        "max_steps": 50000,
        "gradient_accumulation": 8,
        "precision": "fp16",
    }


def test_composer_says_lengths_with_units():
    trainer = made("composer.Trainer", max_duration="4800ba", precision="amp_bf16")
    assert said(composer, reading(trainer)) == {"max_steps": 4800, "precision": "bf16"}
    assert said(composer, reading(made("composer.Trainer", max_duration="10ep"))) == {"epochs": 10}


def test_fastai():
    calls = [
        made("fastai.vision.all.ImageDataLoaders.from_folder", named("p"), bs=64),
        made("fastai.vision.all.vision_learner", named("d"), named("torchvision.models.resnet34")),
        made("fastai.vision.all.vision_learner.fit_one_cycle", 5, 0.01),
    ]
    assert said(fastai, reading(*calls)) == {
        "batch_size": 64,
        "model": "resnet34",
        "epochs": 5,
        "learning_rate": 0.01,
    }


def test_stable_baselines():
    calls = [
        made("stable_baselines3.PPO", "MlpPolicy", learning_rate=3e-4, batch_size=256),
        made("stable_baselines3.PPO.learn", total_timesteps=1_000_000),
    ]
    assert said(stable_baselines, reading(*calls)) == {
        "model": "PPO",
        "learning_rate": 3e-4,
        "batch_size": 256,
        "max_steps": 1_000_000,
    }
