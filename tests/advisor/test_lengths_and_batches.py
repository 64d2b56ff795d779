"""What a job will really do where its options alone would mislead."""

import shlex
import textwrap

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.settle.model_names import telling_class
from schedmate.advisor.settle.time_caps import cap_name
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request


def record(project, files, command="python train.py"):
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(textwrap.dedent(text))
    target = Target.from_command(project, shlex.split(command))
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


def value(finding):
    return None if finding is None else finding.value


def test_options_that_the_code_fills_in_are_what_it_makes_of_them(tmp_path):
    code = """\
    import tyro
    from dataclasses import dataclass
    @dataclass
    class Args:
        num_envs: int = 4
        num_steps: int = 128
        num_minibatches: int = 4
        batch_size: int = 0
        minibatch_size: int = 0
    args = tyro.cli(Args)
    args.batch_size = args.num_envs * args.num_steps
    args.minibatch_size = args.batch_size // args.num_minibatches
    """
    found = record(tmp_path, {"train.py": code}, "python train.py --num-envs 8")
    assert found.batch_size.value == 256


STEPS_WIN = """\
import argparse, math
import torch
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument("--num_train_epochs", type=int, default=3)
parser.add_argument("--max_train_steps", type=int, default=None)
args = parser.parse_args()
train = DataLoader(load(), batch_size=4, shuffle=True)
per_epoch = math.ceil(len(train) / 2)
if args.max_train_steps is None:
    args.max_train_steps = args.num_train_epochs * per_epoch
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
done = 0
for epoch in range(math.ceil(args.max_train_steps / per_epoch)):
    for batch in train:
        opt.step()
        done += 1
        if done >= args.max_train_steps:
            break
"""


@pytest.mark.parametrize(
    ("words", "epochs", "steps"),
    [("--max_train_steps 500", None, 500), ("--num_train_epochs 7", 7, None)],
)
def test_epochs_are_no_length_where_the_code_lets_steps_win(tmp_path, words, epochs, steps):
    found = record(tmp_path, {"train.py": STEPS_WIN}, f"python train.py {words}")
    assert (value(found.epochs), value(found.max_steps)) == (epochs, steps)


@pytest.mark.parametrize(
    "parse",
    [
        "import yaml\ndef parsed(t): return yaml.safe_load(t)",
        "import json\ndef parsed(t): return json.loads(t)",
        "import tomllib\ndef parsed(t): return tomllib.loads(f'v = {t}')['v']",
    ],
)
def test_settings_on_the_command_line_that_the_code_parses_by_itself(tmp_path, parse):
    code = f"""\
import sys
import yaml
{parse}
config = yaml.safe_load(open("c.yaml"))
for word in sys.argv[1:]:
    key, _, text = word.partition("=")
    *above, last = key.split(".")
    node = config
    for name in above:
        node = node.setdefault(name, {{}})
    node[last] = parsed(text)
import torch
for epoch in range(config["train"]["epochs"]):
    torch.optim.SGD(p, lr=0.1).step()
"""
    files = {"train.py": code, "c.yaml": "train:\n  epochs: 3\n"}
    assert record(tmp_path, files, "python train.py train.epochs=6").epochs.value == 6


def test_a_config_that_the_script_writes_itself(tmp_path):
    (tmp_path / "train.py").write_text(
        "import sys, yaml, torch\n"
        "c = yaml.safe_load(open(sys.argv[1]))\n"
        "OPTIMS = {'sgd': torch.optim.SGD, 'adam': torch.optim.Adam}\n"
        "opt = OPTIMS[c['optim']](p, lr=c['rate'])\n"
    )
    (tmp_path / "job.sh").write_text(
        "R=0.25\ncat > c.yaml <<END\noptim: adam\nrate: $R\nEND\npython train.py c.yaml\n"
    )
    target = Target.from_script(tmp_path, "job.sh", ())
    found = understand(resolve(target), target.files, Request())[0].workload
    assert (found.optimizer.value, found.learning_rate.value) == ("adam", 0.25)
    assert ("job.sh", 3) in {(line.file, line.line) for line in found.optimizer.evidence}


def test_variables_for_settings_below_others(tmp_path):
    code = """\
    import torch
    from pydantic import BaseModel
    from pydantic_settings import BaseSettings, SettingsConfigDict
    class Optim(BaseModel):
        lr: float = 1e-3
    class Settings(BaseSettings):
        model_config = SettingsConfigDict(env_prefix="T_", env_nested_delimiter="__")
        optim: Optim = Optim()
    s = Settings()
    opt = torch.optim.SGD(p, lr=s.optim.lr)
    """
    found = record(tmp_path, {"train.py": code}, "env T_OPTIM__LR=6e-4 OPTIM__LR=5 python train.py")
    assert found.learning_rate.value == 6e-4


@pytest.mark.parametrize(
    ("config", "batch", "accumulation"),
    [
        ('{"train_batch_size": 256, "train_micro_batch_size_per_gpu": 8}', 8, 4),
        ('{"train_batch_size": 256, "gradient_accumulation_steps": 2}', 16, 2),
        ('{"train_batch_size": 250, "gradient_accumulation_steps": 2}', None, 2),
    ],
)
def test_deepspeed_works_out_the_third_number(tmp_path, config, batch, accumulation):
    code = "import deepspeed\ndeepspeed.initialize(model=m, config='ds.json')\n"
    files = {"train.py": code, "ds.json": config}
    found = record(tmp_path, files, "deepspeed --num_gpus 8 train.py")
    assert (value(found.batch_size), value(found.gradient_accumulation)) == (batch, accumulation)


HF_TRAINER = "from transformers import Trainer\nTrainer(m).train()"


@pytest.mark.parametrize(
    ("code", "command", "way"),
    [
        (HF_TRAINER, "torchrun --nproc_per_node=4", "ddp"),
        (HF_TRAINER, "torchrun --nproc_per_node=1", None),
        (HF_TRAINER, "python", None),
        ("from accelerate import Accelerator\nAccelerator()", "torchrun --nproc_per_node=4", "ddp"),
        ("import torch\ntorch.distributed.init_process_group()", "srun -n 8 python", "ddp"),
        ("import torch\ntorch.nn.Linear(2, 2)", "torchrun --nproc_per_node=4", None),
    ],
)  # fmt: skip
def test_trainers_that_wrap_by_themselves_do_so_for_several_processes(tmp_path, code, command, way):
    found = record(tmp_path, {"train.py": code}, f"{command} train.py")
    assert value(found.parallelism) == way


def test_a_function_of_a_script_that_is_sourced_states_what_it_does_there(tmp_path):
    (tmp_path / "train.py").write_text("import torch\ntorch.optim.SGD(p, lr=0.1)\n")
    (tmp_path / "lib.sh").write_text("launch() {\n    python train.py --epochs 3 $@\n}\n")
    (tmp_path / "job.sh").write_text("source lib.sh\necho\n\nlaunch --batch_size 8\n")
    target = Target.from_script(tmp_path, "job.sh", ())
    found = understand(resolve(target), target.files, Request())[0].workload
    assert [(line.file, line.line) for line in found.epochs.evidence] == [("lib.sh", 2)]
    assert ("job.sh", 4) in {(line.file, line.line) for line in found.batch_size.evidence}
    assert found.entry_point.evidence[0].file == "lib.sh"


FIT = """\
import tensorflow as tf
def prep(train):
    ds = tf.data.Dataset.from_tensor_slices(x)
    return ds.batch(48 if train else 100).prefetch(2)
a, b = prep(True), prep(False)
strategy = tf.distribute.{strategy}()
model = tf.keras.Sequential([])
model.compile("adam")
model.fit(a, validation_data=b, epochs=3)
"""


@pytest.mark.parametrize(
    ("strategy", "devices", "batch"),
    [
        ("OneDeviceStrategy", "0,1", 48),
        ("MirroredStrategy", "0,1", 24),
        ("MirroredStrategy", "0", 48),
    ],
)
def test_keras_draws_its_batches_from_what_fit_is_given(tmp_path, strategy, devices, batch):
    command = f"env CUDA_VISIBLE_DEVICES={devices} python train.py"
    found = record(tmp_path, {"train.py": FIT.format(strategy=strategy)}, command)
    assert found.batch_size.value == batch


def test_jax_spreads_the_batch_that_is_shuffled(tmp_path):
    code = """\
    import jax, jax.numpy as jnp
    import flax.linen as nn
    import tensorflow_datasets as tfds
    class Net(nn.Module):
        dtype: jnp.dtype = jnp.float32
    def batches(size, train):
        ds = tfds.load("mnist")
        if train:
            ds = ds.shuffle(100)
        return ds.batch(size)
    a, b = batches(64, True), batches(1000, False)
    net = Net(dtype=jnp.bfloat16)
    step = jax.pmap(f)
    """
    found = record(tmp_path, {"train.py": code}, "env CUDA_VISIBLE_DEVICES=0,1 python train.py")
    assert (found.batch_size.value, found.precision.value) == (32, "bf16")


def test_a_share_that_the_command_line_sets(tmp_path):
    code = """\
    from absl import flags
    from ml_collections import config_flags
    import jax
    config_flags.DEFINE_config_file("config", "c.py")
    config = flags.FLAGS.config
    """
    settings = """\
    import ml_collections
    def get_config():
        config = ml_collections.ConfigDict()
        config.per_device_batch_size = 32
        return config
    """
    files = {"train.py": code, "c.py": settings}
    found = record(tmp_path, files, "python train.py --config.per_device_batch_size=64")
    assert found.batch_size.value == 64


def test_a_dataset_of_batches_knows_their_size(tmp_path):
    code = """\
    import torch
    class Utterances(torch.utils.data.Dataset):
        def __init__(self, path, batch_size):
            self.batch_size = batch_size
    data = Utterances("x", batch_size=32)
    train_loader = torch.utils.data.DataLoader(data, batch_size=1, shuffle=True)
    """
    assert record(tmp_path, {"train.py": code}).batch_size.value == 32


def test_what_only_prepares_data_is_trained_by_no_shared_settings(tmp_path):
    code = """\
    from datasets import load_dataset
    from transformers import AutoTokenizer
    from settings import TOKENIZER
    tok = AutoTokenizer.from_pretrained(TOKENIZER)
    data = load_dataset("allenai/c4").map(lambda b: tok(b["text"]), batched=True, batch_size=500)
    data.save_to_disk("out")
    """
    settings = "TOKENIZER = 'gpt2'\nLEARNING_RATE = 6e-4\nMAX_STEPS = 100_000\nBATCH_SIZE = 12\n"
    found = record(tmp_path, {"tokenise.py": code, "settings.py": settings}, "python tokenise.py")
    assert found.task.value == "preprocessing"
    assert (found.learning_rate, found.max_steps, found.batch_size) == (None, None, None)


def test_vllm_is_told_its_length_its_numbers_and_its_shards(tmp_path):
    code = """\
    from vllm import LLM
    llm = LLM(model="org/m-7b", dtype="bfloat16", tensor_parallel_size=2, max_model_len=8192)
    llm.generate(["a"])
    """
    found = record(tmp_path, {"train.py": code})
    assert (found.precision.value, found.parallelism.value) == ("bf16", "tp")
    assert found.sequence_length.value == 8192


@pytest.mark.parametrize(
    ("name", "is_cap"),
    [
        ("max_duration_in_seconds", False),
        ("max_duration_s", False),
        ("max_duration_hours", True),
        ("max_time_s", True),
    ],
)
def test_a_duration_in_seconds_is_that_of_a_clip(name, is_cap):
    assert (cap_name(name) is not None) == is_cap


@pytest.mark.parametrize("name", ["Trainer", "QEnsemble", "Ensemble", "Actor"])
def test_what_drives_or_holds_networks_is_no_model(name):
    assert not telling_class(name)
