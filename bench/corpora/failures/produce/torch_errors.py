"""torch on the CPU: shapes, types, devices, gradients, loaders, numbers."""

# ruff: noqa: E501 - programs and the lines of logs are quoted as they are
from __future__ import annotations

from bench.corpora.failures.produce.making import Job, main
from bench.corpora.failures.produce.torch_trainers import failing_at, torch_trainer

BASH = "bash job.sh"

JOBS = [
    Job(
        name="shape_linear",
        reason="shape_mismatch",
        cause=("mat1 and mat2 shapes cannot be multiplied",),
        files=torch_trainer("print", failing_at(11, "return learn(*batch(32, 48))")),
    ),
    Job(
        name="shape_broadcast",
        reason="shape_mismatch",
        cause=("The size of tensor a (77) must match the size of tensor b (64)",),
        files=torch_trainer("logging", failing_at(8, "torch.zeros(4, 77) + torch.zeros(4, 64)")),
        command=BASH,
    ),
    Job(
        name="shape_cat",
        reason="shape_mismatch",
        cause=("Sizes of tensors must match except in dimension",),
        files=torch_trainer(
            "tqdm", failing_at(5, "torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])")
        ),
    ),
    Job(
        name="shape_view",
        reason="shape_mismatch",
        cause=("is invalid for input of size",),
        files=torch_trainer("caught", failing_at(14, "torch.zeros(7, 9).view(8, -1)")),
    ),
    Job(
        name="shape_conv_channels",
        reason="shape_mismatch",
        cause=("to have 3 channels, but got 1 channels instead",),
        files=torch_trainer(
            "print", failing_at(3, "nn.Conv2d(3, 8, 3)(torch.zeros(2, 1, 28, 28))")
        ),
    ),
    Job(
        name="shape_loss_batch",
        reason="shape_mismatch",
        cause=("Expected input batch_size (32) to match target batch_size (31)",),
        files=torch_trainer("logging", failing_at(26, "learn(batch()[0], batch(31)[1])")),
    ),
    Job(
        name="shape_numpy",
        reason="shape_mismatch",
        cause=("operands could not be broadcast together",),
        files=torch_trainer(
            "tqdm", "import numpy as np\n\n\n" + failing_at(9, "np.ones((4, 3)) + np.ones((4, 5))")
        ),
    ),
    Job(
        name="shape_stack_collate",
        reason="shape_mismatch",
        cause=("stack expects each tensor to be equal size",),
        files=torch_trainer(
            "print",
            "def prepare():\n    data = [torch.zeros(5), torch.zeros(5), torch.zeros(6)]\n"
            "    loader = torch.utils.data.DataLoader(data, batch_size=3, num_workers=2)\n"
            "    return {'first': next(iter(loader))}",
        ),
        accept=("data_error",),
    ),
    Job(
        name="device_meta_tensor",
        reason="device_mismatch",
        cause=("Tensor on device meta is not on the expected device cpu",),
        files=torch_trainer(
            "logging",
            failing_at(4, "torch.cat([torch.ones(2, 3), torch.ones(2, 3, device='meta')])"),
        ),
    ),
    Job(
        name="device_meta_embedding",
        reason="device_mismatch",
        cause=("Tensor on device meta is not on the expected device cpu",),
        files=torch_trainer(
            "print", "def prepare():\n    net.to('meta')\n    return learn(*batch())"
        ),
    ),
    Job(
        name="dtype_half_and_float",
        reason="dtype_mismatch",
        cause=("must have the same dtype",),
        files=torch_trainer("tqdm", failing_at(6, "net(batch()[0].double())")),
    ),
    Job(
        name="dtype_labels_float",
        reason="dtype_mismatch",
        cause=("expected target dtype to be Long or Byte, but got Float",),
        files=torch_trainer(
            "caught", failing_at(7, "nn.functional.nll_loss(torch.randn(3, 5), torch.ones(3))")
        ),
    ),
    Job(
        name="dtype_embedding_indices",
        reason="dtype_mismatch",
        cause=("Expected tensor for argument #1 'indices'",),
        files=torch_trainer("logging", failing_at(2, "nn.Embedding(10, 4)(torch.ones(3))")),
    ),
    Job(
        name="dtype_inplace_cast",
        reason="dtype_mismatch",
        cause=("can't be cast to the desired output type",),
        files=torch_trainer("print", failing_at(10, "torch.ones(3, dtype=torch.long).add_(0.5)")),
    ),
    Job(
        name="autograd_second_backward",
        reason="autograd_error",
        cause=("Trying to backward through the graph a second time",),
        files=torch_trainer(
            "print",
            failing_at(
                9, "loss = net(batch()[0]).sum()\n        loss.backward()\n        loss.backward()"
            ),
        ),
    ),
    Job(
        name="autograd_no_grad",
        reason="autograd_error",
        cause=("does not require grad and does not have a grad_fn",),
        files=torch_trainer("tqdm", failing_at(12, "net(batch()[0]).detach().sum().backward()")),
    ),
    Job(
        name="autograd_inplace",
        reason="autograd_error",
        cause=("has been modified by an inplace operation",),
        files=torch_trainer(
            "caught",
            failing_at(
                3,
                "a = torch.ones(4, requires_grad=True).exp()\n        b = a * a\n"
                "        a.add_(1)\n        b.sum().backward()",
            ),
        ),
    ),
    Job(
        name="autograd_leaf_inplace",
        reason="autograd_error",
        cause=("a leaf Variable that requires grad is being used in an in-place operation",),
        files=torch_trainer("logging", failing_at(1, "net[0].weight.add_(1.0)")),
        command=BASH,
    ),
    Job(
        name="autograd_scalar_only",
        reason="autograd_error",
        cause=("grad can be implicitly created only for scalar outputs",),
        files=torch_trainer("print", failing_at(2, "net(batch()[0]).backward()")),
    ),
    Job(
        name="dtype_conv_half_input",
        reason="dtype_mismatch",
        cause=("Input type (c10::Half) and bias type (float) should be the same",),
        files=torch_trainer(
            "print", failing_at(5, "nn.Conv2d(3, 3, 3)(torch.ones(1, 3, 5, 5).half())")
        ),
    ),
    Job(
        name="shape_lstm_input",
        reason="shape_mismatch",
        cause=("input.size(-1) must be equal to input_size",),
        files=torch_trainer("tqdm", failing_at(18, "nn.LSTM(4, 4)(torch.ones(2, 2, 5))")),
        command=BASH,
    ),
    Job(
        name="torch_without_cuda",
        reason="assertion_error",
        cause=("Torch not compiled with CUDA enabled",),
        accept=("cuda_unsupported", "abi_mismatch"),
        files=torch_trainer("print", "def prepare():\n    net.cuda()\n    return {'seen': 0}"),
    ),
    Job(
        name="index_embedding_cpu",
        reason="index_error",
        cause=("IndexError: index out of range in self",),
        files=torch_trainer(
            "logging", failing_at(13, "nn.Embedding(10, 4)(torch.tensor([3, 11]))")
        ),
    ),
    Job(
        name="target_out_of_bounds",
        reason="index_error",
        cause=("Target 10 is out of bounds",),
        files=torch_trainer("tqdm", failing_at(15, "learn(batch()[0], torch.full((32,), 10))")),
        accept=("data_error", "cuda_assert"),
    ),
    Job(
        name="loss_nan_asserted",
        reason="loss_nan",
        cause=("Loss is nan, stopping training",),
        files=torch_trainer(
            "print",
            "import math\n\n\ndef step(state, i):\n    x, y = batch()\n"
            "    loss = learn(x / (0 if i > 12 else 1), y)\n    if not math.isfinite(loss):\n"
            "        print(f'Loss is {loss}, stopping training')\n        raise SystemExit(1)\n"
            "    return loss",
        ),
    ),
    Job(
        name="loss_nan_raised",
        reason="loss_nan",
        cause=("FloatingPointError: loss became nan at step", "loss became"),
        files=torch_trainer(
            "logging",
            "def step(state, i):\n    loss = learn(*batch()) if i < 17 else float('nan')\n"
            "    if loss != loss:\n        raise FloatingPointError(f'loss became {loss} at step {i}')\n"
            "    return loss",
        ),
    ),
    Job(
        name="loss_nan_anomaly_mode",
        reason="loss_nan",
        cause=("returned nan values in its 0th output",),
        accept=("autograd_error",),
        files=torch_trainer(
            "caught",
            "torch.autograd.set_detect_anomaly(True)\n\n\n"
            + failing_at(6, "(torch.zeros(3, requires_grad=True).sqrt() * 0).sum().backward()"),
        ),
    ),
    Job(
        name="loader_worker_key_error",
        reason="key_error",
        cause=("KeyError: 'caption'",),
        files=torch_trainer(
            "tqdm",
            "class Pairs(torch.utils.data.Dataset):\n    def __len__(self):\n        return 64\n\n"
            "    def __getitem__(self, n):\n        sample = {'image': n}\n"
            "        return sample['caption'] if n == 40 else n\n\n\n"
            "loader = iter(torch.utils.data.DataLoader(Pairs(), batch_size=8, num_workers=2))\n\n\n"
            "def step(state, i):\n    next(loader)\n    return learn(*batch())",
        ),
    ),
    Job(
        name="loader_worker_killed",
        reason="dataloader_killed",
        cause=("DataLoader worker (pid", "is killed by signal: Killed"),
        accept=("killed", "host_oom"),
        files=torch_trainer(
            "print",
            "import os, signal\n\n\nclass Images(torch.utils.data.Dataset):\n    def __len__(self):\n"
            "        return 640\n\n    def __getitem__(self, n):\n        if n == 40:\n"
            "            os.kill(os.getpid(), signal.SIGKILL)\n        return n\n\n\n"
            "loader = iter(torch.utils.data.DataLoader(Images(), batch_size=8, num_workers=2))\n\n\n"
            "def step(state, i):\n    next(loader)\n    return learn(*batch())",
        ),
    ),
    Job(
        name="loader_worker_exits",
        reason="dataloader_killed",
        cause=("exited unexpectedly",),
        files=torch_trainer(
            "logging",
            "class Images(torch.utils.data.Dataset):\n    def __len__(self):\n        return 640\n\n"
            "    def __getitem__(self, n):\n        if n > 60:\n            os._exit(1)\n"
            "        return n\n\n\n"
            "loader = iter(torch.utils.data.DataLoader(Images(), batch_size=8, num_workers=2))\n\n\n"
            "def step(state, i):\n    next(loader)\n    return learn(*batch())",
        ),
    ),
    Job(
        name="loader_empty_dataset",
        reason="data_error",
        cause=("num_samples should be a positive integer value",),
        accept=("value_error",),
        files=torch_trainer(
            "print",
            "def prepare():\n    print('found 0 images in data/train')\n"
            "    return torch.utils.data.DataLoader([], batch_size=8, shuffle=True)",
        ),
    ),
]

if __name__ == "__main__":
    main(JOBS)
