"""Paths of which no part names a model or a dataset."""

import pytest

from schedmate.advisor.settle.dataset_names import dataset_name
from schedmate.advisor.settle.model_names import model_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/path/to/data", "/path/to/data"),
        ("path/to/your/dataset", "path/to/your/dataset"),
        ("/path/to/imagenet", "imagenet"),
        ("/fs/scratch/PRJ1234/someone/training_data.h5",) * 2,
        ("/home/someone/data", None),
        ("/home/someone/shakespeare/train.txt", "shakespeare"),
        ("/scratch/cars/train.csv", "cars"),
    ],
)
def test_a_dataset_is_not_called_after_a_placeholder_or_a_person(path, name):
    assert dataset_name(path) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/path/to/model", "/path/to/model"),
        ("/path/to/llama-7b", "llama-7b"),
        ("<your-model-path>", "<your-model-path>"),
        ("./model.pt", None),
    ],
)
def test_a_model_is_not_called_after_a_placeholder(path, name):
    assert model_name(path) == name
