from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedmate.advisor.knowledge import facts_of


@pytest.mark.parametrize(
    ("name", "parameters", "layers", "width"),
    [
        ("gpt2", 124439808, 12, 768),
        ("openai-community/gpt2", 124439808, 12, 768),
        ("gpt2-xl", 1557611200, 48, 1600),
        ("meta-llama/Llama-2-7b-hf", 6738415616, 32, 4096),
        ("Llama-2-7b-chat-hf", 6738415616, 32, 4096),
        ("llama2_7b", 6738415616, 32, 4096),
        ("llama3_8b", 8030261248, 32, 4096),
        ("meta-llama/Meta-Llama-3-8B-Instruct", 8030261248, 32, 4096),
        ("meta-llama/Llama-3.2-1B", 1235814400, 16, 2048),
        ("unsloth/llama-3-8b-bnb-4bit", 8030261248, 32, 4096),
        ("Qwen/Qwen2.5-0.5B-Instruct", 494032768, 24, 896),
        ("Qwen/Qwen3-30B-A3B", 30532122624, 48, 2048),
        ("mistralai/Mistral-7B-v0.1", 7241732096, 32, 4096),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 46702792704, 32, 4096),
        ("EleutherAI/pythia-160m", 162322944, 12, 768),
        ("EleutherAI/pythia-1.4b-deduped", 1414647808, 24, 2048),
        ("google/gemma-2-2b-it", 2614341888, 26, 2304),
        ("facebook/opt-125m", 125239296, 12, 768),
        ("bert-base-uncased", 109482240, 12, 768),
        ("google-bert/bert-base-cased", 108310272, 12, 768),
        ("bert-base-uncased-finetuned-mrpc", 109482240, 12, 768),
        ("google/flan-t5-xxl", 11135332352, 24, 4096),
        ("google/vit-base-patch16-224-in21k", 86570000, 12, 768),
        ("vit_b_16", 86567656, 12, 768),
        ("DiT-XL/2", 675000000, 28, 1152),
        ("baffo32/decapoda-research-llama-7B-hf", 6738415616, 32, 4096),
        ("downloads/hubert-base-ls960-model", 94371712, 12, 768),
        ("transformer_iwslt_de_en", None, 6, 512),
    ],
)
def test_transformers_by_many_spellings(name, parameters, layers, width):
    facts = facts_of(name)
    assert facts is not None
    assert (facts.parameters, facts.n_layer, facts.d_model) == (parameters, layers, width)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("resnet50", 25557032),
        ("ResNet50", 25557032),
        ("microsoft/resnet-50", 25557032),
        ("resnet50.a1_in1k", 25557032),
        ("timm/resnet50d", 25580000),
        ("tf_efficientnet_b0", 5288548),
        ("EfficientNetB0", 5288548),
        ("MobileNetV2", 3504872),
        ("regnet_y_16gf", 83590140),
        ("regnet_y_1_6gf", 11202430),
        ("facebook/convnext-tiny-224", 28589128),
        ("yolov8n.pt", 3200000),
        ("yolo11s.yaml", 9400000),
        ("stabilityai/stable-diffusion-xl-base-1.0", 2567463684),
    ],
)
def test_of_other_networks_only_the_parameters_are_known(name, parameters):
    facts = facts_of(name)
    assert facts is not None
    assert facts.parameters == parameters
    assert facts.n_layer is None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("lmsys/vicuna-7b-v1.5", 7_000_000_000), ("cerebras/Cerebras-GPT-111M", 111_000_000)],
)
def test_a_size_in_the_name_of_a_language_model_is_its_size(name, parameters):
    facts = facts_of(name)
    assert facts is not None
    assert (facts.parameters, facts.n_layer) == (parameters, None)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "Net",
        "UNet",
        "GPT",
        "GPT2",
        "gpt2-tiny",
        "my-7b-thing",
        "llama-7b-to-13b",
        "-" * 99,
    ],
)
def test_a_name_that_says_too_little_says_nothing(name):
    assert facts_of(name) is None


@given(st.text(max_size=300))
def test_any_text_is_answered(name):
    facts_of(name)


def test_no_name_stands_in_the_tables_twice():
    for kind in ("language", "vision"):
        table = files("schedmate.advisor.knowledge") / f"{kind}_models.txt"
        lines = table.read_text().splitlines()[1:]
        names = [name for line in lines for name in line.split()[0].split(",")]
        assert len(names) == len(set(names))
        assert all(facts_of(name) for name in names)
