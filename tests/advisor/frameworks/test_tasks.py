import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.tasks import tasks

TRAINS = "\nimport torch\ntorch.optim.SGD(p, lr=0.1)\nloss.backward()\n"


def task(directory, code, *arguments, entry="train.py"):
    found = said(directory, code, *arguments, entry=entry, readers=(tasks,))
    return found.get("task")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "from transformers import AutoModelForCausalLM as M\nm = M.from_pretrained('gpt2')",
            "language_modeling",
        ),
        (
            (
                "from transformers import AutoModelForSequenceClassification as M\n"
                "m = M.from_pretrained('bert-base-uncased')"
            ),
            "sequence_classification",
        ),
        (
            (
                "from transformers import WhisperForConditionalGeneration as M\n"
                "m = M.from_pretrained('openai/whisper-small')"
            ),
            "speech",
        ),
        (
            (
                "from transformers import AutoModelForSeq2SeqLM as M\n"
                "from datasets import load_dataset\n"
                "m = M.from_pretrained('t5-small')\nd = load_dataset('wmt16', 'ro-en')"
            ),
            "translation",
        ),
        (
            "from torchvision import datasets\nd = datasets.CIFAR10('data')",
            "image_classification",
        ),
        (
            "import torchvision\nm = torchvision.models.detection.fasterrcnn_resnet50_fpn()",
            "object_detection",
        ),
        ("import torchvision\nm = torchvision.models.resnet50()", "image_classification"),
        ("import gymnasium as gym\nenv = gym.make('CartPole-v1')", "reinforcement_learning"),
        ("from torch_geometric.datasets import Planetoid\nd = Planetoid('d', 'Cora')", "graph"),
        (
            (
                "from torch import nn\nfrom torchvision import datasets\nd = datasets.MNIST('d')\n"
                "class Generator(nn.Module): ...\nclass Discriminator(nn.Module): ...\n"
                "g, d = Generator(), Discriminator()"
            ),
            "gan",
        ),
        (
            "from diffusers import DDPMScheduler\nnoise = DDPMScheduler(num_train_timesteps=1000)",
            "diffusion",
        ),
        ("from torch import nn\nclass UNet(nn.Module): ...\nmodel = UNet()", "segmentation"),
    ],
)
def test_what_the_code_uses_tells(tmp_path, code, expected):
    assert task(tmp_path, code + TRAINS) == expected


def test_an_option_that_is_called_task_is_believed(tmp_path):
    code = (
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--task')\n"
        "p.add_argument('--dataset', default='cifar10')\nargs = p.parse_args()" + TRAINS
    )
    assert task(tmp_path, code, "--task", "translation_en_to_de") == "translation"
    assert task(tmp_path, code) == "image_classification"


def test_two_texts_without_a_hint_may_be_either(tmp_path):
    code = (
        "from transformers import AutoModelForSeq2SeqLM as M\nm = M.from_pretrained('t5-small')"
        + TRAINS
    )
    assert task(tmp_path, code) is None
    assert task(tmp_path, code, entry="run_summarization.py") == "summarization"


def test_a_flag_that_keeps_it_from_training(tmp_path):
    code = (
        "import argparse\nfrom torchvision import datasets\np = argparse.ArgumentParser()\n"
        "p.add_argument('--evaluate', action='store_true')\nargs = p.parse_args()\n"
        "d = datasets.CIFAR10('data')" + TRAINS
    )
    assert task(tmp_path, code, "--evaluate") == "evaluation"
    assert task(tmp_path, code) == "image_classification"


def test_a_script_that_trains_nothing_is_what_its_name_says(tmp_path):
    code = "import torch\nfrom torchvision import datasets\nd = datasets.CIFAR10('data')\n"
    assert task(tmp_path, code, entry="evaluate.py") == "evaluation"
    assert task(tmp_path, code, entry="tools/prepare_data.py") == "preprocessing"
    assert task(tmp_path, code + TRAINS, entry="test.py") == "image_classification"


def test_what_an_autoencoder_learns_its_data_do_not_tell(tmp_path):
    code = (
        "from torch import nn\nfrom torchvision import datasets\nd = datasets.MNIST('d')\n"
        "class VAE(nn.Module): ...\nmodel = VAE()" + TRAINS
    )
    assert task(tmp_path, code) is None


def test_nothing_is_said_of_nothing(tmp_path):
    assert task(tmp_path, "print('hello')") is None


def test_a_classifier_may_be_a_part_of_what_the_file_is_named_after(tmp_path):
    code = "import keras\nbase = keras.applications.ResNet50()\nkeras.Model(a, b).fit(x, epochs=1)"
    assert task(tmp_path, code, entry="train.py") == "image_classification"
    assert task(tmp_path, code, entry="deeplabv3_plus.py") == "segmentation"


def test_a_library_for_games_is_believed_before_any_autoencoder(tmp_path):
    code = "import gymnasium\nfrom torch import nn\nclass VAE(nn.Module): ...\nm = VAE()" + TRAINS
    assert task(tmp_path, code) == "reinforcement_learning"


def test_a_script_that_is_told_only_to_evaluate(tmp_path):
    code = (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--do_train', action='store_true')\n"
        "p.add_argument('--do_eval', action='store_true')\nargs = p.parse_args()\n"
        "from transformers import AutoModelForCausalLM as M\nm = M.from_pretrained('gpt2')"
    ) + TRAINS
    assert task(tmp_path, code, "--do_eval") == "evaluation"
    assert task(tmp_path, code, "--do_train", "--do_eval") == "language_modeling"


def test_boxes_or_masks_of_the_same_pictures(tmp_path):
    code = "from torchvision.datasets import CocoDetection\nd = CocoDetection('coco', 'a.json')"
    assert task(tmp_path, code + TRAINS) == "object_detection"
    assert task(tmp_path, code + TRAINS, entry="segmentation/train.py") == "segmentation"


def test_a_layer_that_is_called_after_diffusion_makes_no_diffusion_model(tmp_path):
    code = """
    import torch.nn as nn
    import monai
    class LocalDiffusion(nn.Module):
        def __init__(self):
            super().__init__()
    class SlimSegNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.local = LocalDiffusion()
    model = SlimSegNet()
    """
    assert said(tmp_path, code)["task"] == "segmentation"
