"""vLLM: what its engine gets, from a job's code or from `vllm serve`."""

from __future__ import annotations

from schedmate.advisor.frameworks.contract import Framework, Sample
from schedmate.advisor.frameworks.doors import command_line, constructed
from schedmate.advisor.frameworks.rules import model_parallel, of_program, positional

FRAMEWORK = Framework(
    settings={
        "framework": of_program("vllm"),
        "task": of_program("inference"),
        "model": positional(1, "model"),
        "sequence_length": "max_model_len",
        "precision": "dtype",
        "parallelism": model_parallel("tensor_parallel_size", "pipeline_parallel_size"),
    },
    program=command_line(commands=("serve",)),
    calls=constructed(r"^(?:LLM|(?:Async)?EngineArgs)$", ("vllm",), first="model"),
    samples=(
        Sample(
            command="vllm serve Qwen/Qwen3-8B --max-model-len 8192 --tensor-parallel-size 2",
            claims={
                "framework": "vllm",
                "task": "inference",
                "model": "Qwen/Qwen3-8B",
                "sequence_length": 8192,
                "parallelism": "tp",
            },
        ),
        Sample(
            command="python generate.py",
            files={
                "generate.py": "from vllm import LLM\n"
                "llm = LLM('gpt2', dtype='auto', max_model_len=1024, tensor_parallel_size=1)\n",
            },
            claims={"model": "gpt2", "sequence_length": 1024},
        ),
    ),
)
