"""Accelerators by the names that schedulers and drivers give them; code by its lines."""

import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.predict.support import a_run
from schedmate.advisor.knowledge.accelerators import GpuFigures, accelerator, name_gpus
from schedmate.advisor.predict.runs import PLACE, columns_of, rows_of
from schedmate.advisor.understand.signature import SIZE, alike, signature
from schedmate.model import BadInput
from schedmate.model.sketch import packed, sketch_of_run


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("NVIDIA A100-SXM4-80GB (400W)", "a100 80gb"),
        ("NVIDIA A100-PCIe-40GB (250W)", "a100 pcie"),
        ("gpu:a100_80gb", "a100 80gb"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100-PCIe-80GB", "h100 pcie"),
        ("Intel(R) Gaudi(R) 2 AI Accelerator", "gaudi 2"),
        ("Habana Gaudi", "gaudi"),
        ("TPU-v5p", "tpu v5p"),
        ("rtx4090", "rtx 4090"),
        ("NVIDIA GeForce RTX 3090", "rtx 3090"),
        ("Tesla V100-SXM2-32GB", "v100 sxm 32gb"),
        ("AMD Instinct MI300X", "mi300x"),
        ("AMD Instinct MI350X VF", "mi350x"),
        ("AMD Instinct MI300A Accelerator", "mi300a"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "pro 6000"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "pro 6000"),
        ("rtxpro6000", "pro 6000"),
        ("rtx_pro_6000", "pro 6000"),
        ("NVIDIA RTX 6000 Ada Generation", "6000 ada"),
        ("Quadro RTX 6000", "quadro rtx 6000"),
        ("NVIDIA GeForce RTX 3080 Ti", "rtx 3080 ti"),
        ("NVIDIA GeForce RTX 3080", "rtx 3080"),
        ("NVIDIA GeForce GTX 1080 Ti", "gtx 1080 ti"),
        ("Tesla V100-PCIE-32GB", "v100 32gb"),
        ("Tesla V100-SXM2-16GB", "v100 sxm"),
        ("NVIDIA RTX A4000", "a4000"),
        ("Intel(R) Data Center GPU Max 1550", "max 1550"),
        ("NVIDIA Blackwell GPU (B200-SXM-180GB)", "b200"),
        ("NVIDIA GB200 NVL72 Blackwell Superchip, 186GB HBM3e, 1200W", "gb200"),
    ],
)
def test_an_accelerator_is_known_by_many_names(name, entry):
    assert accelerator(name).name == entry


@given(st.text(max_size=200))
def test_no_name_is_refused(name):
    accelerator(name)


def test_an_unknown_accelerator_has_no_entry():
    assert accelerator("quantum") is None


@pytest.fixture
def own_names():
    yield name_gpus
    name_gpus({})


def test_an_entry_states_where_its_figures_were_looked_up():
    assert accelerator("tpu-v7").source.startswith("Google Cloud documentation of TPU7x")
    assert accelerator("a800").source == "not checked against a document"


def test_figures_that_documents_correct():
    assert accelerator("titan rtx").half_tflops == 130, "not the half rate of a 2080 Ti"
    assert accelerator("gaudi3").half_tflops == 1677


@pytest.mark.parametrize("asked", ["fast", "FAST", "gpu:fast", "gres/gpu:fast"])
@pytest.mark.parametrize("stated", ["fast", "gpu:Fast"])
def test_a_site_names_its_gpus(own_names, stated, asked):
    assert accelerator(asked) is None
    own_names({stated: "H100-SXM5-80GB"})
    assert accelerator(asked).name == "h100"


def test_a_sites_name_comes_before_the_table(own_names):
    own_names({"a100": GpuFigures(77.0, bandwidth_gbs=500.0)})
    assert (accelerator("a100").half_tflops, accelerator("a100").linked) == (77.0, False)
    assert accelerator("NVIDIA A100-SXM4-80GB").half_tflops == 312


def test_a_run_on_a_gpu_of_a_sites_name_has_its_figures(own_names):
    own_names({"gold": "A100-SXM4-80GB"})
    run = a_run(1, 5, gpu_type="gold")
    found = columns_of(rows_of(packed(1, run, sketch_of_run(run))))
    other = a_run(1, 5, gpu_type="NVIDIA A100-SXM4-80GB")
    same = columns_of(rows_of(packed(1, other, sketch_of_run(other))))
    assert found.quantities[0, PLACE["flops"]] == same.quantities[0, PLACE["flops"]]
    assert found.gpus.tolist() == same.gpus.tolist()


def test_what_no_table_knows_is_refused_with_a_way_out(own_names):
    with pytest.raises(BadInput, match=r"setting gpus.fast: 'X9000' is no accelerator .*tflops"):
        own_names({"fast": "X9000"})


CODE = [f"x{n} = layer{n}(x{n - 1})" for n in range(300)]


def test_a_changed_line_leaves_code_near_and_other_code_is_far():
    changed = [*CODE[:100], "x100 = None", *CODE[101:]]
    other = [line.replace("layer", "block") for line in CODE]
    mine = signature(["\n".join(CODE)])
    assert len(mine) == SIZE
    assert alike(mine, signature(["\n".join(changed)])) > 0.9
    assert alike(mine, signature(["\n".join(other)])) < 0.1


def test_files_and_indentation_and_comments_do_not_matter():
    mine = signature(["\n".join(CODE)])
    halves = [
        "\n".join(f"    {line}" for line in CODE[150:]),
        "# hello\n\n" + "\n".join(CODE[:150]),
    ]
    assert signature(halves) == mine


def test_no_code_is_like_nothing():
    assert signature(["\n\n# only words\n"]) == ()
    assert alike((), ()) == 0.0


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_text_has_a_signature(texts):
    marks = signature(texts)
    assert len(marks) in (0, SIZE)
    assert alike(marks, marks) == (1.0 if marks else 0.0)


@pytest.mark.parametrize("count", [1, 300, 4096, 4097])
@pytest.mark.processes
def test_lines_have_the_same_signature_before_and_after_numpy_is_imported(count):
    lines = [f"line {number}" for number in range(count)]
    program = (
        "import sys; from schedmate.advisor.understand.signature import signature\n"
        "text = sys.stdin.read(); first = signature([text]); early = 'numpy' in sys.modules\n"
        "import numpy; print(early, first == signature([text]), first)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == f"{count > 4096} True {_by_numpy(lines)}"


def _by_numpy(lines):
    drawn = np.random.default_rng(20240607)
    factors, offsets = (drawn.integers(low, 1 << 32, SIZE, np.uint64) for low in (1, 0))
    hashes = np.array([zlib.crc32(line.encode()) for line in lines], np.uint64)
    mixed = (hashes[:, None] * factors + offsets) % np.uint64((1 << 61) - 1)
    return tuple((mixed & np.uint64(0xFFFFFFFF)).min(axis=0).tolist())
