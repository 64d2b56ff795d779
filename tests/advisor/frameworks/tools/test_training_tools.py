"""Tools that train models from scratch, of all kinds."""

from __future__ import annotations

import pytest

from advisor.frameworks.tools.runs import fields


def test_ultralytics():
    found = fields(
        "yolo detect train data=coco128.yaml model=weights/yolov8n.pt epochs=100 imgsz=640 "
        "batch=16 lr0=0.01 device=0,1 patience=20 time=2.5 optimizer=auto"
    )
    assert found == {
        "framework": "ultralytics",
        "task": "object_detection",
        "model": "yolov8n",
        "dataset": "coco128",
        "epochs": 100,
        "batch_size": 16,
        "learning_rate": 0.01,
        "parallelism": "ddp",
        "early_stopping": True,
        "max_time_s": 9000.0,
    }
    assert fields("yolo predict model=a.pt source=x epochs=3") == {
        "framework": "ultralytics",
        "task": "inference",
        "model": "a",
    }
    assert "batch_size" not in fields("yolo train batch=-1 model=a.pt")
    assert fields("yolo cfg=c.yaml", {"c.yaml": "mode: train\nepochs: 7\n"})["epochs"] == 7


def test_fairseq():
    found = fields(
        "fairseq-train data-bin/iwslt14/de-en --arch transformer_iwslt_de_en --optimizer adam "
        "--lr 5e-4 --max-tokens 4096 --fp16 --max-update 50000 --save-dir ckpt --update-freq 4 "
        "--share-decoder-input-output-embed --task translation --ddp-backend no_c10d"
    )
    assert found == {
        "framework": "fairseq",
        "task": "translation",
        "dataset": "de-en",
        "model": "transformer_iwslt_de_en",
        "optimizer": "adam",
        "learning_rate": 5e-4,
        "max_steps": 50000,
        "gradient_accumulation": 4,
        "checkpoint_dir": "ckpt",
        "precision": "fp16",
        "parallelism": "ddp",
    }


def test_fairseq_translates_unless_it_is_told_otherwise():
    assert fields("fairseq-train data-bin/x --arch transformer")["task"] == "translation"
    assert "task" not in fields("fairseq-train data-bin/x --arch transformer --task my_own")
    found = fields("fairseq-train data-bin/x --arch transformer --encoder-layers 12")
    assert found["n_layer"] == 12


def test_a_directory_of_no_name_is_no_dataset():
    assert "dataset" not in fields("fairseq-train data --arch a")
    assert fields("fairseq-train data-bin/wikitext-103")["dataset"] == "wikitext-103"


def test_fairseq_with_hydra():
    config = (
        "common: {fp16: true}\ntask:\n  _name: audio_finetuning\n  data: ???\n"
        "optimization: {max_update: 80000, lr: [0.00003], update_freq: [4, 8]}\n"
        "optimizer: {_name: adam}\nmodel: {_name: wav2vec_ctc}\ndataset: {max_tokens: 3200000}\n"
    )
    found = fields(
        "fairseq-hydra-train task.data=/data/libri --config-dir conf/ft --config-name base",
        {"conf/ft/base.yaml": config},
    )
    assert found == {
        "framework": "fairseq",
        "task": "speech",
        "dataset": "libri",
        "model": "wav2vec_ctc",
        "optimizer": "adam",
        "learning_rate": 0.00003,
        "max_steps": 80000,
        "precision": "fp16",
    }


TITAN = """\
[job]
dump_folder = "./outputs"
[model]
name = "llama3"
flavor = "8B"
[optimizer]
name = "AdamW"
lr = 3e-4
[training]
local_batch_size = 1
seq_len = 8192
steps = 1000
dataset = "c4"
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 1
[checkpoint]
enable_checkpoint = true
folder = "checkpoint"
interval = 500
"""


@pytest.mark.parametrize(
    ("start", "source"),
    [("-m torchtitan.train", None), ("./train.py", "from torchtitan.config import JobConfig\n")],
)
def test_torchtitan(start: str, source: str | None):
    command = f"{start} --job.config_file t/8b.toml --training.steps 20"
    assert fields(command, {"t/8b.toml": TITAN}, source) == {
        "framework": "torchtitan",
        "task": "language_modeling",
        "model": "llama3-8B",
        "dataset": "c4",
        "batch_size": 1,
        "sequence_length": 8192,
        "max_steps": 20,
        "optimizer": "AdamW",
        "learning_rate": 3e-4,
        "parallelism": "fsdp",
        "checkpoint_dir": "./outputs/checkpoint",
        "checkpoint_every": 500,
    }


def test_torchtitan_in_three_dimensions_without_checkpoints():
    command = (
        "-m torchtitan.train --job.config_file=8b.toml --parallelism.tensor_parallel_degree=2 "
        "--parallelism.pipeline-parallel-degree 4 --checkpoint.enable_checkpoint false"
    )
    found = fields(command, {"8b.toml": TITAN})
    assert found["parallelism"] == "3d"
    assert "checkpoint_every" not in found


def test_litgpt():
    config = (
        "checkpoint_dir: checkpoints/meta-llama/Llama-2-7b-hf\nout_dir: out/lora\n"
        "precision: bf16-true\ndata:\n  class_path: litgpt.data.Alpaca2k\ntrain:\n"
        "  save_interval: 200\n  micro_batch_size: 2\n  epochs: 4\n  max_steps:\n"
        "  max_seq_length: 512\noptimizer:\n  class_path: torch.optim.AdamW\n"
        "  init_args:\n    lr: 0.0002\n"
    )
    found = fields("litgpt finetune_lora --config c.yaml --train.epochs 1", {"c.yaml": config})
    assert found == {
        "framework": "lightning",
        "task": "language_modeling",
        "model": "meta-llama/Llama-2-7b-hf",
        "dataset": "Alpaca2k",
        "batch_size": 2,
        "epochs": 1,
        "sequence_length": 512,
        "checkpoint_every": 200,
        "checkpoint_dir": "out/lora",
        "optimizer": "AdamW",
        "learning_rate": 0.0002,
        "precision": "bf16-true",
    }
    found = fields("litgpt pretrain pythia-14m --data JSON --optimizer Adam")
    assert (found["model"], found["dataset"], found["optimizer"]) == ("pythia-14m", "JSON", "Adam")
    assert fields("litgpt chat x") == {}


def test_maxtext_takes_sizes_of_the_named_model():
    files = {
        "src/configs/base.yml": (
            "model_name: default\nbase_emb_dim: 2048\nbase_num_decoder_layers: 16\n"
            "steps: 150_001\nper_device_batch_size: 12.0\nlearning_rate: 3.e-5\n"
            "dataset_type: tfds\ndataset_name: 'c4/en:3.0.1'\ncheckpoint_period: 10_000\n"
        ),
        "src/configs/models/llama2-7b.yml": "base_emb_dim: 4096\nbase_num_decoder_layers: 32\n",
    }
    command = "-m MaxText.train src/configs/base.yml run_name=x steps=10 "
    found = fields(command + "model_name=llama2-7b enable_checkpointing=false", files)
    assert (found["model"], found["d_model"], found["n_layer"]) == ("llama2-7b", 4096, 32)
    assert (found["max_steps"], found["batch_size"], found["learning_rate"]) == (10, 12.0, 3e-5)
    assert "checkpoint_every" not in found
    found = fields(command, files)
    assert (found["d_model"], found["dataset"]) == (2048, "c4/en")
    assert "model" not in found


def test_llm_foundry():
    config = (
        "variables: {max_seq_len: 2048}\nmax_seq_len: ${variables.max_seq_len}\n"
        "model: {name: mpt_causal_lm, d_model: 768, n_heads: 12, n_layers: 12}\n"
        "train_loader: {dataset: {local: ./my-copy-c4}}\n"
        "optimizer: {name: decoupled_adamw, lr: 6.0e-4}\n"
        "max_duration: 4800ba\ndevice_train_microbatch_size: auto\nprecision: amp_bf16\n"
        "fsdp_config: {sharding_strategy: FULL_SHARD}\nsave_interval: 500ba\n"
    )
    found = fields(
        "train/train.py y/mpt.yaml max_duration=10ba variables.max_seq_len=1024",
        {"y/mpt.yaml": config},
        "from llmfoundry.command_utils import train_from_yaml\n",
    )
    assert found == {
        "framework": "composer",
        "task": "language_modeling",
        "model": "mpt_causal_lm",
        "d_model": 768,
        "n_head": 12,
        "n_layer": 12,
        "sequence_length": 1024,
        "dataset": "my-copy-c4",
        "optimizer": "decoupled_adamw",
        "learning_rate": 6e-4,
        "max_steps": 10,
        "checkpoint_every": 500,
        "precision": "bf16",
        "parallelism": "fsdp",
    }


def test_openmmlab_with_bases_and_options():
    files = {
        "configs/_base_/sched.yaml": (
            "train_cfg: {max_epochs: 12}\n"
            "optim_wrapper: {type: OptimWrapper, optimizer: {type: SGD, lr: 0.02}}\n"
        ),
        "configs/rcnn.yaml": (
            "_base_: [_base_/sched.yaml]\nmodel: {type: FasterRCNN}\n"
            "train_dataloader: {batch_size: 2, dataset: {type: CocoDataset}}\n"
        ),
    }
    found = fields(
        "tools/train.py configs/rcnn.yaml --amp --resume --work-dir w --cfg-options "
        "optim_wrapper.optimizer.lr=0.01 train_cfg.max_epochs=3",
        files,
        "from mmengine.config import Config\nfrom mmdet.utils import x\n",
    )
    assert found == {
        "framework": "mmengine",
        "task": "object_detection",
        "model": "FasterRCNN",
        "dataset": "coco",
        "batch_size": 2,
        "epochs": 3,
        "optimizer": "SGD",
        "learning_rate": 0.01,
        "precision": "fp16",
        "resumes": True,
        "checkpoint_dir": "w",
    }


def test_lightning_cli():
    files = {
        "a.yaml": (
            "fit:\n  trainer: {max_epochs: 5, precision: 16-mixed, callbacks: [{class_path: "
            "lightning.pytorch.callbacks.EarlyStopping}]}\n  model: {class_path: my.models.Net}\n"
        ),
        "b.yaml": "data: {init_args: {batch_size: 32}, class_path: my.CIFAR}\n",
    }
    found = fields(
        "main.py fit --config a.yaml --config=b.yaml --trainer.max_epochs 7 --optimizer Adam",
        files,
        "cli = LightningCLI(Net)\n",
    )
    assert found == {
        "framework": "lightning",
        "epochs": 7,
        "precision": "16-mixed",
        "model": "Net",
        "dataset": "CIFAR",
        "batch_size": 32,
        "optimizer": "Adam",
        "early_stopping": True,
    }
