"""The programs of this folder in PyTorch, JAX and NumPy.

    python peers.py LIBRARY PROGRAM STEPS

prints the seconds for a step and the last value, like the programs in dscript. All use one thread.
"""

import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np


def pattern(shape, scale, kind=np.float32):
    return (np.sin(np.arange(np.prod(shape), dtype=np.float64) * 0.7) * scale).astype(kind).reshape(shape)


# The steps before the measured ones, as in the programs.
WARM_UP = {"perceptron": 10, "lenet": 5, "lstm": 3, "chain": 3, "small_operations": 20}


def measured(step, steps, warm_up):
    for _ in range(warm_up):
        value = step()
    start = time.perf_counter()
    for _ in range(steps):
        value = step()
    return (time.perf_counter() - start) / steps, float(value)


PERCEPTRON = [((784, 100), 0.05), ((100, 30), 0.1), ((30, 10), 0.2)]
LENET_FILTERS = [((5, 5, 1, 6), 0.2), ((5, 5, 6, 16), 0.1)]
LENET_DENSE = [((400, 120), 0.05), ((120, 84), 0.1), ((84, 10), 0.1)]


def with_torch(program):
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    tensor = lambda *arguments: torch.tensor(pattern(*arguments))

    def trained(parameters, model, labels):
        for parameter in parameters:
            parameter.requires_grad_(True)
        optimizer = torch.optim.SGD(parameters, lr=0.01)

        def step():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(), labels)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    if program == "perceptron":
        x = tensor((64, 784), 1)
        weights = [tensor(*layer) for layer in PERCEPTRON]
        biases = [torch.zeros(w.shape[1]) for w in weights]

        def model():
            y = x
            for index, (w, b) in enumerate(zip(weights, biases)):
                y = torch.addmm(b, y, w)
                y = F.relu(y) if index < 2 else y
            return y

        return trained(weights + biases, model, torch.arange(64) % 10)
    if program == "lenet":
        x = tensor((32, 28, 28, 1), 1).permute(0, 3, 1, 2).contiguous()
        filters = [tensor(*f).permute(3, 2, 0, 1).contiguous() for f in LENET_FILTERS]
        weights = [tensor(*layer) for layer in LENET_DENSE]
        biases = [torch.zeros(f.shape[0]) for f in filters] + [torch.zeros(w.shape[1]) for w in weights]

        def model():
            y = F.avg_pool2d(F.relu(F.conv2d(x, filters[0], biases[0], padding=2)), 2)
            y = F.avg_pool2d(F.relu(F.conv2d(y, filters[1], biases[1])), 2)
            y = y.permute(0, 2, 3, 1).reshape(32, 400)
            y = F.relu(torch.addmm(biases[2], y, weights[0]))
            y = F.relu(torch.addmm(biases[3], y, weights[1]))
            return torch.addmm(biases[4], y, weights[2])

        return trained(filters + weights + biases, model, torch.arange(32) % 10)
    if program == "lstm":
        inputs = [tensor((64, 64), 1 / (k + 1)) for k in range(20)]
        weight = tensor((192, 512), 0.1).requires_grad_(True)
        bias = torch.zeros(512, requires_grad=True)

        def step():
            h, c = torch.zeros(64, 128), torch.zeros(64, 128)
            for x in inputs:
                gates = torch.addmm(bias, torch.cat([x, h], 1), weight)
                i, u, f, o = gates.chunk(4, 1)
                c = c * torch.sigmoid(f) + torch.tanh(u) * torch.sigmoid(i)
                h = torch.tanh(c) * torch.sigmoid(o)
            loss = (h * h).mean()
            torch.autograd.grad(loss, [weight, bias])
            return loss.detach()

        return step
    if program == "chain":
        x = torch.linspace(0, 3, 1_000_000, dtype=torch.float64, requires_grad=True)

        def step():
            value = torch.tanh(torch.sin(x) * torch.exp(-x)).sum()
            (gradient,) = torch.autograd.grad(value, [x])
            return value.detach() + gradient[0]

        return step
    if program == "small_operations":
        x = torch.linspace(0, 1, 10, requires_grad=True)

        def step():
            y = x
            for _ in range(33):
                y = y * x
                y = y + x
                y = torch.tanh(y)
            value = y.sum()
            (gradient,) = torch.autograd.grad(value, [x])
            return value.detach() + gradient[3]

        return step
    return None


def with_jax(program):
    import jax
    import jax.numpy as jnp

    def cross_entropy(logits, labels):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))

    if program == "perceptron":
        x = jnp.asarray(pattern((64, 784), 1))
        labels = jnp.arange(64) % 10
        state = [(jnp.asarray(pattern(*layer)), jnp.zeros(layer[0][1], jnp.float32)) for layer in PERCEPTRON]

        def loss(layers):
            y = x
            for index, (w, b) in enumerate(layers):
                y = y @ w + b
                y = jax.nn.relu(y) if index < 2 else y
            return cross_entropy(y, labels)

        @jax.jit
        def update(layers):
            value, gradient = jax.value_and_grad(loss)(layers)
            return value, jax.tree_util.tree_map(lambda p, g: p - jnp.float32(0.01) * g, layers, gradient)

        def step():
            nonlocal state
            value, state = update(state)
            return value.block_until_ready()

        return step
    if program == "chain":
        x = jnp.linspace(0, 3, 1_000_000)
        both = jax.jit(jax.value_and_grad(lambda x: jnp.sum(jnp.tanh(jnp.sin(x) * jnp.exp(-x)))))

        def step():
            value, gradient = both(x)
            return value + gradient[0]

        return step
    return None


def with_numpy(program):
    if program in ("product_double", "product_float"):
        kind = np.float64 if program == "product_double" else np.float32
        a = np.sin(np.arange(512 * 512, dtype=np.float64)).astype(kind).reshape(512, 512)
        return lambda: (a @ a)[3, 4]
    return None


def main():
    library, program, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    step = {"torch": with_torch, "jax": with_jax, "numpy": with_numpy}[library](program)
    print(*measured(step, steps, WARM_UP.get(program, 5)))


main()
