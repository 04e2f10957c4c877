"""The programs of the benchmark of gradients in JAX.

    python peers.py PROGRAM ARGUMENT...

answers two commands, one per line of the input: `check COUNT` prints the result of the program's function `work`, and
`time COUNT` the seconds for one unit of work. Functions are compiled, use doubles and one thread, and find their inputs in
arrays of JAX.
"""

import os
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
# Otherwise, most of a small computation is the time in which a second thread begins to work.
os.environ["PJRT_NPROC"] = os.environ["NPROC"] = os.environ["OMP_NUM_THREADS"] = "1"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree


def park_miller():
    state = 1
    while True:
        state = 16807 * state % 2147483647
        yield state / 2147483647


def numbers(generator, *shape):
    return np.array([next(generator) for _ in range(int(np.prod(shape)))]).reshape(shape)


def logistic():
    def final(r, start):
        return lax.fori_loop(0, 1000, lambda _, x: r * x * (1 - x), start)

    inputs = [(3.0, 0.3 + 0.001 * i) for i in range(100)]
    return jax.grad(final, argnums=(0, 1)), inputs, lambda slope, i: abs(slope[0]) + abs(slope[1])


def pendulum():
    h = 0.01

    def final(angle, speed, friction, length):
        def change(state):
            angle, speed = state
            return speed, -9.81 / length * jnp.sin(angle) - friction * speed

        def moved(state, change, time):
            return state[0] + time * change[0], state[1] + time * change[1]

        def step(_, state):
            k1 = change(state)
            k2 = change(moved(state, k1, h / 2))
            k3 = change(moved(state, k2, h / 2))
            k4 = change(moved(state, k3, h))
            return tuple(s + h / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4))

        return lax.fori_loop(0, 1000, step, (angle, speed))[0]

    inputs = [(0.5 + 0.001 * i, 0.1, 0.2, 1.3) for i in range(100)]
    both = jax.value_and_grad(final, argnums=(0, 1, 2, 3))
    return both, inputs, lambda out, i: out[0] + sum(abs(slope) for slope in out[1])


def building():
    duration = 0.1
    tube = {"spacing": 0.50292, "diameter": 0.019, "thickness": 0.001588, "resistivity": 2.43}
    slab = {"temperature": 21.1, "area": 100.0, "heat_capacity": 0.2, "density": 2242.58, "thickness": 0.101}
    water = {"power": 0.0, "temperature": 60.0, "flow": 0.0006309, "density": 1000.0, "heat_capacity": 4180.0}
    tank = {"temperature": 70.0, "volume": 0.0757082, "heat_capacity": 4180.0, "density": 1000.0, "mass": 75.708}

    def resistance(tube, slab):
        surface = slab["area"] / tube["spacing"] * jnp.pi * tube["diameter"]
        return tube["resistivity"] * tube["thickness"] / surface * 10

    def heat_water(tank, water):
        flow = water["flow"] * water["density"]
        power = (tank["temperature"] - water["temperature"]) * flow * water["heat_capacity"]
        fall = power * duration / tank["heat_capacity"] / (tank["volume"] * tank["density"])
        return tank | {"temperature": tank["temperature"] - fall}, water | {"power": power}

    def move(water):
        mass = water["flow"] * duration * water["density"]
        rise = water["power"] * duration / water["heat_capacity"] / mass
        return water | {"temperature": water["temperature"] + rise, "power": 0.0}

    def load(water, tube, slab):
        conductance = 1 / resistance(tube, slab)
        power = (slab["temperature"] - water["temperature"]) * conductance
        return water | {"power": power}, -power

    def heat_slab(slab, power):
        mass = slab["area"] * slab["thickness"] * slab["density"]
        rise = power * duration / slab["heat_capacity"] / mass
        return slab | {"temperature": slab["temperature"] + rise}

    def loss(building):
        tube = building["tube"]

        def step(_, state):
            slab, water, tank = state
            tank, water = heat_water(tank, water)
            water = move(water)
            water, power = load(water, tube, slab)
            water = move(water)
            return heat_slab(slab, power), water, tank

        slab = building["slab"] | {"temperature": building["start"]}
        slab, _, _ = lax.fori_loop(0, 20, step, (slab, building["water"], building["tank"]))
        return abs(slab["temperature"] - 27.3)

    # One array instead of twenty: each argument and each result of a compiled function takes some microseconds.
    fixed = {"tube": tube, "slab": slab, "water": water, "tank": tank}
    inputs = [(ravel_pytree(fixed | {"start": 33.3 + 0.001 * i})[0],) for i in range(100)]
    structured = ravel_pytree(fixed | {"start": 33.3})[1]

    def check(out, i):
        value, slope = out[0], structured(out[1])
        parts = [slope["tube"]["diameter"], slope["slab"]["density"], slope["water"]["flow"], slope["tank"]["volume"]]
        return value + slope["start"] + sum(parts)

    return jax.value_and_grad(lambda parameters: loss(structured(parameters))), inputs, check


def rosenbrock(xs):
    valley = xs[1::2] - xs[::2] ** 2
    ahead = 1 - xs[::2]
    return jnp.sum(100 * valley * valley + ahead * ahead)


def rosenbrock_gradient():
    inputs = [(-1.2 + 0.02 * np.arange(100.0),)]
    return jax.value_and_grad(rosenbrock), inputs, lambda out, i: out[0] + out[1][i % 100]


def rosenbrock_hessian():
    inputs = [(-1.2 + 0.02 * np.arange(100.0),)]
    return jax.hessian(rosenbrock), inputs, lambda m, i: m[i % 100, i % 100] + m[i % 99, i % 99 + 1]


def third_derivative():
    def root(x):
        return lax.fori_loop(0, 10, lambda _, y: (y + x / y) / 2, x)

    def derivative(f):
        return lambda x: jax.jvp(f, (x,), (1.0,))[1]

    inputs = [(1.5 + 0.01 * i,) for i in range(100)]
    return derivative(derivative(derivative(root))), inputs, lambda third, i: third


def squares(size):
    inputs = [(0.5 + 0.25 * (np.arange(size) % 7),)]
    return jax.grad(lambda xs: jnp.sum(xs * xs)), inputs, lambda slope, i: slope[i % size]


def mixture(dimension, components, count):
    d, k, width = dimension, components, dimension * (dimension + 1) // 2
    generator = park_miller()
    parameters = numbers(generator, k), numbers(generator, k, d), numbers(generator, k, width) - 0.5
    points = jnp.asarray(2 * numbers(generator, count, d) - 0.5)
    # The places below the diagonal, column by column.
    columns, rows = np.triu_indices(d, 1)

    def likelihood(alphas, means, icf):
        diagonals = jnp.exp(icf[:, :d])
        matrices = jnp.zeros((k, d, d)).at[:, rows, columns].set(icf[:, d:])
        matrices = matrices.at[:, np.arange(d), np.arange(d)].set(diagonals)
        centered = points[:, None, :] - means[None]
        transformed = jnp.einsum("kij,nkj->nki", matrices, centered)
        terms = alphas + jnp.sum(icf[:, :d], 1) - 0.5 * jnp.sum(transformed**2, 2)
        total = jnp.sum(jax.scipy.special.logsumexp(terms, axis=1))
        prior = 0.5 * (jnp.sum(diagonals**2) + jnp.sum(icf[:, d:] ** 2))
        fixed = -0.5 * count * d * np.log(2 * np.pi)
        return fixed + total - count * jax.scipy.special.logsumexp(alphas) + prior

    def check(out, i):
        value, (alphas, means, icf) = out
        return value + alphas[i % k] + means.reshape(-1)[i % (k * d)] + icf.reshape(-1)[i % (k * width)]

    return jax.value_and_grad(likelihood, argnums=(0, 1, 2)), [parameters], check


def bundle_adjustment():
    generator = park_miller()
    cameras, points = numbers(generator, 20, 11), numbers(generator, 100, 3)
    points[:, 2] += 5
    weights, features = numbers(generator, 1000), numbers(generator, 1000, 2)
    index = np.arange(1000)

    def error(camera, point, weight, feature):
        rotation, offset = camera[:3], point - camera[3:6]
        angle = jnp.sqrt(jnp.dot(rotation, rotation))
        axis = rotation / angle
        c, s = jnp.cos(angle), jnp.sin(angle)
        seen = offset * c + jnp.cross(axis, offset) * s + axis * jnp.dot(axis, offset) * (1 - c)
        flat = seen[:2] / seen[2]
        square = jnp.dot(flat, flat)
        distortion = 1 + camera[9] * square + camera[10] * square * square
        return weight * (camera[6] * distortion * flat + camera[7:9] - feature)

    def jacobians(*arguments):
        parts = jax.vmap(jax.jacrev(error, argnums=(0, 1, 2)))(*arguments)
        return jnp.concatenate([parts[0], parts[1], parts[2][:, :, None]], 2)

    inputs = [(cameras[index % 20], points[index % 100], weights, features)]
    return jacobians, inputs, lambda m, i: np.sum(m[index, 0, index % 15] + m[index, 1, (index + 7) % 15])


PROGRAMS = {
    "logistic-gradient": logistic,
    "pendulum-1000": pendulum,
    "building": building,
    "rosenbrock-gradient": rosenbrock_gradient,
    "rosenbrock-hessian": rosenbrock_hessian,
    "rosenbrock-sparse-hessian": rosenbrock_hessian,
    "third-derivative": third_derivative,
    "squares-gradient": squares,
    "gmm": mixture,
    "bundle-adjustment": bundle_adjustment,
}


def main():
    function, inputs, check = PROGRAMS[sys.argv[1]](*map(int, sys.argv[2:]))
    function = jax.jit(function)
    inputs = [jax.tree_util.tree_map(jnp.asarray, arguments) for arguments in inputs]
    for line in sys.stdin:
        command, count = line.split()
        count = int(count)
        if command == "check":
            outputs = [jax.tree_util.tree_map(np.asarray, function(*arguments)) for arguments in inputs[:count]]
            print(float(sum(check(outputs[i % len(inputs)], i) for i in range(count))), flush=True)
        else:
            # All results of a call are there at the same time, so waiting for one is enough.
            start = time.perf_counter()
            for i in range(count):
                output = function(*inputs[i % len(inputs)])
                jax.tree_util.tree_leaves(output)[0].block_until_ready()
            print((time.perf_counter() - start) / count, flush=True)


main()
