import pytest

from advisor.frameworks.interpreted import statements
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.model_names import model_name, telling_class


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-7b-hf"),
        ("gpt2", "gpt2"),
        ("resnet50", "resnet50"),
        ("/ckpts/llama-7b/checkpoint-500", "llama-7b"),
        ("/models/Qwen2.5-0.5B/", "Qwen2.5-0.5B"),
        ("./checkpoints/vicuna-13b", "vicuna-13b"),
        ("weights/yolov8n.pt", "yolov8n"),
        ("yolo11s.yaml", "yolo11s"),
        ("configs/retinanet_r50.py", "retinanet_r50"),
        ("DiT-XL/2", "DiT-XL/2"),
        ("llama-7b/checkpoint-500", "llama-7b"),
        ("MODEL.pth", None),
        ("out/epoch=12/last.ckpt", None),
        ("./model.pt", None),
        ("${MODEL}", None),
        ("", None),
        ("/", None),
    ],
)
def test_what_a_person_would_call_a_model(text, name):
    assert model_name(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("imagenet", "imagenet"),
        ("/data/ImageNet/train", "imagenet"),
        ("/datasets/ILSVRC2012", "imagenet"),
        ("imagenet2012:5.*.*", "imagenet"),
        ("HuggingFaceFW/fineweb", "HuggingFaceFW/fineweb"),
        ("wikitext-103", "wikitext-103"),
        ("data/shakespeare/input.txt", "shakespeare"),
        ("/scratch/user/cifar-10-batches-py", "cifar10"),
        ("CIFAR-100", "cifar100"),
        ("coco/annotations", "coco"),
        ("s3://bucket/openwebtext/train", "openwebtext"),
        ("/datasets01/imagenet_full_size/061417/", "imagenet_full_size"),
        ("train.csv", None),
        ("./data", None),
        ("$SLURM_TMPDIR", None),
        ("", None),
    ],
)
def test_what_a_person_would_call_the_data(text, name):
    assert dataset_name(text) == name


@pytest.mark.parametrize("name", ["GPT", "UNet", "ResNet18", "SimpleCNN", "TransformerLM"])
def test_classes_that_tell(name):
    assert telling_class(name)


@pytest.mark.parametrize("name", ["Net", "Model", "MyModel", "LitModel", "FocalLoss", "Encoder"])
def test_classes_that_do_not(name):
    assert not telling_class(name)


def test_a_class_of_the_job_gives_way_to_any_setting(tmp_path):
    code = """
        from torch import nn
        class Block(nn.Module): ...
        class GPT(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()
        model = GPT()
    """
    (found,) = statements(tmp_path, code, readers=(own_models,))
    assert found.value.data == "GPT"
    assert found.value.lines[0].line == 8
    assert not found.certain


def test_of_two_networks_the_one_that_is_called_model(tmp_path):
    code = """
        from torch import nn
        class Perceiver(nn.Module): ...
        class Vgg(nn.Module): ...
        perceptual = Vgg()
        model = Perceiver()
    """
    (found,) = statements(tmp_path, code, readers=(own_models,))
    assert found.value.data == "Perceiver"
