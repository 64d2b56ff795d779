import pytest

from advisor.frameworks.interpreted import statements
from schedmate.advisor.frameworks.own_models import own_models
from schedmate.advisor.frameworks.torch_models import models
from schedmate.advisor.settle.model_names import model_name


def named(directory, code, *arguments, entry="train.py"):
    found = statements(directory, code, *arguments, entry=entry, readers=(own_models,))
    return [(each.value.data, [line.line for line in each.value.lines]) for each in found]


def test_parts_of_a_network_are_not_the_model(tmp_path):
    code = """
        from torch import nn
        class Backbone(nn.Module): ...
        class Matcher(nn.Module): ...
        class DETR(nn.Module):
            def __init__(self, backbone, matcher):
                self.backbone, self.matcher, self.inner = backbone, matcher, Backbone()
        def build():
            return DETR(Backbone(), matcher=Matcher())
        model = build()
    """
    assert named(tmp_path, code) == [("DETR", [9, 5])]


def test_where_only_a_backbone_is_set_the_network_around_it_is_the_model(tmp_path):
    code = """
        import argparse
        from torch import nn
        parser = argparse.ArgumentParser()
        parser.add_argument("--backbone", default="resnet50")
        args = parser.parse_args()
        class DETR(nn.Module): ...
        model = DETR()
    """
    (found,) = statements(tmp_path, code, readers=(own_models,))
    assert (found.value.data, found.certain) == ("DETR", True)


def test_a_network_that_nobody_keeps(tmp_path):
    code = """
        import flax.linen as nn
        class TransformerLM(nn.Module):
            width: int = 8
        logits = TransformerLM(width=4).apply(p, x)
    """
    assert named(tmp_path, code) == [("TransformerLM", [5, 3])]


def test_what_lightning_holds_is_what_a_person_means(tmp_path):
    code = """
        import lightning as L
        from torch import nn
        class DenseNet(nn.Module): ...
        class MnistModule(L.LightningModule):
            def __init__(self):
                self.net = DenseNet()
        model = MnistModule()
    """
    assert [name for name, _ in named(tmp_path, code)] == ["DenseNet"]


def test_a_class_whose_code_is_elsewhere(tmp_path):
    code = """
        import torch
        from models.tdnn import multi_TDNN
        from torch.nn.parallel import DistributedDataParallel
        nnet = multi_TDNN(scale=2)
        model = DistributedDataParallel(nnet)
    """
    assert named(tmp_path, code) == [("multi_TDNN", [5, 3])]


def test_a_model_of_layers_is_called_after_the_function_that_makes_it(tmp_path):
    code = """
        from tensorflow import keras
        def build_multi_unet_model(n):
            return keras.Model(keras.Input(n), keras.layers.Dense(1))
        model = build_multi_unet_model(4)
        model.fit(x, y)
    """
    assert named(tmp_path, code) == [("multi_unet", [3, 4])]


@pytest.mark.parametrize(("entry", "name"), [("dcgan/main.py", "dcgan"), ("main.py", "Generator")])
def test_plain_networks_are_called_after_the_file_or_its_folder(tmp_path, entry, name):
    code = """
        from torch import nn
        class Generator(nn.Module): ...
        class Discriminator(nn.Module): ...
        netG = Generator()
        netD = Discriminator()
    """
    assert [found for found, _ in named(tmp_path, code, entry=entry)] == [name]


def test_losses_are_no_models(tmp_path):
    code = """
        from torch import nn
        class FocalLoss(nn.Module): ...
        criterion = FocalLoss()
    """
    assert named(tmp_path, code) == []


def test_a_denoiser_made_on_the_spot(tmp_path):
    code = """
        from diffusers import AutoencoderKL, UNet2DModel
        vae = AutoencoderKL()
        model = UNet2DModel(sample_size=64)
    """
    (found,) = statements(tmp_path, code, readers=(models,))
    assert found.value.data == "UNet2DModel"


LAYERS = """
from tensorflow import keras
from tensorflow.keras import layers
"""


@pytest.mark.parametrize(
    ("code", "entry", "name"),
    [
        ("m = keras.Sequential([layers.Conv2D(8, 3), layers.Dense(10)])", "train.py", ["CNN"]),
        ("m = keras.Sequential([layers.LSTM(64)])", "train.py", ["LSTM"]),
        ("m = keras.Sequential([layers.Dense(1)])", "train.py", []),
        ("x = layers.Conv2D(8, 3)(i)\nm = keras.Model(i, x)", "train.py", []),
        ("x = layers.Dense(8)(i)\nm = keras.Model(i, x)", "miniature_gpt.py", ["gpt"]),
    ],
)
def test_layers_that_nobody_names(tmp_path, code, entry, name):
    assert [found for found, _ in named(tmp_path, LAYERS + code, entry=entry)] == name


def test_a_plain_class_is_better_than_nothing(tmp_path):
    code = "from torch import nn\nclass Net(nn.Module): ...\nmodel = Net()\n"
    assert named(tmp_path, code) == [("Net", [3, 2])]
    assert model_name("Net") == "Net"
    assert model_name("net") is None


def test_a_network_off_the_shelf_that_compares_pictures_is_not_the_model(tmp_path):
    code = """
        from torch import nn
        from torchvision.models import vgg19
        class Compare(nn.Module):
            def __init__(self):
                self.net = vgg19(pretrained=True)
        class GeneratorRRDB(nn.Module): ...
        class Discriminator(nn.Module): ...
        generator, discriminator, compare = GeneratorRRDB(), Discriminator(), Compare()
    """
    assert statements(tmp_path, code, readers=(models,)) == []
    assert [name for name, _ in named(tmp_path, code, entry="esrgan.py")] == ["esrgan"]
    assert [name for name, _ in named(tmp_path, code)] == ["GeneratorRRDB"]


def test_a_layer_off_the_shelf_inside_a_network_of_the_job_is_no_model(tmp_path):
    code = """
    import torch.nn as nn
    from mamba_ssm import Mamba
    class SlimSegNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.mixer = Mamba(d_model=64)
    model = SlimSegNet()
    """
    assert statements(tmp_path, code, readers=(models,)) == []
    assert [name for name, _ in named(tmp_path, code)] == ["SlimSegNet"]


def test_what_a_network_is_built_around_is_as_near_as_it(tmp_path):
    (tmp_path / "nets.py").write_text(
        "import torch.nn as nn\nfrom transformers import BertModel\n"
        "class DropoutBERT(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.bert = BertModel.from_pretrained('bert-base-uncased')\n"
    )
    code = "from nets import DropoutBERT\nmodel = DropoutBERT()\n"
    (found,) = statements(tmp_path, code, readers=(models,))
    assert (found.value.data, found.depth) == ("bert-base-uncased", 0)


def test_a_temperature_is_no_model(tmp_path):
    code = """
    import flax.linen as nn
    class Temperature(nn.Module):
        start: float = 1.0
    class DoubleCritic(nn.Module):
        width: int = 256
    temperature = Temperature()
    critic = DoubleCritic()
    """
    assert named(tmp_path, code) == []


def test_what_a_network_keeps_is_a_part_whoever_made_it_and_what_nobody_calls_is_none(tmp_path):
    code = """
    import torch.nn as nn
    class VisionTransformer(nn.Module):
        def __init__(self):
            super().__init__()
    def create_vit():
        return VisionTransformer(), 768
    class Captions_Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.eye, width = create_vit()
    class Captions_Base(nn.Module):
        def __init__(self):
            super().__init__()
    def features():
        model = Captions_Base()
        return model
    def decoder():
        model = Captions_Decoder()
        return model
    model = decoder()
    """
    assert [name for name, _ in named(tmp_path, code)] == ["Captions_Decoder"]


def test_a_part_of_one_of_many_networks_is_not_surely_the_model(tmp_path):
    (tmp_path / "zoo.py").write_text(
        "import timm\nimport torch.nn as nn\n"
        "class CaraNet(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = timm.create_model('res2net101_26w_4s')\n"
        "class SNet(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "nets = dict(CaraNet=CaraNet(), SNet=SNet())\n"
    )
    code = "from zoo import nets\nmodel = nets['SNet']\n"
    (found,) = statements(tmp_path, code, readers=(models,))
    assert not found.certain


def test_a_function_that_prepares_a_network_is_called_after_it(tmp_path):
    code = """
    from tensorflow import keras
    def prepare_resnet(shape):
        return keras.Model(inputs=1, outputs=2)
    model = prepare_resnet((1, 2))
    """
    assert [name for name, _ in named(tmp_path, code)] == ["resnet"]
