"""A training whose numbers stand at the top of the file."""

import sys

import numpy as np

N_EPOCHS = 12
BATCH_SIZE: int = 2**5
LEARNING_RATE = 1e-2
model = "mlp"
steps = 0

for word in sys.argv[1:]:
    if word.endswith(".py"):
        exec(open(word).read())  # noqa: PTH123, SIM115 - as people write it
    elif "=" in word:
        name, number = word.strip("-").upper().split("=")
        globals()[name] = int(number)

for _ in range(N_EPOCHS):
    steps += BATCH_SIZE
    weights = np.zeros(BATCH_SIZE) * LEARNING_RATE
