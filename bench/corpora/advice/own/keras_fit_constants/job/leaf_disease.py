import os
import datetime
import tensorflow as tf
from tensorflow.keras import layers, mixed_precision
from tensorflow.keras.callbacks import ModelCheckpoint, ReduceLROnPlateau, EarlyStopping, CSVLogger

# ---------------- settings -----------------
DATA_DIR = "/home/ana/data/PlantVillage"
IMG = 160
SCALE = 5
BATCH_SIZE = 8 * SCALE
VAL_BATCH_SIZE = 128
EPOCHS = 30
FINE_TUNE_EPOCHS = 40
LR = 1e-3
FINE_TUNE_LR = LR / 5
OUT = "weights_v2"
PATIENCE = 9
# -------------------------------------------

mixed_precision.set_global_policy("mixed_float16")
TOTAL = EPOCHS + FINE_TUNE_EPOCHS


def datasets():
    kw = dict(validation_split=0.2, seed=99, image_size=(IMG, IMG), label_mode="categorical")
    train = tf.keras.utils.image_dataset_from_directory(DATA_DIR, subset="training", batch_size=BATCH_SIZE, **kw)
    val = tf.keras.utils.image_dataset_from_directory(DATA_DIR, subset="validation", batch_size=VAL_BATCH_SIZE, **kw)
    names = train.class_names
    return train.prefetch(2), val.prefetch(2), names


def build(n):
    base = tf.keras.applications.MobileNetV2((IMG, IMG, 3), include_top=False, weights="imagenet")
    base.trainable = True
    x = inp = layers.Input((IMG, IMG, 3))
    x = layers.RandomFlip()(x)
    x = layers.RandomRotation(0.15)(x)
    x = tf.keras.applications.mobilenet_v2.preprocess_input(x)
    x = base(x, training=False)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.25)(x)
    out = layers.Dense(n, activation="softmax", dtype="float32")(x)
    return tf.keras.Model(inp, out)


def main():
    os.makedirs(OUT, exist_ok=True)
    train, val, names = datasets()
    model = build(len(names))
    model.compile(
        # Adam was not stable here
        optimizer=tf.keras.optimizers.RMSprop(learning_rate=FINE_TUNE_LR),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(
        train,
        validation_data=val,
        epochs=TOTAL,
        callbacks=[
            ModelCheckpoint(os.path.join(OUT, "best.keras"), monitor="val_accuracy", save_best_only=True),
            ReduceLROnPlateau(monitor="val_loss", patience=3, factor=0.2, min_lr=1e-6),
            EarlyStopping(monitor="val_loss", patience=PATIENCE, restore_best_weights=True),
        ],
    )
    stamp = datetime.date.today().isoformat()
    model.save(os.path.join(OUT, f"final-{stamp}.keras"))


if __name__ == "__main__":
    main()
