import tensorflow as tf
import tensorflow_text as text


def load_tokenizers(name, vocab):
    base = f"/mnt/nmt/vocab/{name.replace('/', '_')}.{vocab}"
    return [text.SentencepieceTokenizer(open(f"{base}.{i}.model", "rb").read(), add_eos=True) for i in "ab"]


class Block(tf.keras.layers.Layer):
    def __init__(self, width, heads, dropout, cross):
        super().__init__()
        self.att = tf.keras.layers.MultiHeadAttention(heads, width // heads, dropout=dropout)
        self.cross = tf.keras.layers.MultiHeadAttention(heads, width // heads, dropout=dropout) if cross else None
        self.ffn = tf.keras.Sequential([
            tf.keras.layers.Dense(4 * width, activation="relu"), tf.keras.layers.Dense(width),
        ])
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(3)]

    def call(self, x, memory=None, training=False):
        x = self.norms[0](x + self.att(x, x, use_causal_mask=self.cross is not None, training=training))
        if self.cross is not None:
            x = self.norms[1](x + self.cross(x, memory, training=training))
        return self.norms[2](x + self.ffn(x))


class Transformer(tf.keras.Model):
    def __init__(self, layers=6, width=512, heads=8, vocab=32000, dropout=0.1):
        super().__init__()
        self.src = tf.keras.layers.Embedding(vocab, width, mask_zero=True)
        self.tgt = tf.keras.layers.Embedding(vocab, width, mask_zero=True)
        self.enc = [Block(width, heads, dropout, False) for _ in range(layers)]
        self.dec = [Block(width, heads, dropout, True) for _ in range(layers)]
        self.out = tf.keras.layers.Dense(vocab)

    def call(self, src, tgt, training=False):
        memory = self.src(src)
        for b in self.enc:
            memory = b(memory, training=training)
        x = self.tgt(tgt)
        for b in self.dec:
            x = b(x, memory, training=training)
        return self.out(x)
