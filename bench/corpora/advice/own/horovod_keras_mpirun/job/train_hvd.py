import argparse
import os

import horovod.tensorflow.keras as hvd
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow import keras

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=25)
ap.add_argument("--wd", type=float, default=0.0)
ap.add_argument("--fp32", action="store_true")
cli = ap.parse_args()

hvd.init()
gpus = tf.config.list_physical_devices("GPU")
if gpus:
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

if not cli.fp32:
    keras.mixed_precision.set_global_policy("mixed_float16")

B = int(os.environ.get("BATCH", 32))
LR = float(os.getenv("BASE_LR", "0.01")) * hvd.size()


def prep(train):
    split = "train[:80%]" if train else "train[80%:]"
    ds = tfds.load("eurosat/rgb", split=split, as_supervised=True)
    ds = ds.shard(hvd.size(), hvd.rank())
    if train:
        ds = ds.shuffle(10_000).repeat()
    ds = ds.map(lambda x, y: (tf.image.resize(tf.cast(x, tf.float32), (224, 224)), y), -1)
    return ds.batch(B if train else 100).prefetch(2)


train, val = prep(True), prep(False)
steps = int(27000 * 0.8) // (B * hvd.size())

base = keras.applications.EfficientNetB0(include_top=False, weights=None, pooling="avg")
out = keras.layers.Dense(10, activation="softmax", dtype="float32")(base.output)
model = keras.Model(base.input, out)

opt = keras.optimizers.SGD(LR, momentum=0.9)
opt = hvd.DistributedOptimizer(opt)
model.compile(opt, "sparse_categorical_crossentropy", metrics=["accuracy"], experimental_run_tf_function=False)

cbs = [
    hvd.callbacks.BroadcastGlobalVariablesCallback(0),
    hvd.callbacks.MetricAverageCallback(),
    hvd.callbacks.LearningRateWarmupCallback(initial_lr=LR, warmup_epochs=5, verbose=0),
    keras.callbacks.ReduceLROnPlateau(patience=4, factor=0.3),
    keras.callbacks.EarlyStopping("val_loss", patience=12),
]
if hvd.rank() == 0:
    cbs.append(keras.callbacks.ModelCheckpoint("./ckpt_hvd/e{epoch:02d}.h5"))

model.fit(
    train,
    steps_per_epoch=steps,
    validation_data=val,
    epochs=cli.epochs,
    callbacks=cbs,
    verbose=2 if hvd.rank() == 0 else 0,
)
