import os
import time

import tensorflow as tf
import tensorflow_datasets as tfds
from absl import app, flags, logging

import model as m

flags.DEFINE_string("dataset", "wmt14_translate/de-en", "tfds name")
flags.DEFINE_string("workdir", None, "for checkpoints and summaries")
flags.DEFINE_integer("batch_size", 64, "sentences per step")
flags.DEFINE_integer("eval_batch_size", 32, "")
flags.DEFINE_integer("train_steps", 100_000, "")
flags.DEFINE_integer("save_every", 1500, "steps")
flags.DEFINE_integer("max_len", 64, "longer ones are thrown away")
flags.DEFINE_integer("vocab", 2 ** 13, "subwords")
flags.DEFINE_integer("d_model", 512, "")
flags.DEFINE_integer("num_layers", 6, "")
flags.DEFINE_integer("num_heads", 8, "")
flags.DEFINE_integer("warmup", 4000, "")
flags.DEFINE_float("learning_rate", 1e-3, "peak")
flags.DEFINE_float("dropout", 0.1, "")
flags.DEFINE_bool("eager", True, "no tf.function, for debugging")
flags.mark_flag_as_required("workdir")
FLAGS = flags.FLAGS


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, steps):
        self.peak, self.steps = peak, float(steps)

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        return self.peak * tf.minimum(s / self.steps, tf.sqrt(self.steps / tf.maximum(s, 1.0)))


def pipeline(split, tok, batch):
    ds = tfds.load(FLAGS.dataset, split=split, as_supervised=True)

    def enc(a, b):
        return tok[0](a), tok[1](b)

    ds = ds.map(enc, tf.data.AUTOTUNE)
    ds = ds.filter(lambda a, b: tf.maximum(tf.size(a), tf.size(b)) <= FLAGS.max_len)
    if split == "train":
        ds = ds.cache().shuffle(20_000).repeat()
    return ds.padded_batch(batch, padded_shapes=([FLAGS.max_len], [FLAGS.max_len])).prefetch(4)


def main(_):
    tok = m.load_tokenizers(FLAGS.dataset, FLAGS.vocab)
    train = pipeline("train", tok, FLAGS.batch_size)
    valid = pipeline("validation", tok, FLAGS.eval_batch_size)

    net = m.Transformer(
        layers=FLAGS.num_layers, width=FLAGS.d_model, heads=FLAGS.num_heads,
        vocab=FLAGS.vocab, dropout=FLAGS.dropout,
    )
    opt = tf.keras.optimizers.Adam(Warmup(FLAGS.learning_rate, FLAGS.warmup), beta_2=0.98, epsilon=1e-9)
    xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    step = tf.Variable(0, dtype=tf.int64)
    ckpt = tf.train.Checkpoint(net=net, opt=opt, step=step)
    manager = tf.train.CheckpointManager(ckpt, os.path.join(FLAGS.workdir, "ckpt"), max_to_keep=5)
    ckpt.restore(manager.latest_checkpoint)
    if manager.latest_checkpoint:
        logging.info("restored %s", manager.latest_checkpoint)

    def loss_of(src, tgt, training):
        logits = net(src, tgt[:, :-1], training=training)
        mask = tf.cast(tgt[:, 1:] != 0, tf.float32)
        return tf.reduce_sum(xent(tgt[:, 1:], logits) * mask) / tf.reduce_sum(mask)

    def train_step(src, tgt):
        with tf.GradientTape() as tape:
            loss = loss_of(src, tgt, True)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    if not FLAGS.eager:
        train_step = tf.function(train_step)

    tick = time.time()
    for src, tgt in train:
        loss = train_step(src, tgt)
        step.assign_add(1)
        if step % 100 == 0:
            logging.info("step %d loss %.4f (%.1fs)", step.numpy(), loss.numpy(), time.time() - tick)
        if step % FLAGS.save_every == 0:
            manager.save()
            val = tf.reduce_mean([loss_of(a, b, False) for a, b in valid])
            logging.info("valid %.4f", val.numpy())
        if step >= FLAGS.train_steps:
            break


if __name__ == "__main__":
    app.run(main)
