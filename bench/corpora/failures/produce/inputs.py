"""What users hand in: arguments, configurations, files and data that are not what is expected.

Wants click, hydra-core, omegaconf, pydantic, PyYAML, pandas and Pillow.
"""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from pathlib import Path

from bench.corpora.failures.produce.making import Job, Prepare, main
from bench.corpora.failures.produce.trainers import trainer

_HYDRA = """import hydra


@hydra.main(version_base=None, config_path="conf", config_name="base")
def main(cfg):
    print(cfg.model.width)


main()
"""
_YAML = "model:\n  width: 64\noptim:\n  lr: 0.001\n"


def _write(name: str, data: bytes) -> Prepare:
    def prepare(work: Path) -> None:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)

    return prepare


def _jpeg(work: Path) -> None:
    from PIL import Image  # noqa: PLC0415 - only this producer needs it

    Image.effect_noise((64, 64), 20).save(work / "img_00412.jpg")
    data = (work / "img_00412.jpg").read_bytes()
    (work / "img_00412.jpg").write_bytes(data[: len(data) // 3])


JOBS = [
    Job(
        name="args_unrecognised",
        reason="argument_error",
        cause=("error: unrecognized arguments: --learning-rate 3e-4",),
        files=trainer("logging", ""),
        command="bash job.sh --name big --learning-rate 3e-4",
    ),
    Job(
        name="args_required_missing",
        reason="argument_error",
        cause=("the following arguments are required: --data",),
        files={
            "train.py": "import argparse\n\nprint('starting up')\np = argparse.ArgumentParser()\n"
            "p.add_argument('--data', required=True)\np.add_argument('--lr', type=float)\n"
            "p.parse_args()\n"
        },
    ),
    Job(
        name="args_invalid_choice",
        reason="argument_error",
        cause=("invalid choice: 'adamm'",),
        files={
            "train.py": "import argparse\n\np = argparse.ArgumentParser()\n"
            "p.add_argument('--optim', choices=['sgd', 'adam', 'lion'])\np.parse_args()\n"
        },
        command="echo 'launching 1 process'; python train.py --optim adamm",
    ),
    Job(
        name="args_click_option",
        reason="argument_error",
        cause=("No such option", "no such option"),
        files={
            "train.py": "import click\n\n\n@click.command()\n@click.option('--epochs', type=int)\n"
            "def main(epochs):\n    click.echo(epochs)\n\n\nmain()\n"
        },
        command="python train.py --epoch-count 3",
    ),
    Job(
        name="args_hydra_missing_key",
        reason="argument_error",
        cause=("Could not override 'optim.learning_rate'", "Key 'learning_rate' is not in struct"),
        files={"train.py": _HYDRA, "conf/base.yaml": _YAML},
        command="python train.py optim.learning_rate=0.1",
    ),
    Job(
        name="args_hydra_no_config",
        reason="argument_error",
        cause=("Cannot find primary config 'base'",),
        files={"train.py": _HYDRA, "conf/other.yaml": _YAML},
    ),
    Job(
        name="config_omegaconf_missing_value",
        reason="argument_error",
        cause=("MissingMandatoryValue", "Missing mandatory value: data.path"),
        files=trainer(
            "print",
            "from omegaconf import OmegaConf\n\n\ndef prepare():\n"
            "    cfg = OmegaConf.create({'data': {'path': '???'}})\n    return cfg.data.path",
        ),
    ),
    Job(
        name="config_pydantic",
        reason="argument_error",
        cause=("validation error for Settings", "Input should be a valid number"),
        files=trainer(
            "logging",
            "from pydantic import BaseModel\n\n\nclass Settings(BaseModel):\n    lr: float\n"
            "    layers: int\n\n\ndef prepare():\n    return Settings(lr='fast', layers=12)",
        ),
        accept=("value_error",),
    ),
    Job(
        name="config_yaml_tabs",
        reason="argument_error",
        cause=("yaml.scanner.ScannerError", "found character '\\t' that cannot start any token"),
        files={
            **trainer(
                "print",
                "import yaml\n\n\ndef prepare():\n    return yaml.safe_load(open('conf.yaml'))",
            ),
            "conf.yaml": "model:\n\twidth: 64\n",
        },
    ),
    Job(
        name="config_key_missing",
        reason="argument_error",
        cause=("ConfigAttributeError", "Key 'warmup' is not in struct"),
        files=trainer(
            "caught",
            "from omegaconf import OmegaConf\n\n\ndef prepare():\n"
            "    cfg = OmegaConf.create({'lr': 1})\n    OmegaConf.set_struct(cfg, True)\n"
            "    return cfg.warmup",
        ),
        accept=("attribute_error",),
    ),
    Job(
        name="file_missing_dataset",
        reason="file_not_found",
        cause=("No such file or directory: '/data/imagenet/train/manifest.json'",),
        files=trainer(
            "tqdm", "def prepare():\n    return open('/data/imagenet/train/manifest.json')"
        ),
    ),
    Job(
        name="file_missing_script",
        reason="file_not_found",
        cause=("can't open file", "No such file or directory"),
        files={
            "job.sh": "echo 'job 4411 starts'\ncd $HOME\npython tools/train_net.py --cfg a.yaml\n"
        },
        command="bash job.sh",
    ),
    Job(
        name="file_missing_checkpoint",
        reason="file_not_found",
        cause=("FileNotFoundError",),
        files=trainer(
            "caught",
            "import torch\n\n\ndef prepare():\n    return torch.load('runs/exp7/checkpoint-9000.pt')",
        ),
    ),
    Job(
        name="file_missing_sourced",
        reason="file_not_found",
        cause=("/home/shared/env.sh: No such file or directory",),
        files={
            "job.sh": "set -e\necho preparing\nsource /home/shared/env.sh\npython -u train.py\n",
            "train.py": "print('never')\n",
        },
        command="bash job.sh",
    ),
    Job(
        name="data_bad_json_line",
        reason="data_error",
        cause=("JSONDecodeError", "Unterminated string"),
        files=trainer(
            "print",
            "import json\n\n\ndef step(state, i):\n    with open('train.jsonl') as lines:\n"
            "        return json.loads(lines.readlines()[i])['loss']",
        ),
        prepare=_write("train.jsonl", b'{"loss": 1.0}\n' * 14 + b'{"loss": 1.0, "text": "cut he\n'),
    ),
    Job(
        name="data_not_utf8",
        reason="data_error",
        cause=("UnicodeDecodeError",),
        files=trainer(
            "logging", "def prepare():\n    return open('corpus.txt', encoding='utf-8').read()"
        ),
        prepare=_write("corpus.txt", "Zürich".encode("latin-1") * 30),
        command="bash job.sh",
    ),
    Job(
        name="data_csv_ragged",
        reason="data_error",
        cause=("Error tokenizing data", "ParserError"),
        files=trainer(
            "tqdm", "import pandas as pd\n\n\ndef prepare():\n    return pd.read_csv('train.csv')"
        ),
        prepare=_write("train.csv", b"text,label\na,1\nb,2\nc,3,4,5\n"),
    ),
    Job(
        name="data_empty_csv",
        reason="data_error",
        cause=("EmptyDataError", "No columns to parse from file"),
        files=trainer(
            "print", "import pandas as pd\n\n\ndef prepare():\n    return pd.read_csv('train.csv')"
        ),
        prepare=_write("train.csv", b""),
    ),
    Job(
        name="data_no_image",
        reason="data_error",
        cause=("cannot identify image file", "UnidentifiedImageError"),
        files=trainer(
            "caught",
            "from PIL import Image\n\n\ndef step(state, i):\n"
            "    return 1.0 if i < 9 else Image.open('img_00017.jpg').size[0]",
        ),
        prepare=_write("img_00017.jpg", b"<html>404 Not Found</html>"),
    ),
    Job(
        name="data_image_cut_short",
        reason="data_error",
        cause=("image file is truncated", "Truncated File Read", "OSError"),
        files=trainer(
            "logging",
            "from PIL import Image\n\n\ndef step(state, i):\n    if i == 5:\n"
            "        Image.open('img_00412.jpg').convert('RGB')\n    return 1.0",
        ),
        prepare=_jpeg,
    ),
    Job(
        name="data_not_a_number",
        reason="value_error",
        cause=("could not convert string to float: 'n/a'",),
        accept=("data_error",),
        files=trainer("print", "def step(state, i):\n    return float('1.5' if i < 20 else 'n/a')"),
    ),
    Job(
        name="data_gzip_cut_short",
        reason="data_error",
        cause=("Compressed file ended before the end-of-stream marker",),
        accept=("checkpoint_corrupt",),
        files=trainer(
            "tqdm",
            "import gzip\n\n\ndef prepare():\n    data = gzip.compress(bytes(range(256)) * 99)\n"
            "    open('shard-00003.jsonl.gz', 'wb').write(data[:120])\n"
            "    return gzip.open('shard-00003.jsonl.gz').read()",
        ),
    ),
    Job(
        name="data_own_empty_check",
        reason="data_error",
        cause=("dataset is empty",),
        accept=("value_error", "python_exception"),
        files=trainer(
            "print",
            "def prepare():\n    samples = []\n    print(f'{len(samples)} samples after filtering')\n"
            "    if not samples:\n        raise RuntimeError('training dataset is empty after filtering')",
        ),
    ),
]

if __name__ == "__main__":
    main(JOBS)
