#!/bin/bash
#SBATCH --gres=gpu:1
#SBATCH -c 6
#SBATCH --mem=32G
#SBATCH -o lora-%j.out
source venv/bin/activate
python lora_cls.py train --task=rte --rank 16 --lr=4e-4 --epochs=30 --bf16
# python lora_cls.py test --task=rte --adapter adapters/rte-r16 --batch_size 128
