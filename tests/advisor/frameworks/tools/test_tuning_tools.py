"""Tools that tune language models."""

from __future__ import annotations

from advisor.frameworks.tools.runs import fields, said

FACTORY = """\
model_name_or_path: Qwen/Qwen3-4B
stage: sft
finetuning_type: full
deepspeed: ds/z3.json
dataset: identity,alpaca_en_demo
cutoff_len: 2048
output_dir: saves/full
save_steps: 500
per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
num_train_epochs: 3.0
bf16: true
resume_from_checkpoint: null
"""
ZERO3 = (
    '{"train_batch_size": "auto", "bf16": {"enabled": "auto"}, "zero_optimization": {"stage": 3}}'
)


def test_llama_factory_by_its_yaml_and_overrides():
    files = {"conf/full.yaml": FACTORY, "ds/z3.json": ZERO3}
    found = fields("llamafactory-cli train conf/full.yaml learning_rate=2e-5 max_steps=50", files)
    assert found == {
        "framework": "transformers",
        "task": "language_modeling",
        "model": "Qwen/Qwen3-4B",
        "dataset": "identity,alpaca_en_demo",
        "sequence_length": 2048,
        "batch_size": 1,
        "gradient_accumulation": 2,
        "epochs": 3.0,
        "max_steps": 50,
        "learning_rate": 2e-5,
        "checkpoint_dir": "saves/full",
        "checkpoint_every": 500,
        "precision": "bf16",
        "parallelism": "zero3",
        "resumes": False,
    }


def test_each_value_has_its_own_line():
    lines = {
        each.field: (each.value.lines[0].file, each.value.lines[0].line, each.value.source)
        for each in said(
            "llamafactory-cli train full.yaml learning_rate=2e-5",
            {"full.yaml": FACTORY, "ds/z3.json": '{\n"zero_optimization": {\n"stage": 3}}'},
        )
    }
    assert lines["sequence_length"] == ("full.yaml", 6, "config")
    assert lines["learning_rate"] == ("<command>", 1, "cli")
    assert lines["parallelism"] == ("ds/z3.json", 3, "config")


def test_llama_factory_from_a_copy_of_its_code():
    command = (
        "src/train.py --stage sft --do_train --model_name_or_path m --dataset d --cutoff_len 1024 "
        "--fp16 --per_device_train_batch_size 4 --save_strategy epoch --save_steps 10"
    )
    found = fields(command, source="from llamafactory.train.tuner import run_exp\n")
    assert (found["model"], found["dataset"], found["sequence_length"]) == ("m", "d", 1024)
    assert (found["precision"], found["batch_size"]) == ("fp16", 4)
    assert found["checkpoint_every"] == 1


def test_llama_factory_in_its_second_edition():
    text = (
        "model: Qwen/Qwen3-0.6B\ndist_config:\n  name: deepspeed\n  config_file: z3.json\n"
        "train_dataset: data/v1_sft_demo.yaml\nmicro_batch_size: 1\ncutoff_len: 2048\n"
    )
    found = fields("lmf sft c.yaml", {"c.yaml": text, "z3.json": ZERO3})
    assert (found["model"], found["dataset"]) == ("Qwen/Qwen3-0.6B", "v1_sft_demo")
    assert (found["batch_size"], found["parallelism"]) == (1, "zero3")


def test_llama_factory_does_not_always_train():
    assert fields("llamafactory-cli chat x.yaml", {"x.yaml": FACTORY})["task"] == "inference"
    assert "batch_size" not in fields("llamafactory-cli chat x.yaml", {"x.yaml": FACTORY})
    assert fields("llamafactory-cli webui") == {}


def test_axolotl():
    config = """\
base_model: NousResearch/Meta-Llama-3-8B
datasets:
  - path: mhenrichsen/alpaca_2k_test
    type: alpaca
sequence_len: 4096
micro_batch_size: 2
gradient_accumulation_steps: 4
num_epochs: 4
optimizer: adamw_bnb_8bit
learning_rate: 0.0002
bf16: auto
output_dir: ./out
resume_from_checkpoint:
saves_per_epoch: 1
deepspeed: zero2.json
"""
    files = {"c.yml": config, "zero2.json": '{"zero_optimization": {"stage": 2}}'}
    found = fields("-m axolotl.cli.train c.yml --learning-rate 1e-4", files)
    assert found == {
        "framework": "transformers",
        "task": "language_modeling",
        "model": "NousResearch/Meta-Llama-3-8B",
        "dataset": "mhenrichsen/alpaca_2k_test",
        "sequence_length": 4096,
        "batch_size": 2,
        "gradient_accumulation": 4,
        "epochs": 4,
        "optimizer": "adamw_bnb_8bit",
        "learning_rate": 1e-4,
        "checkpoint_dir": "./out",
        "checkpoint_every": 1,
        "parallelism": "zero2",
        "resumes": False,
    }
    assert fields("axolotl train c.yml", files)["learning_rate"] == 0.0002
    assert fields("axolotl preprocess c.yml", files) == {}
    fsdp = {"c.yml": "base_model: m\nbf16: true\nfsdp_config: {fsdp_version: 2}\ndeepspeed:\n"}
    assert fields("axolotl train c.yml", fsdp)["parallelism"] == "fsdp"


def test_trl():
    files = {"c.yaml": "model_name_or_path:\n  Qwen/Qwen2.5-0.5B\nlearning_rate:\n  0.0001\n"}
    found = fields(
        "trl sft --config c.yaml --dataset_name stanfordnlp/imdb --max_length 512", files
    )
    assert found == {
        "framework": "transformers",
        "task": "language_modeling",
        "model": "Qwen/Qwen2.5-0.5B",
        "dataset": "stanfordnlp/imdb",
        "sequence_length": 512,
        "learning_rate": 0.0001,
    }
    assert fields("trl vllm-serve --model x") == {}
    assert fields("trl dpo --accelerate_config zero2")["parallelism"] == "zero2"
    files = {"a.yaml": "distributed_type: FSDP\nmixed_precision: bf16\n"}
    found = fields("trl dpo --accelerate_config a.yaml", files)
    assert (found["parallelism"], found["precision"]) == ("fsdp", "bf16")


def test_swift():
    found = fields(
        "swift sft --model Qwen/Qwen2.5-7B --dataset A/b#500 C/d --torch_dtype bfloat16 "
        "--num_train_epochs 1 --max_length 2048 --deepspeed zero3 --tuner_type lora"
    )
    assert found == {
        "framework": "transformers",
        "task": "language_modeling",
        "model": "Qwen/Qwen2.5-7B",
        "dataset": "A/b",
        "sequence_length": 2048,
        "epochs": 1,
        "precision": "bfloat16",
        "parallelism": "zero3",
    }
    assert fields("swift infer --model x") == {}
    assert fields("swift rlhf --rlhf_type grpo")["task"] == "reinforcement_learning"
    files = {"s.yaml": "model: m\nmax_length: 10\n"}
    assert fields("swift pt s.yaml", files)["sequence_length"] == 10


def test_swift_on_megatron():
    found = fields(
        "megatron sft --model Qwen/Qwen2.5-7B-Instruct --dataset 'A/b#500' C/d --lr 1e-5 "
        "--tensor_model_parallel_size 2 --pipeline_model_parallel_size 1 --micro_batch_size 16 "
        "--global_batch_size 16 --num_train_epochs 1 --save_steps 100 --max_length 2048"
    )
    assert found == {
        "framework": "megatron",
        "task": "language_modeling",
        "model": "Qwen/Qwen2.5-7B-Instruct",
        "dataset": "A/b",
        "batch_size": 16,
        "epochs": 1,
        "learning_rate": 1e-5,
        "checkpoint_every": 100,
        "sequence_length": 2048,
        "parallelism": "tp",
    }


TUNE = """\
output_dir: /tmp/out
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b, lora_rank: 8}
dataset: {_component_: torchtune.datasets.alpaca_cleaned_dataset}
optimizer: {_component_: torch.optim.AdamW, lr: 3e-4}
checkpointer: {output_dir: '${output_dir}'}
epochs: 1
batch_size: 2
max_steps_per_epoch: null
gradient_accumulation_steps: 8
dtype: bf16
resume_from_checkpoint: False
"""


def test_torchtune_by_a_config_of_the_job():
    found = fields(
        "tune run --nproc_per_node 4 lora_finetune_distributed --config my/8B.yaml epochs=3 "
        "optimizer.lr=1e-4",
        {"my/8B.yaml": TUNE},
    )
    assert found == {
        "framework": "torchtune",
        "task": "language_modeling",
        "model": "llama3_1_8b",
        "dataset": "alpaca_cleaned",
        "sequence_length": 8192,
        "batch_size": 2,
        "gradient_accumulation": 8,
        "epochs": 3,
        "optimizer": "AdamW",
        "learning_rate": 1e-4,
        "precision": "bf16",
        "checkpoint_dir": "/tmp/out",
        "resumes": False,
        "parallelism": "fsdp",
    }


def test_torchtune_by_one_of_its_own_configs_says_only_what_is_stated():
    found = fields("tune run lora_finetune_single_device --config llama3/8B_lora batch_size=4")
    assert found == {
        "framework": "torchtune",
        "task": "language_modeling",
        "model": "llama3_8B",
        "batch_size": 4,
        "parallelism": "none",
    }
    assert fields("tune cp llama3/8B_lora mine.yaml") == {}


def test_torchtune_by_one_of_its_own_configs_in_a_copy_of_it():
    found = fields(
        "tune run lora_finetune_single_device --config llama3_1/8B_lora epochs=2",
        {"recipes/configs/llama3_1/8B_lora.yaml": TUNE},
    )
    assert (found["model"], found["batch_size"], found["epochs"]) == ("llama3_1_8b", 2, 2)


def test_xtuner_and_nemo():
    found = fields("xtuner train llama_qlora_alpaca_e3 --deepspeed deepspeed_zero2")
    assert found == {"framework": "mmengine", "parallelism": "zero2"}
    found = fields(
        "nemo llm pretrain --factory llama3_8b trainer.max_steps=10 optim.config.lr=1e-4 -y"
    )
    assert (found["model"], found["max_steps"], found["learning_rate"]) == ("llama3_8b", 10, 1e-4)


def test_openrlhf_old_and_new_flags():
    old = (
        "-m openrlhf.cli.train_sft --max_len 2048 --dataset Open-Orca/OpenOrca --pretrain m/l "
        "--micro_train_batch_size 2 --zero_stage 2 --max_epochs 1 --bf16 --learning_rate 5e-6 "
        "--save_path ./ckpt --load_checkpoint"
    )
    new = (
        "-m openrlhf.cli.train_sft --data.max_len 2048 --data.dataset Open-Orca/OpenOrca "
        "--train.micro_batch_size 2 --model.model_name_or_path m/l --ds.zero_stage 2 "
        "--train.max_epochs 1 --ds.param_dtype bf16 --adam.lr 5e-6 --ckpt.output_dir ./ckpt "
        "--ckpt.load_enable"
    )
    expected = {
        "framework": "deepspeed",
        "task": "language_modeling",
        "model": "m/l",
        "dataset": "Open-Orca/OpenOrca",
        "sequence_length": 2048,
        "batch_size": 2,
        "epochs": 1,
        "learning_rate": 5e-6,
        "precision": "bf16",
        "parallelism": "zero2",
        "checkpoint_dir": "./ckpt",
        "resumes": True,
    }
    assert fields(old) == expected
    assert fields(new) == expected


def test_a_copy_of_the_code_is_started_for_the_same_task():
    assert fields("verl/trainer/main_ppo.py")["task"] == "reinforcement_learning"
    assert fields("openrlhf/cli/train_sft.py")["task"] == "language_modeling"


def test_verl_says_what_its_overrides_say():
    found = fields(
        "-m verl.trainer.main_ppo data.train_files=~/data/gsm8k/train.parquet "
        "data.train_batch_size=1024 actor_rollout_ref.model.path=deepseek-ai/deepseek-llm-7b-chat "
        "actor_rollout_ref.actor.optim.lr=1e-6 "
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=16 trainer.total_epochs=15 "
        "actor_rollout_ref.actor.fsdp_config.param_offload=False trainer.save_freq=20 '+x=[1,2]'"
    )
    assert found == {
        "framework": "pytorch",
        "task": "reinforcement_learning",
        "model": "deepseek-ai/deepseek-llm-7b-chat",
        "dataset": "gsm8k",
        "batch_size": 16,
        "epochs": 15,
        "learning_rate": 1e-6,
        "checkpoint_every": 20,
        "parallelism": "fsdp",
    }
