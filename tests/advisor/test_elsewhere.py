"""Scripts that name their project by where it lies on another machine."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.reading import understand
from schedmate.advisor.resolve import resolve
from schedmate.model import Request

TRAIN = """
import argparse, yaml, torch
from helpers import build
parser = argparse.ArgumentParser()
parser.add_argument("--config")
args = parser.parse_args()
config = yaml.safe_load(open(args.config))
optimizer = torch.optim.Adam(build().parameters(), lr=config["lr"])
"""


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "proj"
    for name, text in {
        "train.py": TRAIN,
        "src/fit.py": TRAIN,
        "src/helpers.py": "import torch\ndef build():\n    return torch.nn.Linear(1, 1)\n",
        "lib/unused.py": "",
        "src/inner.sh": "python fit.py --config ../configs/a.yaml\n",
        "configs/a.yaml": "lr: 0.003\n",
        "config.json": '{"lr": 5}\n',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def read(project, text):
    (project / "job.sh").write_text(f"#!/bin/bash\n{text}\n")
    target = Target.from_script(project, "job.sh", ())
    understood, _ = understand(resolve(target), target.files, Request())
    return understood.workload


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("cd /home/u/proj\npython train.py --config configs/a.yaml", "train.py"),
        ("cd $HOME/x\npython train.py --config configs/a.yaml", "train.py"),
        ("cd ${SLURM_SUBMIT_DIR}\npython train.py --config configs/a.yaml", "train.py"),
        ("cd /home/u/proj/src\npython fit.py --config ../configs/a.yaml", "src/fit.py"),
        ("cd ~/proj/src\npython fit.py --config ~/proj/configs/a.yaml", "src/fit.py"),
        ("cd /home/u/proj/src\npython ../train.py --config ../configs/a.yaml", "train.py"),
        ("P=$HOME/p\ncd $P/src\npython fit.py --config=$P/configs/a.yaml", "src/fit.py"),
        ("cd /home/u/proj/src && bash inner.sh", "src/fit.py"),
        ("pushd /x/proj\n(cd src && python fit.py --config ../configs/a.yaml)", "src/fit.py"),
        ("python /home/u/proj/train.py --config /home/u/proj/configs/a.yaml", "train.py"),
        ("python /x/src/fit.py --config ${CONFIGS}/a.yaml", "src/fit.py"),
        ("git clone https://x/proj\ncd proj\npython train.py --config configs/a.yaml", "train.py"),
    ],
)
def test_the_job_s_own_files_are_meant(project, text, entry):
    workload = read(project, text)
    assert workload.entry_point.value == entry
    assert workload.learning_rate.value == 0.003
    assert workload.learning_rate.evidence[0].file == "configs/a.yaml"


@pytest.mark.parametrize("path", ["/models/llama/config.json", "/x/b.yaml", "$MODEL/config.json"])
def test_a_name_that_every_model_has_says_nothing(project, path):
    assert read(project, f"python train.py --config {path}").learning_rate is None


def test_a_directory_that_is_there_is_taken_as_it_is(project):
    (project / "src" / "lib").mkdir()
    (project / "src" / "lib" / "train.py").write_text(TRAIN)
    workload = read(project, "cd src/lib\npython train.py --config ../../configs/a.yaml")
    assert workload.entry_point.value == "src/lib/train.py"


def test_the_import_path_of_another_machine(project):
    text = "export PYTHONPATH=/home/u/proj/src:$PYTHONPATH\npython train.py --config configs/a.yaml"
    assert read(project, text).optimizer.value == "adam"
