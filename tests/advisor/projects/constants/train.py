"""A training whose numbers stand at the top of the file."""

import numpy as np

N_EPOCHS = 12
BATCH_SIZE: int = 2**5
LEARNING_RATE = 1e-2
model = "mlp"
steps = 0

for _ in range(N_EPOCHS):
    steps += BATCH_SIZE
    weights = np.zeros(BATCH_SIZE) * LEARNING_RATE
