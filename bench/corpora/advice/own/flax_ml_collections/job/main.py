import functools
import os

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
import tensorflow as tf
import tensorflow_datasets as tfds
from absl import app, flags, logging
from flax import jax_utils
from flax.training import checkpoints, train_state
from ml_collections import config_flags

FLAGS = flags.FLAGS
flags.DEFINE_string("workdir", None, "")
config_flags.DEFINE_config_file("config", "configs/wrn.py")


class Block(nn.Module):
    width: int
    stride: int = 1
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x, train):
        norm = functools.partial(nn.BatchNorm, use_running_average=not train, dtype=self.dtype)
        y = nn.relu(norm()(x))
        z = nn.Conv(self.width, (3, 3), (self.stride,) * 2, use_bias=False, dtype=self.dtype)(y)
        z = nn.Conv(self.width, (3, 3), use_bias=False, dtype=self.dtype)(nn.relu(norm()(z)))
        if x.shape != z.shape:
            x = nn.Conv(self.width, (1, 1), (self.stride,) * 2, use_bias=False, dtype=self.dtype)(y)
        return x + z


class WideResNet(nn.Module):
    depth: int = 28
    k: int = 10
    classes: int = 10
    dtype: jnp.dtype = jnp.float32

    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Conv(16, (3, 3), use_bias=False, dtype=self.dtype)(x)
        for i in range(3):
            for j in range((self.depth - 4) // 6):
                x = Block(16 * self.k * 2 ** i, 2 if i and not j else 1, self.dtype)(x, train)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x)).mean((1, 2))
        return nn.Dense(self.classes)(x)


MODELS = {"wrn28_10": WideResNet, "wrn16_4": functools.partial(WideResNet, 16, 4)}


class State(train_state.TrainState):
    stats: dict


def batches(name, split, batch, train):
    n = jax.local_device_count()
    ds = tfds.load(name, split=split, as_supervised=True)
    if train:
        ds = ds.repeat().shuffle(20_000)
    ds = ds.map(lambda x, y: (tf.cast(x, tf.float32) / 127.5 - 1, y)).batch(batch, drop_remainder=True)
    for x, y in tfds.as_numpy(ds):
        yield x.reshape(n, batch // n, *x.shape[1:]), y.reshape(n, -1)


@functools.partial(jax.pmap, axis_name="d")
def train_step(state, x, y):
    def loss_fn(p):
        logits, upd = state.apply_fn({"params": p, "batch_stats": state.stats}, x, mutable=["batch_stats"])
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), upd

    (loss, upd), g = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    g = jax.lax.pmean(g, "d")
    return state.apply_gradients(grads=g, stats=upd["batch_stats"]), loss


@jax.pmap
def eval_step(state, x, y):
    logits = state.apply_fn({"params": state.params, "batch_stats": state.stats}, x, train=False)
    return (logits.argmax(-1) == y).mean()


def main(_):
    cfg = FLAGS.config
    dtype = jnp.bfloat16 if cfg.half_precision else jnp.float32
    net = MODELS[cfg.model](dtype=dtype)
    var = net.init(jax.random.PRNGKey(0), jnp.zeros((1, 32, 32, 3)))
    lr = optax.warmup_cosine_decay_schedule(0.0, cfg.optim.lr, cfg.optim.warmup, cfg.steps)
    tx = optax.chain(
        optax.add_decayed_weights(cfg.optim.wd),
        optax.sgd(lr, momentum=cfg.optim.momentum, nesterov=True),
    )
    state = State.create(apply_fn=net.apply, params=var["params"], tx=tx, stats=var["batch_stats"])
    ckdir = os.path.join(FLAGS.workdir, "ckpt")
    state = checkpoints.restore_checkpoint(ckdir, state)
    first = int(state.step)
    state = jax_utils.replicate(state)

    train = batches(cfg.dataset, "train", cfg.batch_size, True)
    for step in range(first, cfg.steps):
        state, loss = train_step(state, *next(train))
        if (step + 1) % cfg.eval_every == 0:
            acc = [eval_step(state, *b).mean() for b in batches(cfg.dataset, "test", cfg.eval_batch_size, False)]
            logging.info("step %d loss %.4f acc %.4f", step + 1, loss.mean(), sum(acc) / len(acc))
        if (step + 1) % cfg.ckpt.every == 0:
            checkpoints.save_checkpoint(ckdir, jax_utils.unreplicate(state), step + 1, keep=cfg.ckpt.keep)


if __name__ == "__main__":
    app.run(main)
