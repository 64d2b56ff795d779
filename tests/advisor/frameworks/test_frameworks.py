import pytest

from advisor.frameworks.interpreted import said, statements
from schedmate.advisor.frameworks.drivers import frameworks

LOOP = """
import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
for batch in loader:
    model(batch).loss.backward()
"""


@pytest.mark.parametrize(
    ("code", "framework"),
    [
        (LOOP, "pytorch"),
        (
            LOOP + "from accelerate import Accelerator\naccelerator = Accelerator()",
            "accelerate",
        ),
        (LOOP + "import deepspeed\nengine, *_ = deepspeed.initialize(model=model)", "deepspeed"),
        (
            "from transformers import Trainer\nimport torch\nTrainer(model=m).train()",
            "transformers",
        ),
        ("from trl import SFTTrainer\nSFTTrainer(model='gpt2').train()", "transformers"),
        ("import pytorch_lightning as pl\npl.Trainer(max_epochs=3).fit(model)", "lightning"),
        ("import lightning as L\nfabric = L.Fabric()\nfabric.launch()", "lightning"),
        (
            "from ultralytics import YOLO\nYOLO('yolov8n.pt').train(data='coco128.yaml')",
            "ultralytics",
        ),
        ("from mmengine.runner import Runner\nRunner.from_cfg(cfg).train()", "mmengine"),
        ("from fastai.vision.all import *\nimport fastai\nimport torch", "fastai"),
        ("import tensorflow as tf\ntf.keras.Sequential([]).fit(x, epochs=1)", "keras"),
        ("import tensorflow as tf\nwith tf.GradientTape() as tape: pass", "tensorflow"),
        ("import jax\nf = jax.value_and_grad(loss)", "jax"),
        (
            "from stable_baselines3 import PPO\nPPO('MlpPolicy', env).learn(1000)",
            "stable_baselines3",
        ),
        ("import mxnet as mx\nnet = mx.gluon.nn.Dense(1)\nloss.backward()", "mxnet"),
        ("import torch\nfrom sklearn.metrics import f1_score", "pytorch"),
        ("from sklearn.linear_model import SGDClassifier\nSGDClassifier().fit(x, y)", "sklearn"),
    ],
)
def test_who_drives_the_loop(tmp_path, code, framework):
    assert said(tmp_path, code, readers=(frameworks,)) == {"framework": framework}


def test_the_import_and_the_call_are_the_evidence(tmp_path):
    code = "import torch\nfrom transformers import Trainer\ntrainer = Trainer(model=m)\n"
    (found,) = statements(tmp_path, code, readers=(frameworks,))
    assert [line.line for line in found.value.lines] == [2, 3]


def test_a_job_without_any_library_has_no_framework(tmp_path):
    assert said(tmp_path, "print('hello')", readers=(frameworks,)) == {}
