from settings import ACCUM, BATCH_SIZE, CKPT, LEARNING_RATE, MAX_STEPS
import torch

# not written yet
print(BATCH_SIZE, ACCUM, LEARNING_RATE, MAX_STEPS, CKPT, torch.cuda.device_count())
