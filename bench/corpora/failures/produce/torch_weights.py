"""Checkpoints of torch that do not fit, or are broken."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from pathlib import Path

from bench.corpora.failures.produce.making import Job, main
from bench.corpora.failures.produce.torch_trainers import torch_trainer

BASH = "bash job.sh"


def _weights(work: Path, name: str = "last.pt", width: int = 128) -> Path:
    import torch  # noqa: PLC0415 - only these producers need it
    from torch import nn  # noqa: PLC0415

    net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))
    torch.save({"model": net.state_dict(), "step": 400}, work / name)
    return work / name


def _cut(work: Path, width: int, to: int) -> None:
    path = _weights(work, width=width)
    path.write_bytes(path.read_bytes()[:to])


def _empty(work: Path) -> None:
    (work / "last.pt").touch()


def _garbled(work: Path) -> None:
    path = _weights(work)
    data = bytearray(path.read_bytes())
    data[:64] = bytes(range(200, 264 - 8)) + b"\0" * 8
    path.write_bytes(data)


def _flipped(work: Path) -> None:
    path = _weights(work)
    data = bytearray(path.read_bytes())
    at = data.find(b"data.pkl") + 200
    for place in range(at, at + 40):
        data[place] ^= 0xFF
    path.write_bytes(data)


def _half_safetensors(work: Path) -> None:
    import torch  # noqa: PLC0415
    from safetensors.torch import save_file  # noqa: PLC0415

    save_file({"w": torch.randn(200, 200)}, work / "model.safetensors")
    data = (work / "model.safetensors").read_bytes()
    (work / "model.safetensors").write_bytes(data[: len(data) // 2])


_LOAD = """def prepare():
    print("resuming from last.pt")
    saved = torch.load("last.pt", map_location="cpu")
    net.load_state_dict(saved["model"])
    return {"seen": saved["step"]}
"""

JOBS = [
    Job(
        name="weights_missing_keys",
        reason="checkpoint_mismatch",
        cause=("Error(s) in loading state_dict for", "Missing key(s) in state_dict"),
        files=torch_trainer(
            "logging",
            "def prepare():\n    torch.save(nn.Sequential(nn.Linear(64, 128)).state_dict(), 'old.pt')\n"
            "    net.load_state_dict(torch.load('old.pt'))",
        ),
    ),
    Job(
        name="weights_other_size",
        reason="checkpoint_mismatch",
        cause=("size mismatch for 0.weight", "Error(s) in loading state_dict for"),
        files=torch_trainer("print", _LOAD),
        prepare=lambda work: _weights(work, width=96) and None,
        command=BASH,
    ),
    Job(
        name="optimiser_other_groups",
        reason="checkpoint_mismatch",
        cause=("loaded state dict",),
        files=torch_trainer(
            "tqdm",
            "def prepare():\n    other = torch.optim.AdamW([{'params': [p]} for p in net.parameters()])\n"
            "    optimiser.load_state_dict(other.state_dict())",
        ),
        accept=("value_error",),
    ),
    Job(
        name="weights_cut_short",
        reason="checkpoint_corrupt",
        cause=("failed finding central directory",),
        files=torch_trainer("print", _LOAD),
        prepare=lambda work: _cut(work, width=2048, to=200_000),
    ),
    Job(
        name="weights_cut_short_small_file",
        reason="checkpoint_corrupt",
        cause=("OSError: [Errno 22] Invalid argument",),
        files=torch_trainer("logging", _LOAD),
        prepare=lambda work: _cut(work, width=128, to=20_000),
    ),
    Job(
        name="weights_zero_length",
        reason="checkpoint_corrupt",
        cause=("EOFError",),
        files=torch_trainer("logging", _LOAD),
        prepare=_empty,
    ),
    Job(
        name="weights_garbled_header",
        reason="checkpoint_corrupt",
        cause=("UnpicklingError", "invalid load key", "Weights only load failed"),
        files=torch_trainer("tqdm", _LOAD),
        prepare=_garbled,
    ),
    Job(
        name="weights_flipped_bytes",
        reason="checkpoint_corrupt",
        cause=(
            "UnpicklingError",
            "Weights only load failed",
            "Unsupported operand",
            "PytorchStreamReader",
        ),
        files=torch_trainer("caught", _LOAD),
        prepare=_flipped,
    ),
    Job(
        name="safetensors_half_written",
        reason="checkpoint_corrupt",
        cause=("SafetensorError",),
        files=torch_trainer(
            "print",
            "def prepare():\n    from safetensors.torch import load_file\n\n"
            "    print('loading model.safetensors')\n    return load_file('model.safetensors')",
        ),
        prepare=_half_safetensors,
    ),
]

if __name__ == "__main__":
    main(JOBS)
