#!/bin/bash
#SBATCH -p gpu
#SBATCH --nodes=1
#SBATCH --gres=gpu:h100:4
#SBATCH --cpus-per-task=32
# first argument: which preset
case "${1:-gpt2}" in
  gpt2)
    MODEL=gpt2
    EXTRA="--lr 5e-5 --block_size 512"
    ;;
  opt)
    MODEL=facebook/opt-1.3b
    EXTRA="--lr 2e-5 --block_size 1024"
    ;;
  *)
    echo "unknown preset $1" >&2; exit 2 ;;
esac

# --mixed_precision fp16 had overflows
accelerate launch --config_file acc/fsdp.yaml clm_no_trainer.py \
  --model $MODEL $EXTRA \
  --max_train_steps 3000 --checkpointing_steps 250 \
  --output_dir /work/ckpts/opt-wt103 2>&1 | tee -a clm.log
