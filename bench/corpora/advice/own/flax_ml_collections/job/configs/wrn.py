import ml_collections


def get_config():
    c = ml_collections.ConfigDict()
    c.model = "wrn28_10"
    c.dataset = "svhn_cropped"
    c.batch_size = 256  # over all devices
    c.eval_batch_size = 1000
    c.steps = 36_000
    c.eval_every = 1000
    c.half_precision = False

    c.optim = ml_collections.ConfigDict()
    c.optim.lr = 0.1
    c.optim.momentum = 0.9
    c.optim.wd = 5e-4
    c.optim.warmup = 500

    c.ckpt = ml_collections.ConfigDict({"every": 3_000, "keep": 2})
    return c
