import pytest

from advisor.frameworks.families import by_calls
from advisor.frameworks.interpreted import statements

megatron = by_calls("megatron")


OPTIONS = (
    "--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 "
    "--micro-batch-size 1 --tensor-model-parallel-size 8"
)
CODE = """
    import argparse
    parser = argparse.ArgumentParser()
    for name in ("num-layers", "hidden-size", "num-attention-heads", "seq-length"):
        parser.add_argument("--" + name, type=int)
    parser.add_argument("--micro-batch-size", type=int)
    parser.add_argument("--tensor-model-parallel-size", type=int)
    parser.add_argument("--num-query-groups", type=int)
    parser.add_argument("--ffn-hidden-size", type=int)
    parser.add_argument("--vocab-size", type=int)
    parser.add_argument("--swiglu", action="store_true")
    args = parser.parse_args()
"""


def told(directory, *arguments, entry):
    found = statements(directory, CODE, *arguments, entry=entry, readers=(megatron,))
    return {each.field: each.value.data for each in found}


def test_the_program_names_the_model_and_its_size_follows(tmp_path):
    found = told(tmp_path, *OPTIONS.split(), entry="pretrain_gpt.py")
    assert found["model"] == "GPT"
    assert found["model_parameters"] == pytest.approx(175e9, rel=0.01)


def test_gates_groups_and_words_are_counted(tmp_path):
    llama = (
        "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --num-query-groups 8 "
        "--ffn-hidden-size 14336 --swiglu --vocab-size 128256 --seq-length 8 --micro-batch-size 1"
    )
    found = told(
        tmp_path, *llama.split(), "--tensor-model-parallel-size", "1", entry="pretrain_gpt.py"
    )
    assert found["model_parameters"] == pytest.approx(7.5e9, rel=0.02)


def test_a_small_model_of_unknown_words_is_not_counted(tmp_path):
    small = OPTIONS.split()
    small[1], small[3] = "12", "768"
    assert "model_parameters" not in told(tmp_path, *small, entry="pretrain_gpt.py")


def test_other_programs_name_none(tmp_path):
    assert "model" not in told(tmp_path, *OPTIONS.split(), entry="train_tokenizer.py")
