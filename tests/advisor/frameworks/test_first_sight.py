"""Shapes of jobs that were met once and are common: models, data, batches, places, purposes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.frameworks.families import OTHER_FAMILIES, PYTORCH_FAMILY
from advisor.frameworks.interpreted import said


@pytest.fixture
def told(tmp_path: Path) -> Any:
    def tell(code: str, field: str) -> Any:
        return said(tmp_path, code, readers=(*PYTORCH_FAMILY, *OTHER_FAMILIES)).get(field)

    return tell


def test_a_model_for_generation_is_no_generation_config(told):
    code = """
        from transformers import MBartForConditionalGeneration
        model = MBartForConditionalGeneration.from_pretrained("facebook/mbart-large-50")
    """
    assert told(code, "model") == "facebook/mbart-large-50"


def test_a_frozen_part_is_not_the_model(told):
    code = """
        import torch
        from torch import nn

        class ActionModel(nn.Module):
            def __init__(self):
                super().__init__()
                self.eyes = torch.hub.load("facebookresearch/dinov2", "dinov2_vitb14")
                self.eyes.requires_grad_(False)

        model = ActionModel()
    """
    assert told(code, "model") == "ActionModel"


def test_a_class_on_top_of_a_library_s_is_a_network(told):
    code = """
        from transformers import BertPreTrainedModel

        class KnowledgeBertForSequenceClassification(BertPreTrainedModel):
            def __init__(self, config):
                super().__init__(config)

        model = KnowledgeBertForSequenceClassification(None)
    """
    assert told(code, "model") == "KnowledgeBertForSequenceClassification"
    assert told(code, "task") == "sequence_classification"


OWN_DATA = """
        import torch
        from torch.utils.data import DataLoader, Dataset

        class {name}(Dataset):
            def __init__(self, {parameters}):
                pass

        data = {name}({arguments})
        loader = DataLoader(data, batch_size=1, shuffle=True)
"""


@pytest.mark.parametrize(
    ("name", "argument", "dataset"),
    [
        ("MINDDataset", "'data/behaviors'", "MIND"),
        ("PairDataset", "'./data/multi30k/data/task1/raw'", "multi30k"),
        ("PairDataset", "{'gt_path': ['data/LSDIR/'], 'size': 512}", "LSDIR"),
        ("GalaxyMaskDataset", "3", "GalaxyMaskDataset"),
    ],
)
def test_data_by_class_path_and_config(told, name, argument, dataset):
    code = OWN_DATA.format(name=name, parameters="source", arguments=argument)
    assert told(code, "dataset") == dataset


def test_items_that_are_batches_already(told):
    code = OWN_DATA.format(name="CropDataset", parameters="batch_size", arguments="batch_size=32")
    assert told(code, "batch_size") == 32


def test_data_for_an_evaluation_are_not_what_it_learns_from(told):
    code = """
        from datasets import load_dataset
        probe = load_dataset("someone/probes", "negation")["test"]
        data = load_dataset("text", data_files="./data/processed/filtered_news/data.txt")
    """
    assert told(code, "dataset") == "filtered_news"


SAVES = """
        import torch
        net = torch.nn.Linear(1, 1)
        torch.save(net.state_dict(), "start/first.pt")
        best = 0.0
        for epoch in range(3):
            score = measure(net)
            if score > best:
                torch.save(net.state_dict(), "out/best")
        torch.save({"scores": 1}, "figures/last.pt")
"""


def test_the_place_of_the_saves_while_it_trains(told):
    assert told(SAVES, "checkpoint_dir") == "out"


def test_a_tokenizer_is_fitted_not_trained(tmp_path: Path) -> None:
    code = """
        from tokenizers import Tokenizer
        from tokenizers.models import BPE
        from tokenizers.trainers import BpeTrainer
        tokenizer = Tokenizer(BPE())
        tokenizer.train(["a.txt"], BpeTrainer(vocab_size=4096))
    """
    found = said(tmp_path, code, readers=OTHER_FAMILIES, entry="tokenize_corpus.py")
    assert found["task"] == "preprocessing"


@pytest.mark.parametrize(
    ("loss", "task"),
    [("CrossEntropyLoss", "image_classification"), ("SmoothL1Loss", "other")],
)
def test_what_a_network_for_pictures_learns_says_what_it_is_for(told, loss, task):
    code = f"""
        import torch
        from torchvision import models
        net = models.alexnet()
        criterion = torch.nn.{loss}()
    """
    assert told(code, "task") == task


def test_the_generator_s_optimiser_is_the_one_of_two_networks(told):
    code = """
        from torch import nn, optim

        class ConvGenerator(nn.Module):
            def __init__(self):
                super().__init__()
                self.optim = optim.Adam(self.parameters(), lr=0.1)

        class Discriminator(nn.Module):
            def __init__(self):
                super().__init__()
                self.optim = optim.SGD(self.parameters(), lr=0.2)

        made, judged = ConvGenerator(), Discriminator()
    """
    assert str(told(code, "optimizer")).endswith("Adam")
