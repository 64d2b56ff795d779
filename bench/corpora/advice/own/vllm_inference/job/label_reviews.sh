#!/bin/bash
#SBATCH --job-name=label
#SBATCH --nodes=1
#SBATCH --gres=gpu:a40:2
#SBATCH --time=04:00:00
IN=${1:?file}
export VLLM_WORKER_MULTIPROC_METHOD=spawn
uv run --no-sync python label.py "$IN" "${IN%.jsonl}.labelled.jsonl" --chunk 5000
