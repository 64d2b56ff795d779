"""Scripts that name their project by where it lies on another machine."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
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


def test_data_beside_the_code_is_not_called_after_the_checkout(project):
    code = (
        "import os, torch\n"
        "class ImageDataset(torch.utils.data.Dataset):\n"
        "    def __init__(self, root): pass\n"
        "DATA_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'datasets')\n"
        "loader = torch.utils.data.DataLoader(ImageDataset(DATA_DIR), batch_size=4)\n"
    )
    (project / "train.py").write_text(code)
    assert read(project, "python train.py").dataset is None


@pytest.mark.parametrize(("name", "dataset"), [("MRPC", "MRPC"), ("long_term_forecast", None)])
def test_a_task_is_the_data_only_in_suites_of_such(project, name, dataset):
    code = (
        "import argparse, torch\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--task_name')\n"
        "args = parser.parse_args()\n"
    )
    (project / "train.py").write_text(code)
    found = read(project, f"python train.py --task_name {name}").dataset
    assert (found and found.value) == dataset


def test_packages_without_init_files_are_packages(project):
    nested = project / "pack" / "deep" / "models"
    nested.mkdir(parents=True)
    (nested / "net.py").write_text("import torch\nopt = torch.optim.SGD([], lr=0.25)\n")
    (project / "train.py").write_text("from pack.deep.models.net import opt\nopt.step()\n")
    (project / "pack" / "deep" / "other.py").write_text("")
    assert read(project, "python train.py").learning_rate.value == 0.25
