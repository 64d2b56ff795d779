"""Names and values of the wild, understood or left alone."""

import pytest

from schedmate.advisor import Advisor, Target
from schedmate.advisor.interpret.python.trace import Trace
from schedmate.advisor.interpret.shell import Asked, command_words
from schedmate.advisor.launch.run import Launch
from schedmate.advisor.options import undeclared
from schedmate.advisor.settle.record import record_of
from schedmate.model import Request
from schedmate.testing.history import MemoryHistory

NOTHING_ASKED = Launch(runs=(), scripts=(), commands=(), asked=Asked({}))


def record(*words):
    trace = Trace(options=list(undeclared(command_words(words), ())))
    return record_of(NOTHING_ASKED, None, Request(), trace, ())


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--num_train_epochs", "3"], "epochs", 3.0),
        (["--n-epochs=1.5"], "epochs", 1.5),
        (["--max_steps", "-1"], "max_steps", None),
        (["--max_iters", "6e5"], "max_steps", 600_000),
        (["--num-iterations", "1_000"], "max_steps", 1000),
        (["--per_device_train_batch_size=4", "--batch_size=32"], "batch_size", 4),
        (["--bs", "12.5"], "batch_size", None),
        (["--lr", "nan"], "learning_rate", None),
        (["trainer.max_epochs=9"], "epochs", 9.0),
        (["model.name=gpt2"], "model", "gpt2"),
        (["--model_name_or_path", "org/model-7b"], "model", "org/model-7b"),
        (["--model", "None"], "model", None),
        (["--data", "/datasets/imagenet/"], "dataset", "imagenet"),
        (["--data", "./data"], "dataset", None),
        (["--data", "./data", "--dataset", "coco"], "dataset", "coco"),
        (["--model", "LSTM", "--nhead", "2"], "n_head", None),
        (["--model", "Transformer", "--nhead", "2"], "n_head", 2),
        (["model.name=swin_tiny", "model.type=swin"], "model", "swin_tiny"),
        (["--fp16"], "precision", "fp16"),
        (["--fp16", "False"], "precision", None),
        (["--bf16", "True"], "precision", "bf16"),
        (["--mixed_precision", "bf16"], "precision", "bf16"),
        (["--precision", "16-mixed"], "precision", "fp16"),
        (["--dtype", "torch.bfloat16"], "precision", "bf16"),
        (["--dtype", "uint8"], "precision", None),
        (["--strategy", "deepspeed_stage_2"], "parallelism", "zero2"),
        (["--strategy", "ddp_find_unused_parameters_true"], "parallelism", "ddp"),
        (["--fsdp", "full_shard auto_wrap"], "parallelism", "fsdp"),
        (["--strategy", "auto"], "parallelism", None),
        (["--optim", "adamw_torch"], "optimizer", "adamw"),
        (["--resume", "out/last.pt"], "resumes", None),
        (["--resume", ""], "resumes", False),
        (["--output_dir", "out"], "checkpoint_dir", "out"),
        (["--save_steps=500"], "checkpoint_every", 500),
        (["--checkpoint_every_steps", "500"], "checkpoint_every", 500),
        (["--epochs", "9" * 400], "epochs", None),
        (["--max_time", "00:12:00:00"], "max_time_s", 43_200),
        (["trainer.max_time=01:02:03:04"], "max_time_s", 93_784),
        (["--max_time", "12"], "max_time_s", None),
        (["--max-train-seconds", "600"], "max_time_s", 600),
        (["--max_wallclock_seconds=599.5"], "max_time_s", 599.5),
        (["--exit-duration-in-mins", "230"], "max_time_s", 13_800),
        (["--stop-time-hours", "2.5"], "max_time_s", 9_000),
        (["--train-time-limit", "90"], "max_time_s", 90),
        (["--time_limit", "1h30m"], "max_time_s", 5_400),
        (["--time-limit=2 hours, 5 min"], "max_time_s", 7_500),
        (["--time_limit", "1-00:00:01"], "max_time_s", 86_401),
        (["--max_duration", "2h"], "max_time_s", 7_200),
        (["--max_duration", "200"], "max_time_s", None),
        (["--max_duration", "10ep"], "epochs", 10),
        (["--max_duration=10ep"], "max_time_s", None),
        (["max_duration=1000ba"], "max_steps", 1000),
        (["max_duration=1000tok"], "max_steps", None),
        (["--max_train_seconds", "0"], "max_time_s", None),
        (["--max_train_seconds", "1e99"], "max_time_s", None),
        (["--max_train_samples", "90"], "max_time_s", None),
        (["--early_stopping_rounds=10"], "early_stopping", True),
        (["--early-stop-patience", "0"], "early_stopping", False),
        (["--patience", "5"], "early_stopping", True),
        (["--patience", "None"], "early_stopping", False),
        (["--early_stopping"], "early_stopping", True),
        (["--early_stopping", "val_loss"], "early_stopping", True),
        (["--lr_patience", "5"], "early_stopping", None),
        (["task.env_runner.max_steps=300"], "max_steps", None),
    ],
)
def test_values_are_understood_or_left_out(words, field, value):
    finding = getattr(record(*words), field)
    assert (None if finding is None else finding.value) == value


def test_what_the_submit_command_asks_for():
    workload = record_of(NOTHING_ASKED, None, Request(gpus=4, nodes=2), Trace(), ())
    assert (workload.gpus.value, workload.nodes.value) == (4, 2)
    assert workload.gpus.source == "cli"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("Trainer(max_time='00:01:00:00')", "max_time_s", 3600),
        ("Trainer(max_time=datetime.timedelta(hours=2))", "max_time_s", 7200),
        ("H = 2\nTrainer(max_time=dict(hours=H))", "max_time_s", 7200),
        ("Trainer(max_time={'hours': 2})", "max_time_s", 7200),
        ("Trainer(max_time=args.max_time)", "max_time_s", None),
        ("Trainer(max_duration='10ep')", "epochs", 10),
        ("predictor.fit(train, time_limit=600)", "max_time_s", 600),
        ("make_env(time_limit=600)", "max_time_s", None),
        ("keras.callbacks.EarlyStopping(patience=3)", "early_stopping", True),
        ("cb = [EarlyStoppingCallback(args.n)]", "early_stopping", True),
        ("lgb.train(p, callbacks=[lgb.early_stopping(50)])", "early_stopping", True),
        ("XGBClassifier(early_stopping_rounds=10)", "early_stopping", True),
        ("params = {'early_stopping_round': 10}", "early_stopping", True),
        ("ReduceLROnPlateau(opt, patience=3)", "early_stopping", None),
        ("class EarlyStopping(Callback): pass", "early_stopping", None),
        ("generation_config = {'early_stopping': True}", "early_stopping", None),
        ("def generate(x):\n    early_stop = True\ngenerate(1)", "early_stopping", None),
        ("EPOCHS = 3\nEPOCHS = 4", "epochs", None),
        ("batch_size = f()", "batch_size", None),
        ("A = 16\nbatch_size = A * 4", "batch_size", 64),
        ("def scaled():\n    base_lr = 1024 / 256\nscaled()", "learning_rate", None),
    ],
)
def test_code_is_understood_or_left_alone(tmp_path, text, field, value):
    head = """
import datetime, keras
import lightgbm as lgb
from lib import *
from lightning import Trainer
from transformers import EarlyStoppingCallback
from xgboost import XGBClassifier
from torch.optim.lr_scheduler import ReduceLROnPlateau
"""
    (tmp_path / "train.py").write_text(head + text)
    memory = MemoryHistory()
    target = Target.from_command(tmp_path, ("python", "train.py"))
    finding = getattr(Advisor(memory, memory).advise(target).advice.workload, field)
    assert (None if finding is None else finding.value) == value


@pytest.mark.parametrize(
    ("use", "stops"),
    [
        ("ReduceLROnPlateau(opt, 'min', patience=args.patience)", None),
        ("EarlyStopping(patience=args.patience)", True),
    ],
)
def test_the_patience_of_a_schedule_stops_nothing(tmp_path, use, stops):
    code = f"""
import argparse
from torch.optim.lr_scheduler import ReduceLROnPlateau
from lightning.pytorch.callbacks import EarlyStopping
parser = argparse.ArgumentParser()
parser.add_argument("--patience", type=int, default=5)
args = parser.parse_args()
{use}
"""
    (tmp_path / "train.py").write_text(code)
    memory = MemoryHistory()
    target = Target.from_command(tmp_path, ("python", "train.py"))
    finding = Advisor(memory, memory).advise(target).advice.workload.early_stopping
    assert (None if finding is None else finding.value) == stops


def test_a_place_below_the_job_s_directory_is_said_as_seen_from_there(tmp_path):
    (tmp_path / "train.py").write_text(
        "import os, torch\ntorch.save({}, os.path.join(os.getcwd(), 'models', 'last.pt'))\n"
    )
    memory = MemoryHistory()
    target = Target.from_command(tmp_path, ("python", "train.py"))
    found = Advisor(memory, memory).advise(target).advice.workload.checkpoint_dir
    assert found.value == "models"
