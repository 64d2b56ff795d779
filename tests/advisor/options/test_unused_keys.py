"""A key of a config that no code looks up is no field of the record."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

CONFIG = "lr: 0.1\nepochs: 9\nbatch_size: 77\nearly_stopping: true\n"
READ = "import yaml, torch\ncfg = yaml.safe_load(open('conf.yaml'))\n"
TRAIN = (
    "opt = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=cfg['lr'])\n"
    "for epoch in range(cfg['epochs']):\n    opt.step()\n"
)
USES = {
    "a library gets it": "from lib import loader\nloader(cfg)\n",
    "it is spread over arguments": "from lib import loader\nloader(**cfg)\n",
    "it is looked up": "from lib import loader\nloader(cfg['batch_size'], cfg['early_stopping'])\n",
    "a name is put together": "from lib import loader\nloader(cfg[f'{loader.kind}_size'])\n",
}


def workload(project, code, config=CONFIG):
    (project / "conf.yaml").write_text(config)
    (project / "train.py").write_text(code)
    target = Target.from_command(project, ["python", "train.py"])
    return understand(resolve(target), target.files, Request())[0].workload


def test_a_key_that_nothing_looks_up(tmp_path):
    found = workload(tmp_path, f"{READ}print(cfg)\n{TRAIN}")
    assert (found.learning_rate.value, found.epochs.value) == (0.1, 9)
    assert (found.batch_size, found.early_stopping) == (None, None)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_key_that_may_be_looked_up(tmp_path, use):
    assert workload(tmp_path, f"{READ}{use}{TRAIN}").batch_size.value == 77


def test_a_key_that_another_key_refers_to(tmp_path):
    config = f"{CONFIG}run: size_${{batch_size}}\n"
    assert workload(tmp_path, f"{READ}{TRAIN}", config).batch_size.value == 77
