"""Keras on its torch back-end and random numbers; the argument is fit's `verbose`."""

import os
import sys
import time

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

EPOCHS, STEPS, BATCH, STEP_S = 3, 16, 4, 0.19


class Slowly(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(STEP_S)


rng = np.random.default_rng(0)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
model.fit(
    rng.normal(size=(STEPS * BATCH, 8)),
    rng.normal(size=(STEPS * BATCH, 1)),
    epochs=EPOCHS,
    batch_size=BATCH,
    validation_data=(rng.normal(size=(8, 8)), rng.normal(size=(8, 1))),
    verbose=int(sys.argv[1]),
    callbacks=[Slowly()],
)
