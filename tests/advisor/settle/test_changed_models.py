"""A model that is taken by its name and changed has no longer the shape of that name for sure."""

import pytest

from schedmate.advisor import Target
from schedmate.advisor.launch.resolve import resolve
from schedmate.advisor.understand.reading import understand
from schedmate.model import Request

HEAD = "import torch\nfrom lib import size\nfrom transformers import AutoConfig, GPT2LMHeadModel\n"
CONFIG = "config = AutoConfig.from_pretrained('gpt2')\n"
BUILT = "model = GPT2LMHeadModel.from_config(config)\n"
LOADED = "model = GPT2LMHeadModel.from_pretrained('gpt2')\n"
TRAINED = "opt = torch.optim.AdamW(model.parameters(), lr=1e-4)\n"
CHANGED = {
    "an attribute": f"{CONFIG}config.n_layer = size()\n{BUILT}",
    "an update": f"{CONFIG}config.update({{'n_layer': size()}})\n{BUILT}",
    "a keyword": "model = GPT2LMHeadModel.from_pretrained('gpt2', n_layer=size())\n",
    "fewer layers": f"{LOADED}model.transformer.h = model.transformer.h[: size()]\n",
}
UNCHANGED = {
    "as it is": LOADED,
    "built from its config": CONFIG + BUILT,
    "another setting": f"{CONFIG}config.use_cache = False\n{BUILT}",
}


def workload(project, code):
    (project / "train.py").write_text(f"{HEAD}{code}{TRAINED}")
    target = Target.from_command(project, ["python", "train.py"])
    return understand(resolve(target), target.files, Request())[0].workload


@pytest.mark.parametrize("code", CHANGED.values(), ids=CHANGED)
def test_a_shape_that_the_code_changes(tmp_path, code):
    found = workload(tmp_path, code)
    assert found.model.value == "gpt2"
    assert found.model_parameters.confidence <= 0.4
    assert found.d_model.confidence <= 0.4


@pytest.mark.parametrize("code", UNCHANGED.values(), ids=UNCHANGED)
def test_a_shape_that_stays_as_it_is(tmp_path, code):
    assert workload(tmp_path, code).model_parameters.confidence == 0.9
