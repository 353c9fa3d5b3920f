#!/usr/bin/env python3
"""Make the golden values of the reference transformer: tiny models, and their logits from plain Python.

    python3 make_golden.py > logits.json            (needs nothing but Python)

One number at a time, as the papers' equations say: no matrix, no library and no line is shared with the C++ code.
"""
import json
import math
import random

CASES = {
    "plain": dict(width=6, layers=2, heads=3, kv_heads=1, head_dimension=4, inner=5, vocabulary=7, epsilon=1e-5,
                  theta=100.0, scaling=None, bias=False, tied=False),
    "biases, tied": dict(width=8, layers=1, heads=4, kv_heads=2, head_dimension=2, inner=3, vocabulary=6, epsilon=1e-3,
                         theta=10000.0, scaling=None, bias=True, tied=True),
    "linear": dict(width=4, layers=1, heads=2, kv_heads=2, head_dimension=6, inner=4, vocabulary=5, epsilon=1e-5,
                   theta=50.0, scaling=dict(type="linear", factor=4.0), bias=False, tied=True),
    # Turns in 16 positions: 2.5, 0.8, 0.25, 0.08: above, within, below, below what is interpolated.
    "llama3": dict(width=4, layers=2, heads=2, kv_heads=1, head_dimension=8, inner=4, vocabulary=5, epsilon=1e-5,
                   theta=100.0, scaling=dict(type="llama3", factor=8.0, low=0.5, high=2.0, original=16.0), bias=False,
                   tied=False),
}


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def product(rows, x, bias=None):
    return [dot(row, x) + (bias[i] if bias else 0.0) for i, row in enumerate(rows)]


def norm(x, weight, epsilon):
    size = math.sqrt(dot(x, x) / len(x) + epsilon)
    return [v / size * w for v, w in zip(x, weight, strict=True)]


def frequency(c, i):
    f = c["theta"] ** (-2.0 * i / c["head_dimension"])
    s = c["scaling"]
    if s is None:
        return f
    if s["type"] == "linear":
        return f / s["factor"]
    wavelength = 2 * math.pi / f
    if wavelength < s["original"] / s["high"]:
        return f
    if wavelength > s["original"] / s["low"]:
        return f / s["factor"]
    smooth = (s["original"] / wavelength - s["low"]) / (s["high"] - s["low"])
    return (1 - smooth) * f / s["factor"] + smooth * f


def turned(c, head, position):
    half = c["head_dimension"] // 2
    out = list(head)
    for i in range(half):
        z = complex(head[i], head[i + half]) * complex(math.cos(position * frequency(c, i)),
                                                       math.sin(position * frequency(c, i)))
        out[i], out[i + half] = z.real, z.imag
    return out


def layer(c, w, states):
    """The states of all positions after a layer."""
    e = c["head_dimension"]

    def heads(x):
        return [x[i:i + e] for i in range(0, len(x), e)]

    keys, values, out = [], [], []
    for position, x in enumerate(states):
        h = norm(x, w["attention_norm"], c["epsilon"])
        keys.append([turned(c, k, position) for k in heads(product(w["key"], h, w["key_bias"]))])
        values.append(heads(product(w["value"], h, w["value_bias"])))
        attended = []
        for q, query in enumerate(heads(product(w["query"], h, w["query_bias"]))):
            kv = q // (c["heads"] // c["kv_heads"])
            query = turned(c, query, position)
            weights = [math.exp(dot(query, k[kv]) / math.sqrt(e)) for k in keys]
            attended += [math.fsum(a * v[kv][i] for a, v in zip(weights, values, strict=True)) / math.fsum(weights)
                         for i in range(e)]
        x = [a + b for a, b in zip(x, product(w["output"], attended), strict=True)]
        h = norm(x, w["mlp_norm"], c["epsilon"])
        inner = [g / (1 + math.exp(-g)) * u
                 for g, u in zip(product(w["gate"], h), product(w["up"], h), strict=True)]
        out.append([a + b for a, b in zip(x, product(w["down"], inner), strict=True)])
    return out


def make(c, seed):
    bits = random.Random(seed)

    def rows(n, m):
        return [[round(bits.uniform(-1, 1), 3) for _ in range(m)] for _ in range(n)]

    def row(n, about=0.0):
        return [about + v for v in rows(1, n)[0]]

    d, q, kv, f = c["width"], c["heads"] * c["head_dimension"], c["kv_heads"] * c["head_dimension"], c["inner"]
    weights = {"embedding": rows(c["vocabulary"], d), "head": None if c["tied"] else rows(c["vocabulary"], d),
               "final_norm": row(d, 1.0),
               "layers": [{"attention_norm": row(d, 1.0), "query": rows(q, d), "key": rows(kv, d), "value": rows(kv, d),
                           "query_bias": row(q) if c["bias"] else None, "key_bias": row(kv) if c["bias"] else None,
                           "value_bias": row(kv) if c["bias"] else None, "output": rows(d, q), "mlp_norm": row(d, 1.0),
                           "gate": rows(f, d), "up": rows(f, d), "down": rows(d, f)} for _ in range(c["layers"])]}
    ids = [bits.randrange(c["vocabulary"]) for _ in range(9)]
    states = [weights["embedding"][i] for i in ids]
    before_last = states
    for w in weights["layers"]:
        before_last = states
        states = layer(c, w, states)
    hidden = [norm(x, weights["final_norm"], c["epsilon"]) for x in states]
    head = weights["embedding"] if c["tied"] else weights["head"]
    return {"config": c, "weights": weights, "ids": ids, "before_last_layer": before_last, "hidden": hidden,
            "logits": [product(head, h) for h in hidden]}


made = [f"{json.dumps(name)}: {json.dumps(make(c, seed))}" for seed, (name, c) in enumerate(CASES.items())]
print("{" + ",\n".join(made) + "}")
