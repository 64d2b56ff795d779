#!/bin/bash
#SBATCH -A k1234
#SBATCH -N 4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --exclusive
#SBATCH -t 2-00:00:00

scontrol show hostnames $SLURM_JOB_NODELIST | awk '{print $1" slots=8"}' > hostfile.$SLURM_JOB_ID

deepspeed --hostfile hostfile.$SLURM_JOB_ID --master_port 29600 pretrain/run.py \
  --deepspeed --deepspeed_config pretrain/ds_large.json \
  --shards /lustre/data/pubmed_mlm \
  --save /lustre/ckpt/pubmedbert \
  --steps 25000 \
  --large
