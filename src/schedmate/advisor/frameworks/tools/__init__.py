"""Programs that train from a config alone: one file a tool, its line in `TOOLS`.

`tool_for` finds the one that a run starts: by the program's name (`llamafactory-cli`), by the
module (`-m axolotl.cli.train`), or, in a checked-out copy, by the file and a mark in its text.
`deepspeed_config` and `accelerate_config` read what is said beside a job's own code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from schedmate.advisor.frameworks.tools.accelerate_yaml import accelerate_config
from schedmate.advisor.frameworks.tools.axolotl import axolotl
from schedmate.advisor.frameworks.tools.base import Tool
from schedmate.advisor.frameworks.tools.deepspeed_json import deepspeed_config
from schedmate.advisor.frameworks.tools.fairseq import fairseq_hydra_train, fairseq_train
from schedmate.advisor.frameworks.tools.lightning_cli import lightning_cli
from schedmate.advisor.frameworks.tools.litgpt import litgpt
from schedmate.advisor.frameworks.tools.llamafactory import llamafactory
from schedmate.advisor.frameworks.tools.llmfoundry import llmfoundry
from schedmate.advisor.frameworks.tools.maxtext import maxtext
from schedmate.advisor.frameworks.tools.nemo import nemo
from schedmate.advisor.frameworks.tools.openmmlab import openmmlab
from schedmate.advisor.frameworks.tools.openrlhf import openrlhf
from schedmate.advisor.frameworks.tools.swift import megatron_swift, swift
from schedmate.advisor.frameworks.tools.torchtitan import torchtitan
from schedmate.advisor.frameworks.tools.torchtune import torchtune
from schedmate.advisor.frameworks.tools.trl import trl
from schedmate.advisor.frameworks.tools.ultralytics import ultralytics
from schedmate.advisor.frameworks.tools.verl import verl
from schedmate.advisor.frameworks.tools.xtuner import xtuner
from schedmate.advisor.launch.run import PythonRun

_LONGEST_STARTER = 60
"""Lines of a file that does no more than start a tool, its licence included."""
_DEEPEST = 6
"""How many directories deep a module of a tool lies at most."""

__all__ = [
    "TOOLS",
    "Known",
    "Tool",
    "accelerate_config",
    "deepspeed_config",
    "needs_no_code",
    "tool_for",
]


@dataclass(frozen=True, slots=True)
class Known:
    """`modules` is a pattern for what stands behind `-m`, and for the file of that module in a
    checked-out copy. `files` is one for other entry points, which count only where the text has
    one of the `marks`; some of those have `own_code` that matters besides.
    """

    tool: Tool
    programs: tuple[str, ...] = ()
    modules: str = ""
    files: str = ""
    marks: tuple[str, ...] = ()
    own_code: bool = False

    def runs(self, run: PythonRun) -> bool:
        return self.is_itself(run) or self._is_marked(run)

    def is_alone(self, run: PythonRun) -> bool:
        """The tool under its own name, or a few lines that start it."""
        text = run.entry.source.text if run.entry.source is not None else ""
        starts = not self.own_code and text.count("\n") < _LONGEST_STARTER
        return self.is_itself(run) or (starts and self._is_marked(run))

    def is_itself(self, run: PythonRun) -> bool:
        words = (run.entry.name, run.command.text)
        if any(PurePosixPath(word).name in self.programs for word in words):
            return True
        names = _module_names(run) if self.modules else []
        return any(re.fullmatch(self.modules, name) for name in names)

    def _is_marked(self, run: PythonRun) -> bool:
        text = run.entry.source.text if run.entry.source is not None else ""
        named = bool(self.files) and re.search(self.files, run.entry.name) is not None
        return named and any(mark in text for mark in self.marks)


def _module_names(run: PythonRun) -> list[str]:
    """`src/axolotl/cli/train.py` may be the module axolotl.cli.train, or cli.train, …"""
    name = run.entry.name
    if name.startswith("-m "):
        return [name[3:].strip()]
    if not name.endswith(".py"):
        return []
    parts = PurePosixPath(name.removesuffix(".py").removesuffix("/__main__")).parts[-_DEEPEST:]
    return [".".join(parts[start:]) for start in range(len(parts) - 1)]


TOOLS: tuple[Known, ...] = (
    Known(
        llamafactory,
        ("llamafactory-cli", "lmf"),
        r"llamafactory(?:\.cli|\.train|\.launcher)?",
        r"(?:^|/)train(?:_bash)?\.py$",
        ("llamafactory", "llmtuner"),
    ),
    Known(
        axolotl,
        ("axolotl",),
        r"axolotl\.cli(?:\.train|\.main)?",
        r"(?:^|/)(?:finetune|train)\.py$",
        ("from axolotl.cli", "from axolotl.train"),
    ),
    Known(trl, ("trl",), r"trl\.cli(?:\.main)?"),
    Known(
        swift,
        ("swift",),
        r"swift\.cli\.(?:main|sft|pt|rlhf)",
        r"(?:^|/)(?:llm_)?(?:sft|pt|rlhf)\.py$",
        ("from swift.llm", "import swift"),
    ),
    Known(megatron_swift, ("megatron",), r"swift\.cli\._megatron\.\w{1,40}"),
    Known(torchtune, ("tune",), r"torchtune(?:\._cli\.tune)?"),
    Known(ultralytics, ("yolo", "ultralytics"), r"ultralytics(?:\.cfg)?"),
    Known(
        fairseq_hydra_train,
        ("fairseq-hydra-train",),
        r"fairseq_cli\.hydra_train",
        r"(?:^|/)hydra_train\.py$",
        ("from fairseq", "import fairseq"),
    ),
    Known(
        fairseq_train,
        ("fairseq-train",),
        r"fairseq_cli\.train",
        r"(?:^|/)train\.py$",
        ("from fairseq_cli", "from fairseq"),
    ),
    Known(
        torchtitan,
        (),
        r"torchtitan\.train",
        r"(?:^|/)train\.py$",
        ("from torchtitan", "import torchtitan"),
    ),
    Known(litgpt, ("litgpt",), r"litgpt(?:\.__main__)?"),
    Known(
        maxtext,
        (),
        r"(?:MaxText|maxtext(?:\.trainers(?:\.\w{1,40}){1,3})?)\."
        r"(?:train|sft_train|train_(?:sft|sft_native|dpo|rl|distill))",
        r"(?:MaxText|maxtext)/(?:\w{1,40}/){0,3}train\.py$",
        ("maxtext", "MaxText"),
    ),
    Known(openrlhf, (), r"openrlhf\.cli\.train_\w{1,40}"),
    Known(verl, (), r"verl\.trainer\.(?:main_ppo|sft_trainer|fsdp_sft_trainer)"),
    Known(
        openmmlab,
        (),
        r"mmengine\.tools\.train",
        r"(?:^|/)(?:tools/|tools/dist_)?train\.py$",
        ("from mmengine", "from mmcv", "import mmcv", "import mmengine"),
        own_code=True,
    ),
    Known(xtuner, ("xtuner",), r"xtuner(?:\.entry_point)?"),
    Known(llmfoundry, ("llmfoundry",), "", r"(?:^|/)train\.py$", ("llmfoundry",)),
    Known(nemo, ("nemo",)),
    Known(lightning_cli, (), "", r"\.py$", ("LightningCLI(",), own_code=True),
)
"""The first that fits is the one."""


def tool_for(run: PythonRun) -> Tool | None:
    return next((known.tool for known in TOOLS if known.runs(run)), None)


def needs_no_code(run: PythonRun) -> bool:
    """Whether the config says what will happen, so that the tool's own code would mislead."""
    return any(known.is_alone(run) for known in TOOLS)
