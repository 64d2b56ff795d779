import pytest

from advisor.frameworks.interpreted import said
from schedmate.advisor.frameworks.environments import environments


def dataset(directory, code, *arguments):
    return said(directory, code, *arguments, readers=(environments,)).get("dataset")


OPTION = """
import argparse
{imports}
parser = argparse.ArgumentParser()
parser.add_argument("--env-id", default="Hopper-v4")
args = parser.parse_args()
"""


@pytest.mark.parametrize("library", ["gym", "gymnasium"])
def test_an_environment_is_what_it_learns_from(tmp_path, library):
    code = OPTION.format(imports=f"import {library}") + f"env = {library}.make(args.env_id)\n"
    assert dataset(tmp_path, code) == "Hopper-v4"
    assert dataset(tmp_path, code, "--env-id", "ALE/Pong-v5") == "ALE/Pong-v5"


def test_an_option_names_it_where_a_function_elsewhere_makes_it(tmp_path):
    code = OPTION.format(imports="import gymnasium\nfrom somewhere import make_env")
    assert dataset(tmp_path, code + "env = make_env(args.env_id)\n") == "Hopper-v4"


def test_without_games_such_an_option_is_another_environment(tmp_path):
    assert dataset(tmp_path, OPTION.format(imports="import torch")) is None
