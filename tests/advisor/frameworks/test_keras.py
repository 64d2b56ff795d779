from advisor.frameworks.interpreted import said, statements


def test_the_line_of_a_value_is_where_it_is_stated(tmp_path):
    code = """
        import tensorflow as tf
        EPOCHS = 15
        model = tf.keras.Sequential([])
        model.fit(x, epochs=EPOCHS)
    """
    lines = {each.field: each.value.lines[0].line for each in statements(tmp_path, code)}
    assert lines == {"framework": 2, "epochs": 3, "resumes": 5}


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
        "resumes": False,
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
