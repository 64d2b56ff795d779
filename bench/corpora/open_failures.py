"""Failures that rules leave open, in people's own words: made up, each with the reason it shows.

`TUNED` was looked at while the model's question was written, `HELD_OUT` while the explanations
were, `FRESH` after both and scored once.
"""

from __future__ import annotations

NOISE = "".join(f"[sweeper] {n} temporary files looked at\n" for n in range(100, 3000, 100))
"""What a program may still say after it has given up."""

TUNED = (
    (
        "data_error",
        (
            "step=20/120 loss=0.7\n[shards] record 371 of shard 3 is cut short: 512 bytes "
            "announced, 128 found\n[shards] giving up\n"
        ),
    ),
    (
        "auth_error",
        "loading weights\n[hub] your token has no access to this gated model, ask its owner\nbye\n",
    ),
    (
        "disk_full",
        "epoch 3 done\nwriter: only 0 bytes remain on /scratch, cannot save weights\nstopped\n",
    ),
    (
        "gpu_oom",
        "allocating activations\nthe accelerator has 2 GiB left but 6 GiB were requested\n"
        "abort\n" + NOISE,
    ),
    (
        "service_unreachable",
        "starting\ntracking server at 10.0.0.3 did not answer within 30 s\ngave up\n",
    ),
    (
        "argument_error",
        "reading config\nunknown optimiser 'adamm' in section [train], choose adam or sgd\n",
    ),
    (
        "checkpoint_mismatch",
        (
            "resuming from out/step-40\nthe saved model has 12 layers, this one "
            "has 24\nrefusing to go on\n"
        ),
    ),
    (
        "loss_nan",
        "step 100 loss 2.1\nstep 120 loss 88123.0\nstep 140 training diverged, loss is no "
        "longer a number\nstop\n" + NOISE,
    ),
    (
        "file_not_found",
        (
            "preparing vocabulary\nlexicon /data/lex/de.txt was never created, run the "
            "preparation first\nquit\n"
        ),
    ),
    (
        "host_oom",
        (
            "building index\nindexer: the machine's main memory is used up (503 of 503 GiB), "
            "dropping out\n"
        ),
    ),
    (
        "permission_denied",
        "opening store\nowner of bucket dir is alice, you are bob and may not write here\nending\n",
    ),
    (
        "storage_io",
        "step 900\nreader: the parallel file system gave back garbage while reading "
        "block 71\nstopping run\n" + NOISE,
    ),
)
HELD_OUT = (
    (
        "data_error",
        (
            "worker 2 ready\ntokenizer: sentence 88123 holds bytes that are no text at "
            "all, please clean the corpus\nending\n"
        ),
    ),
    (
        "auth_error",
        "contacting registry\nregistry says: your login ran out yesterday, sign in "
        "anew\nleaving\n" + NOISE,
    ),
    (
        "disk_quota",
        (
            "saving state\nyour group has used all 2.0 TB it was granted on /project, "
            "delete something\nbailing out\n"
        ),
    ),
    (
        "gpu_oom",
        "batch 1\nplanner: activations need 91 GB, the card offers 80 GB\nno plan, leaving\n",
    ),
    (
        "service_unreachable",
        "fetching base model\nmirror mirror.example.org stays silent after 5 "
        "tries\nleaving\n" + NOISE,
    ),
    (
        "argument_error",
        (
            "parsing recipe\nthe recipe asks for warmup 5000 but the whole run is 1000 "
            "steps long, fix the recipe\n"
        ),
    ),
    (
        "checkpoint_corrupt",
        (
            "warm start\nsnapshot step-800 ends in the middle of tensor 14, it was "
            "never written to the end\nhalt\n"
        ),
    ),
    (
        "loss_nan",
        (
            "it 10 obj 3.2\nit 20 obj 9e18\nit 30 objective went to infinity, weights are "
            "useless now\nhalt\n"
        ),
    ),
    (
        "import_error",
        (
            "plugins: loading\nplugins: 'fastrope' is nowhere to be found in this "
            "environment, install it\nhalt\n"
        ),
    ),
    (
        "shape_mismatch",
        "building net\nlayer 3 hands over 768 features, layer 4 takes 1024\nhalt\n" + NOISE,
    ),
    (
        "network",
        (
            "ring of 8 nodes\nnode gpu07 cannot be heard by gpu03 any more, cable or switch?\n"
            "leaving the ring\n"
        ),
    ),
    (
        "compile_error",
        (
            "specialising kernels\nkernel softmax_bwd did not build for this card, 3 "
            "lines were not understood\nhalt\n"
        ),
    ),
)
FRESH = (
    (
        "disk_quota",
        (
            "epoch 4 saved\narchiver: lab allowance on /proj is used up (8.0 of 8.0 TB), ask for "
            "more or tidy up\nover and out\n"
        ),
    ),
    (
        "gpu_oom",
        "layer plan ready\nallocator: wanted 41 GB of HBM, the chip has 32 GB\nwithdrawing\n",
    ),
    (
        "service_unreachable",
        "step 10 ok\nmetrics sink http://obs:9000 has not replied since 12:03, eight attempts\n"
        "leaving\n" + NOISE,
    ),
    (
        "argument_error",
        "reading plan.toml\nplan asks for 7 heads, 512 cannot be split into 7 parts\nend\n",
    ),
    (
        "data_error",
        (
            "loader warm\nrow 9120: the caption column holds a picture, and the other way round\n"
            "no point going on\n"
        ),
    ),
    (
        "permission_denied",
        "preparing output\nsandbox refuses to let uid 1044 touch /results/shared\nover\n",
    ),
    (
        "checkpoint_mismatch",
        "restoring run 81\nthe stored network speaks of 30 blocks, we built 36\nnot going on\n",
    ),
    (
        "host_oom",
        "sorting edges\nsorter: 1.5 TiB asked of a machine with 1.0 TiB RAM\nwithdrawing\n" + NOISE,
    ),
    (
        "import_error",
        (
            "loading extensions\nextension turbo_norm asked for, never put into this "
            "environment\nend\n"
        ),
    ),
    (
        "storage_io",
        (
            "batch 7000\nreader: chunk 12 of /lustre/a.bin came back with a wrong checksum\n"
            "stopping the run\n"
        ),
    ),
)
