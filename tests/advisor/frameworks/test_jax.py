from advisor.frameworks.interpreted import said


def test_optax_and_flax(tmp_path):
    code = """
        import jax, optax, flax
        import tensorflow_datasets as tfds
        from flax.training import train_state
        ds = tfds.load("imagenet2012:5.*.*", split="train")
        schedule = optax.warmup_cosine_decay_schedule(
            init_value=0.0, peak_value=3e-4, warmup_steps=10, decay_steps=100
        )
        tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.1))
        state = train_state.TrainState.create(apply_fn=None, params=None, tx=tx)
        step = jax.pmap(train_step, axis_name="batch")
    """
    assert said(tmp_path, code) == {
        "framework": "flax",
        "task": "image_classification",
        "dataset": "imagenet",
        "optimizer": "adamw",
        "learning_rate": 3e-4,
        "parallelism": "dp",
    }


def test_schedules_that_are_joined_have_the_highest_peak(tmp_path):
    code = """
        import optax
        warm = optax.linear_schedule(init_value=0.0, end_value=0.1, transition_steps=5)
        decay = optax.cosine_decay_schedule(init_value=0.1, decay_steps=95)
        tx = optax.sgd(optax.join_schedules([warm, decay], [5]), momentum=0.9)
    """
    found = said(tmp_path, code)
    assert (found["optimizer"], found["learning_rate"]) == ("sgd", 0.1)
    assert found["framework"] == "jax"


def test_a_mesh_of_one_axis_is_told_and_of_two_is_not(tmp_path):
    one = "from jax.sharding import Mesh\nmesh = Mesh(devices, ('data',))"
    two = "from jax.sharding import Mesh\nmesh = Mesh(devices, ('data', 'model'))"
    assert said(tmp_path, one)["parallelism"] == "dp"
    assert "parallelism" not in said(tmp_path, two)


def test_checkpoints_of_orbax_and_flax(tmp_path):
    orbax = """
        import orbax.checkpoint as ocp
        options = ocp.CheckpointManagerOptions(save_interval_steps=500, max_to_keep=2)
        manager = ocp.CheckpointManager("/ckpt/run", options=options)
    """
    found = said(tmp_path, orbax)
    assert (found["checkpoint_dir"], found["checkpoint_every"]) == ("/ckpt/run", 500)
    flax = """
        from flax.training import checkpoints
        state = checkpoints.restore_checkpoint("work", state)
        checkpoints.save_checkpoint("work", state, step)
    """
    found = said(tmp_path, flax)
    assert (found["checkpoint_dir"], found["resumes"]) == ("work", True)
