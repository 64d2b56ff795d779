# sourced by every job of the project
module load python/3.10 cuda/12.2
export HF_DATASETS_CACHE=/scratch/hf/datasets
export TOKENIZERS_PARALLELISM=false
export NPROC=4
export CONF_DIR=conf
EPOCHS=30
LEARNING_RATE=5e-4
