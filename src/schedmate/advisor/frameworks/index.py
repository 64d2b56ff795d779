"""By what frameworks are recognised: one row each, so that only those in sight are loaded.

A framework that has a module of its own beside this one has `settings` there. Rows without a
module are known by name only. The order says which drives which: a Trainer that is called beats
the library that it is written in.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedmate.advisor.frameworks.signs import Signs
from schedmate.advisor.launch.run import PythonRun

_TRAINERS = r"^(?:transformers|trl|sentence_transformers|setfit|optimum|unsloth)\."
_KERAS = r"(?:keras|tensorflow\.(?:python\.)?keras|tf_keras|keras_\w{1,20}|autokeras)"
SIGNS: tuple[Signs, ...] = (
    Signs(
        name="llamafactory",
        module="llamafactory",
        programs="llamafactory-cli lmf",
        modules=r"llamafactory(?:\.cli|\.train|\.launcher)?",
        files=r"(?:^|/)train(?:_bash)?\.py$",
        marks=("llamafactory", "llmtuner"),
    ),
    Signs(
        name="axolotl",
        module="axolotl",
        programs="axolotl",
        modules=r"axolotl\.cli(?:\.train|\.main)?",
        files=r"(?:^|/)(?:finetune|train)\.py$",
        marks=("from axolotl.cli", "from axolotl.train"),
    ),
    Signs(name="trl", module="trl", programs="trl", modules=r"trl\.cli(?:\.main)?"),
    Signs(
        name="swift",
        module="swift",
        programs="swift megatron",
        modules=r"swift\.cli\.(?:main|sft|pt|rlhf|_megatron\.\w{1,40})",
        files=r"(?:^|/)(?:llm_)?(?:sft|pt|rlhf)\.py$",
        marks=("from swift.llm", "import swift"),
    ),
    Signs(
        name="litgpt",
        module="litgpt",
        packages="litgpt",
        programs="litgpt",
        modules=r"litgpt(?:\.__main__)?",
        shares=True,
    ),
    Signs(
        name="maxtext",
        module="maxtext",
        modules=r"(?:MaxText|maxtext(?:\.trainers(?:\.\w{1,40}){1,3})?)\."
        r"(?:train|sft_train|train_(?:sft|sft_native|dpo|rl|distill))",
        files=r"(?:MaxText|maxtext)/(?:\w{1,40}/){0,3}train\.py$",
        marks=("maxtext", "MaxText"),
    ),
    Signs(name="openrlhf", module="openrlhf", modules=r"openrlhf\.cli\.train_\w{1,40}"),
    Signs(
        name="verl",
        module="verl",
        modules=r"verl\.trainer\.(?:main_ppo|sft_trainer|fsdp_sft_trainer)",
    ),
    Signs(name="xtuner", module="xtuner", programs="xtuner", modules=r"xtuner(?:\.entry_point)?"),
    Signs(name="nemo", module="nemo", packages="nemo", programs="nemo", saves=True, shares=True),
    Signs(
        name="lightning",
        module="lightning",
        packages="lightning pytorch_lightning lightning_fabric",
        drives=r"^(?:lightning|pytorch_lightning|lightning_fabric)\..*"
        r"\b(?:Trainer|Fabric|LightningCLI)\b",
        beside="nemo",
        files=r"\.py$",
        marks=("LightningCLI(",),
        own_code=True,
        saves=True,
        shares=True,
    ),
    Signs(
        name="transformers",
        module="transformers",
        packages="transformers trl sentence_transformers setfit optimum",
        beside="unsloth peft",
        drives=rf"{_TRAINERS}.*Trainer\b"
        r"|^sentence_transformers\.SentenceTransformer\.(?:.*\.)?fit$",
        saves=True,
        shares=True,
    ),
    Signs(
        name="ultralytics",
        module="ultralytics",
        packages="ultralytics",
        drives=r"^ultralytics\.",
        programs="yolo ultralytics",
        modules=r"ultralytics(?:\.cfg)?",
        saves=True,
        shares=True,
        task="object_detection",
    ),
    Signs(
        name="mmengine",
        module="mmengine",
        packages="mmengine mmcv mmdet mmseg mmpretrain mmcls",
        drives=r"^mm(?:engine|cv)\..*Runner",
        modules=r"mmengine\.tools\.train",
        files=r"(?:^|/)(?:tools/|tools/dist_)?train\.py$",
        marks=("from mmengine", "from mmcv", "import mmcv", "import mmengine"),
        own_code=True,
        saves=True,
        shares=True,
    ),
    Signs(
        name="detectron2",
        module="detectron2",
        packages="detectron2",
        drives=r"^detectron2\.engine\.",
        saves=True,
        shares=True,
        own_tree=True,
        task="object_detection",
    ),
    Signs(
        name="fairseq",
        module="fairseq",
        packages="fairseq fairseq2",
        drives=r"^fairseq2?\.",
        programs="fairseq-train fairseq-hydra-train",
        modules=r"fairseq_cli\.(?:hydra_)?train",
        files=r"(?:^|/)(?:hydra_)?train\.py$",
        marks=("from fairseq_cli", "from fairseq", "import fairseq"),
        always=True,
        saves=True,
        shares=True,
        own_tree=True,
    ),
    Signs(name="fastai", module="fastai", packages="fastai", drives=r"^fastai\..*[Ll]earner"),
    Signs(
        name="composer",
        module="composer",
        packages="composer llmfoundry",
        drives=r"^composer\..*Trainer",
        programs="llmfoundry",
        files=r"(?:^|/)train\.py$",
        marks=("llmfoundry",),
        saves=True,
        shares=True,
    ),
    Signs(
        name="stable_baselines3",
        module="reinforcement",
        packages="stable_baselines3 sb3_contrib",
        beside="sbx tianshou",
        drives=r"^(?:stable_baselines3|sb3_)",
        task="reinforcement_learning",
    ),
    Signs(
        name="rllib",
        module="reinforcement",
        packages="ray.rllib",
        beside="ray",
        drives=r"^ray\.rllib\.",
        task="reinforcement_learning",
    ),
    Signs(
        name="torchtune",
        module="torchtune",
        packages="torchtune",
        drives=r"^torchtune\.",
        programs="tune",
        modules=r"torchtune(?:\._cli\.tune)?",
        shares=True,
        own_tree=True,
    ),
    Signs(
        name="torchtitan",
        module="torchtitan",
        packages="torchtitan",
        drives=r"^torchtitan\.",
        modules=r"torchtitan\.train",
        files=r"(?:^|/)train\.py$",
        marks=("from torchtitan", "import torchtitan"),
        shares=True,
        own_tree=True,
    ),
    Signs(
        name="colossalai",
        packages="colossalai",
        drives=r"^colossalai\..*(?:Booster|launch|initialize)",
        shares=True,
    ),
    Signs(
        name="megatron",
        module="megatron",
        packages="megatron",
        drives=r"^megatron\.",
        always=True,
        saves=True,
        shares=True,
        own_tree=True,
    ),
    Signs(
        name="deepspeed",
        module="deepspeed",
        packages="deepspeed",
        beside="accelerate",
        drives=r"^deepspeed\.(?:.*\.)?initialize$",
        shares=True,
        helps=True,
    ),
    Signs(
        name="accelerate",
        module="accelerate",
        packages="accelerate",
        drives=r"^accelerate\.(?:.*\.)?Accelerator\b",
        launchers="accelerate",
        shares=True,
        helps=True,
    ),
    Signs(name="ignite", packages="ignite", drives=r"^ignite\.engine\."),
    Signs(
        name="keras",
        module="keras",
        packages="keras tf_keras keras_core keras_hub keras_nlp keras_cv tensorflow.keras",
        beside="tensorflow tensorflow_datasets tensorflow_hub autokeras transformers sklearn",
        drives=rf"^{_KERAS}\..*\.(?:fit|fit_generator|train_on_batch)$"
        r"|^transformers\.TF.*\.fit$|^autokeras\..*\.fit$|^\?\.fit(?:_generator)?$",
    ),
    Signs(
        name="tensorflow",
        module="tensorflow",
        packages="tensorflow",
        beside="keras horovod tensorflow_datasets tensorflow_hub",
        drives=r"^tensorflow\..*\b(?:GradientTape|Session|MonitoredTrainingSession|Estimator"
        r"|train_and_evaluate|\w{0,40}Optimizer)\b",
    ),
    Signs(
        name="flax",
        module="jax",
        packages="flax",
        beside="orbax",
        drives=r"^flax\.",
        shares=True,
    ),
    Signs(
        name="jax",
        module="jax",
        packages="jax optax haiku equinox",
        drives=r"^jax\.(?:grad|value_and_grad|pmap|jit)\b|^optax\.",
        shares=True,
    ),
    Signs(name="pytorch", packages="torch", drives=r"^torch\.(?:optim|autograd)\.|\.backward$"),
    Signs(name="paddle", packages="paddle", drives=r"^paddle\."),
    Signs(name="mindspore", packages="mindspore", drives=r"^mindspore\."),
    Signs(name="mxnet", packages="mxnet", drives=r"^mxnet\."),
    Signs(
        name="xgboost",
        module="boosting",
        packages="xgboost",
        drives=r"^xgboost\.(?:.*\.)?(?:train|cv|fit|XGB\w+)$",
        task="tabular",
    ),
    Signs(
        name="lightgbm",
        module="boosting",
        packages="lightgbm",
        drives=r"^lightgbm\.(?:.*\.)?(?:train|cv|fit|LGBM\w+)$",
        task="tabular",
    ),
    Signs(
        name="catboost",
        module="boosting",
        packages="catboost",
        drives=r"^catboost\.",
        task="tabular",
    ),
    Signs(
        name="vllm",
        module="vllm",
        packages="vllm",
        drives=r"^vllm\.",
        programs="vllm",
        modules=r"vllm\.entrypoints\.(?:openai\.api_server|api_server|cli\.main)",
        shares=True,
    ),
    Signs(
        name="sklearn",
        module="boosting",
        packages="sklearn",
        drives=r"^sklearn\..*\.(?:fit|partial_fit|fit_predict)$",
        helps=True,
    ),
)


def in_sight(run: PythonRun, packages: frozenset[str]) -> Iterator[tuple[Signs, bool]]:
    """The frameworks of a run, with whether it is started as the framework's own program, which at
    most one is. `packages` are all names that it imports or calls."""
    started = started_by(run)
    seen: set[str] = set()
    for signs in SIGNS:
        if not signs.module or signs.module in seen:
            continue
        launched = signs.launchers and any(
            launcher.name.startswith(signs.launchers) for launcher in run.launched
        )
        if signs is started or signs.always or launched or not packages.isdisjoint(signs.read_for):
            seen.add(signs.module)
            yield signs, signs is started


def started_by(run: PythonRun) -> Signs | None:
    """The framework whose own program the run is."""
    return next((signs for signs in SIGNS if signs.starts(run)), None)


def needs_no_code(run: PythonRun) -> bool:
    """Whether the config says what will happen, so that the framework's own code would mislead."""
    return any(signs.is_alone(run) for signs in SIGNS)
