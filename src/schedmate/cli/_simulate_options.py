"""What the options of `simulate` say together, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedmate.policies.slurm_parameters import SlurmParameters
    from schedmate.simulator.experiments.setting import GpuKind
    from schedmate.simulator.synthetic import Levers


def slurm_parameters(file: str | None, names: Sequence[str]) -> SlurmParameters | None:
    from schedmate.model import BadInput, NotFound
    from schedmate.policies import POLICIES
    from schedmate.policies.slurm_parameters import SlurmParameters
    from schedmate.simulator import plan

    if file is None:
        return None
    able = [name for name, policy in POLICIES.items() if policy().goes_by]
    if not any(plan(name).policy in able for name in names):
        raise BadInput(
            f"--slurm-config is of the policies {' and '.join(able)}: add one of them, for "
            f"example --policy {able[-1]}"
        )
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}") from None
    except OSError as error:
        raise BadInput(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from error
    try:
        return SlurmParameters.read(text)
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from error


def check_controls(names: Sequence[str], error: float | None) -> None:
    from schedmate.model import BadInput
    from schedmate.simulator import plan

    if error is not None:
        raise BadInput("--error takes the place of every predictor: leave it or --controls out")
    if not any("advisor" in plan(name).parts for name in names):
        raise BadInput(
            "--controls are other predictors in the place of SchedMate's: add a policy with it, "
            "for example --policy easy,easy+schedmate"
        )


def levers_of(names: Sequence[str], **shares: float) -> Levers:
    """Refused where no daemon stands beside a scheduler, which alone could pull them."""
    from schedmate.model import BadInput
    from schedmate.policies import POLICIES
    from schedmate.simulator import plan
    from schedmate.simulator.synthetic import Levers

    levers = Levers(
        resumable=shares["resumable"], shareable=shares["shareable"], doomed=shares["doomed"]
    )
    plans = [plan(name) for name in names]
    beside = [each for each in plans if POLICIES[each.policy].kind == "beside"]
    if levers and not any("advisor" in each.parts for each in beside):
        used = " and ".join(f"--{name}" for name, share in shares.items() if share)
        raise BadInput(
            f"{used}: only SchedMate beside a scheduler makes use of that: add it, for example "
            "--policy easy,easy+schedmate"
        )
    return levers


def check_synthetic_code(explained: float | None, settings: Sequence[Mapping[str, float]]) -> None:
    """Refuses what is about synthetic code, where that of the jobs is to be read."""
    from dataclasses import fields

    from schedmate.model import BadInput
    from schedmate.simulator.synthetic import Assumptions

    swept = {name for values in settings for name in values}
    assumed = [each.name for each in fields(Assumptions) if each.name in swept]
    if explained is not None:
        assumed = ["--explained", *assumed]
    if assumed:
        raise BadInput(
            f"{', '.join(assumed)} is of synthetic code, and --read-code and --scripts read the "
            "jobs' own: leave one of them out"
        )


def kinds_of(text: str | None, asked: dict[str, Any]) -> tuple[GpuKind, ...]:
    from schedmate.model import BadInput
    from schedmate.simulator.experiments.setting import gpu_kinds

    if text is None:
        return ()
    if asked["gpus"] or asked["by_group"]:
        raise BadInput("--gpu-kinds says how many GPUs there are: leave --gpus and --by-group out")
    return gpu_kinds(text)


def gpus_of(gpus: int | None, nodes: int | None, per_node: int | None) -> int | None:
    from schedmate.model import BadInput

    if nodes is None:
        return gpus
    if per_node is None:
        raise BadInput("--nodes needs --gpus-per-node, for example --gpus-per-node 8")
    if gpus not in (None, nodes * per_node):
        whole = nodes * per_node
        raise BadInput(
            f"{nodes} nodes of {per_node} GPUs have {whole}, not {gpus}: leave --gpus out"
        )
    return nodes * per_node
