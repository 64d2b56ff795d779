#!/bin/bash
#SBATCH --gpus=1
#SBATCH --mem=24G --time=02:00:00
cd $SLURM_SUBMIT_DIR
uv sync --frozen
uv run tagger-train configs/ner-en.toml --set train.epochs=6
