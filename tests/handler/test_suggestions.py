"""What to change, in the job's own numbers and the message's own names."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.handler.suggestions import suggestion
from schedmate.model import REASONS, Evidence, Finding, Workload


def _workload(**values):
    return Workload(**{name: Finding(value=value, source="cli") for name, value in values.items()})


@pytest.mark.parametrize(
    ("reason", "message", "pieces"),
    [
        ("import_error", "ModuleNotFoundError: No module named 'cv2'", ["install opencv-python"]),
        ("import_error", "ModuleNotFoundError: No module named 'yaml'", ["install pyyaml"]),
        ("import_error", "No module named 'sklearn.metrics'", ["scikit-learn", "sklearn.metrics"]),
        ("import_error", "python: No module named deepspeed", ["install deepspeed"]),
        ("import_error", "ModuleNotFoundError: No module named 'utils.log'", ["PYTHONPATH"]),
        ("import_error", "ModuleNotFoundError: No module named 'apex'", ["pip does not know"]),
        ("import_error", "ImportError: cannot import name 'A' from 'b' (/x)", ["'A'", "version"]),
        ("file_not_found", "[Errno 2] No such file or directory: '/data/a.bin'", ["'/data/a.bin'"]),
        ("file_not_found", "No such file or directory: 'a.bin'", ["'a.bin'", "job's directory"]),
        ("permission_denied", "[Errno 13] Permission denied: '/data/o'", ["mode of '/data/o'"]),
        ("permission_denied", "[Errno 30] Read-only file system: '/home/u'", ["somewhere else"]),
        ("port_conflict", "failed to bind to [::]:29500 (errno: 98 - Address", ["port 29500"]),
        ("shape_mismatch", "cannot be multiplied (32x784 and 512x10)", ["512", "784"]),
        ("shape_mismatch", "size of tensor a (3) must match the size of tensor b (4)", ["3", "4"]),
        ("shape_mismatch", "Shapes (None, 7) and (None, 1, 7) are", ["(None, 7) and (None, 1, 7)"]),
        ("dtype_mismatch", "expected scalar type Float but found Half", ["Float meets Half"]),
        ("device_mismatch", "two devices, cuda:0 and cpu!", ["cuda:0", "cpu"]),
        ("key_error", "KeyError: 'lr'", ["'lr'"]),
        ("name_error", "NameError: name 'x' is not defined", ["'x'"]),
        ("attribute_error", "module 'numpy' has no attribute 'bool'", ["'numpy' has no 'bool'"]),
        ("attribute_error", "'NoneType' object has no attribute 'shape'", ["None", "'shape'"]),
        ("type_error", "f() got an unexpected keyword argument 'a'", ["drop the argument 'a'"]),
        ("type_error", "f() missing 1 required positional argument: 'b'", ["give", "'b'"]),
        ("argument_error", "a.py: error: unrecognized arguments: --epochz 3", ["'--epochz'"]),
        ("argument_error", "error: the following arguments are required: --data", ["'--data'"]),
        ("argument_error", "Key 'lrr' is not in struct", ["'lrr'"]),
        ("command_not_found", "run.sh: line 3: nvcc: command not found", ["'nvcc'"]),
        ("auth_error", "Cannot access gated repo for url https://huggingface.co/x", ["HF_TOKEN"]),
        ("auth_error", "wandb.errors.UsageError: api_key not configured", ["WANDB_API_KEY"]),
        ("auth_error", "git@github.com: Permission denied (publickey).", ["SSH key"]),
        ("data_error", "cannot identify image file '/d/x.jpg'", ["'/d/x.jpg'"]),
        ("data_error", "but got num_samples=0", ["empty"]),
        ("data_error", "IndexError: Target 10 is out of bounds.", ["10", "classes"]),
        ("index_error", "IndexError: index out of range in self", ["embedding"]),
        ("host_oom", "exceeded memory limit (9437184 > 8388608), being killed", ["9.0", "=12G"]),
        ("host_oom", "Unable to allocate 14.9 GiB for an array", ["14.9 GiB"]),
    ],
)
def test_the_message_gives_the_particulars(reason, message, pieces):
    advice = suggestion(reason, None, message)
    assert [piece for piece in pieces if piece not in advice] == []


def test_what_was_asked_for_and_free_is_stated():
    message = (
        "Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.59 GiB of which 512.00 MiB "
        "is free."
    )
    advice = suggestion("gpu_oom", None, message)
    assert advice.startswith("it asked for 2.00 GiB more with 512.00 MiB free of 39.59 GiB")


def test_less_gpu_memory_keeps_the_effective_batch_size():
    advice = suggestion("gpu_oom", _workload(batch_size=24, gradient_accumulation=3))
    assert "batch size 12 instead of 24 with 6 gradient accumulation steps (still 72" in advice


@pytest.mark.parametrize(
    ("batch", "steps", "words"),
    [
        (9, 1, "batch size 3 instead of 9 with 3 gradient accumulation steps (still 9 in effect)"),
        (7, 3, "batch size 3 instead of 7 with 7 gradient accumulation steps (still 21 in effect)"),
        (7, 1, "batch size 3 instead of 7 with 2 gradient accumulation steps (about the same: 6,"),
        (2, 1, "batch size 1 instead of 2 with 2 gradient accumulation steps (still 2 in effect)"),
    ],
)
def test_an_odd_batch_is_stated_truly(batch, steps, words):
    workload = _workload(batch_size=batch, gradient_accumulation=steps)
    assert words in suggestion("gpu_oom", workload)


@given(st.integers(2, 5000), st.integers(1, 64))
def test_the_stated_product_is_the_product(batch, steps):
    advice = suggestion("gpu_oom", _workload(batch_size=batch, gradient_accumulation=steps))
    size, before, more, stated = (int(number) for number in re.findall(r"\d+", advice)[:4])
    assert size * more == stated
    assert size < before == batch
    assert 0.5 < stated / (batch * steps) < 1.5


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("python train.py --gradient_checkpointing --batch 8", False),
        ("gradient_checkpointing: true", False),
        ("model.gradient_checkpointing_enable()", False),
        ("gradient_checkpointing=False", True),
        ("'gradient_checkpointing': false", True),
        ("python train.py --batch 8", True),
    ],
)
def test_what_is_on_already_is_not_advised(line, offered):
    seen = (Evidence("train.sh", 3, line),)
    workload = Workload(batch_size=Finding(value=8, source="cli", evidence=seen))
    assert ("gradient checkpointing" in suggestion("gpu_oom", workload)) is offered


def test_a_lower_precision_is_not_advised_where_it_is_low():
    assert "precision" not in suggestion("gpu_oom", _workload(precision="bf16"))
    assert "bf16" not in suggestion("gpu_oom", _workload(precision="bf16", batch_size=8))
    assert "precision" in suggestion("gpu_oom", _workload(epochs=3.0))


def test_precision_length_and_sharding_are_offered_where_they_help():
    advice = suggestion(
        "gpu_oom",
        _workload(batch_size=1, precision="fp32", sequence_length=4096, gpus=8, parallelism="ddp"),
    )
    pieces = ["bf16 instead of fp32", "sequences of 2048", "checkpointing", "over the 8 GPUs"]
    assert [piece for piece in pieces if piece not in advice] == []
    assert "batch size" not in advice


def test_what_is_already_small_is_not_made_smaller():
    advice = suggestion("gpu_oom", _workload(batch_size=1, precision="bf16", sequence_length=128))
    assert advice == "try gradient checkpointing"


@pytest.mark.parametrize(("resumes", "piece"), [(True, "submit it again"), (False, "--time")])
def test_a_time_limit_depends_on_whether_it_resumes(resumes, piece):
    assert piece in suggestion("time_limit", _workload(resumes=resumes))


def test_text_of_the_log_is_cut_and_printable():
    hostile = "KeyError: '\x1b[31m" + "x" * 280 + "\n\u202ey'"
    advice = suggestion("key_error", None, hostile)
    assert advice.isprintable()
    assert len(advice) < 200


def test_no_command_is_made_of_what_is_no_module_name():
    advice = suggestion("import_error", None, "No module named 'x; rm -rf ~'")
    assert "rm" not in advice


@given(st.sampled_from(sorted(REASONS)), st.text(max_size=400))
def test_any_message_gives_a_printable_suggestion(reason, message):
    advice = suggestion(reason, None, message)
    assert advice.isprintable()
    assert bool(advice) == (reason != "not_failed")


def _cpu_s(reason, message):
    """Of the processor's time, which a busy machine does not change."""
    started = time.process_time()
    suggestion(reason, None, message)
    return time.process_time() - started


@pytest.mark.parametrize("filler", ["'", "(1, ", "No module named ", "directory: '", "a/", "1x1 "])
def test_no_message_is_slow(filler):
    assert [reason for reason in sorted(REASONS) if _cpu_s(reason, filler * 2000) >= 0.1] == []
