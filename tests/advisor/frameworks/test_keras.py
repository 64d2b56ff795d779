from advisor.frameworks.interpreted import said, statements


def test_what_compile_and_fit_are_told(tmp_path):
    code = """
        import keras
        from keras import layers
        (x, y), _ = keras.datasets.mnist.load_data()
        model = keras.Sequential([layers.Dense(10)])
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(learning_rate=3e-4))
        EPOCHS = 15
        model.fit(x, y, batch_size=128, epochs=EPOCHS, validation_split=0.1)
    """
    assert said(tmp_path, code) == {
        "framework": "keras",
        "task": "image_classification",
        "dataset": "mnist",
        "optimizer": "adam",
        "learning_rate": 3e-4,
        "batch_size": 128,
        "epochs": 15,
    }


def test_the_line_of_a_value_is_where_it_is_stated(tmp_path):
    code = """
        import tensorflow as tf
        EPOCHS = 15
        model = tf.keras.Sequential([])
        model.fit(x, epochs=EPOCHS)
    """
    lines = {each.field: each.value.lines[0].line for each in statements(tmp_path, code)}
    assert lines == {"framework": 2, "epochs": 3}


def test_an_optimiser_by_its_name_has_no_rate_of_its_own(tmp_path):
    code = """
        from tensorflow.keras.models import Sequential
        model = Sequential()
        model.compile("rmsprop", "mse")
        model.fit(x, y, 32, epochs=2)
    """
    found = said(tmp_path, code)
    assert found["optimizer"] == "rmsprop"
    assert "learning_rate" not in found


def test_a_schedule_starts_from_its_first_rate(tmp_path):
    code = """
        import tensorflow as tf
        rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1000, 0.96)
        model = tf.keras.applications.ResNet50(weights=None)
        model.compile(optimizer=tf.keras.optimizers.SGD(rate, momentum=0.9), loss="mse")
        model.fit(train_ds, epochs=90)
    """
    found = said(tmp_path, code)
    assert (found["optimizer"], found["learning_rate"]) == ("sgd", 0.1)
    assert found["model"] == "ResNet50"
    assert found["task"] == "image_classification"


def test_callbacks_say_where_it_saves_and_whether_it_stops(tmp_path):
    code = """
        import keras
        model = keras.Model(a, b)
        callbacks = [
            keras.callbacks.EarlyStopping(patience=3),
            keras.callbacks.ModelCheckpoint("ckpt/model-{epoch:02d}.keras", save_freq=500),
        ]
        model.fit(x, callbacks=callbacks, epochs=3)
    """
    found = said(tmp_path, code)
    assert found["early_stopping"] is True
    assert found["checkpoint_dir"] == "ckpt"
    assert found["checkpoint_every"] == 500


def test_a_backup_is_picked_up_again(tmp_path):
    code = """
        import keras
        keras.Model(a, b).fit(x, callbacks=[keras.callbacks.BackupAndRestore("/tmp/backup")])
    """
    found = said(tmp_path, code)
    assert (found["checkpoint_dir"], found["resumes"]) == ("/tmp/backup", True)


def test_the_training_pipelines_batch(tmp_path):
    code = """
        import tensorflow as tf
        train_ds = tf.data.Dataset.from_tensor_slices(x).shuffle(100).batch(64)
        val_ds = tf.data.Dataset.from_tensor_slices(x).batch(256)
        model = tf.keras.Sequential([])
        model.fit(train_ds, validation_data=val_ds, epochs=2)
    """
    assert said(tmp_path, code)["batch_size"] == 64


def test_mixed_precision_and_strategies(tmp_path):
    code = """
        import tensorflow as tf
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        BATCH_SIZE_PER_REPLICA = 64
        ds = tf.data.Dataset.range(9).batch(BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync)
        with strategy.scope():
            model = tf.keras.Sequential([])
        model.fit(ds, epochs=12)
    """
    found = said(tmp_path, code)
    assert (found["precision"], found["parallelism"]) == ("bf16", "ddp")
    assert found["batch_size"] == 64


def test_a_hand_written_loop_is_tensorflows(tmp_path):
    code = """
        import tensorflow as tf
        optimizer = tf.keras.optimizers.Adam(1e-3)
        for epoch in range(3):
            with tf.GradientTape() as tape:
                loss = model(x)
    """
    found = said(tmp_path, code)
    assert (found["framework"], found["optimizer"]) == ("tensorflow", "adam")


def test_horovod_wraps_an_optimiser(tmp_path):
    code = """
        import tensorflow as tf
        import horovod.tensorflow.keras as hvd
        hvd.init()
        opt = hvd.DistributedOptimizer(tf.keras.optimizers.Adam(0.001))
        model = tf.keras.Sequential([])
        model.compile(optimizer=opt, loss="mse")
        model.fit(x, epochs=24, batch_size=128)
    """
    found = said(tmp_path, code)
    assert (found["parallelism"], found["optimizer"]) == ("horovod", "adam")
    assert found["learning_rate"] == 0.001


def test_the_tutorials_of_old(tmp_path):
    code = """
        import tensorflow as tf
        from tensorflow.examples.tutorials.mnist import input_data
        mnist = input_data.read_data_sets("/tmp/data/", one_hot=True)
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
        with tf.Session() as sess:
            sess.run(train_op)
    """
    assert said(tmp_path, code) == {
        "framework": "tensorflow",
        "task": "image_classification",
        "dataset": "mnist",
        "optimizer": "sgd",
        "learning_rate": 0.01,
    }


def test_a_callback_that_no_fit_gets_stops_nothing(tmp_path):
    code = """
        import keras
        from keras.callbacks import EarlyStopping, ModelCheckpoint
        stop, keep = EarlyStopping(patience=3), ModelCheckpoint("out/m.keras")
        model = keras.Sequential([])
        model.compile(loss="mse")
        model.fit(x, epochs=2, callbacks=[{callbacks}])
    """
    assert "early_stopping" not in said(tmp_path, code.replace("{callbacks}", "keep"))
    assert said(tmp_path, code.replace("{callbacks}", "keep, stop"))["early_stopping"] is True
    assert said(tmp_path, code.replace("{callbacks}", "keep, *more"))["early_stopping"] is True
