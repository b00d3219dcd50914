"""The forward pass of BERT sentence embeddings in numpy, one text at a time.

Written from the paper's equations and independent of the graph in bert.py: it
is what the tests compare that graph with.
"""

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

erf = np.vectorize(math.erf, otypes=[np.float64])


def normalise(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    """Layer normalisation over the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    return centred / deviation * weight + bias


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Reference:
    """Weights in double precision and the computation over them."""

    def __init__(self, directory: Path):
        self.config = json.loads((directory / "config.json").read_text("utf-8"))
        tensors = load_file(directory / "model.safetensors")
        self.tensors = {name: value.astype(np.float64) for name, value in tensors.items()
                        if value.dtype.kind == "f"}

    def dense(self, name: str, x: np.ndarray) -> np.ndarray:
        """x W^T + b."""
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        """The layer normalisation called `name`."""
        return normalise(x, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"],
                         self.config["layer_norm_eps"])

    def embed(self, ids: list[int]) -> np.ndarray:
        """The unit vector of one text given by its token ids, special tokens included."""
        table = {part: self.tensors[f"embeddings.{part}_embeddings.weight"]
                 for part in ("word", "position", "token_type")}
        x = table["word"][ids] + table["token_type"][0] + table["position"][:len(ids)]
        x = self.norm("embeddings.LayerNorm", x)
        for number in range(self.config["num_hidden_layers"]):
            x = self.layer(f"encoder.layer.{number}", x)
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def layer(self, name: str, x: np.ndarray) -> np.ndarray:
        """One encoder layer."""
        heads = self.config["num_attention_heads"]
        size = x.shape[1] // heads
        q, k, v = (self.dense(f"{name}.attention.self.{part}", x)
                   for part in ("query", "key", "value"))
        context = np.empty_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = q[:, part] @ k[:, part].T / math.sqrt(size)
            context[:, part] = softmax(scores) @ v[:, part]
        attended = self.dense(f"{name}.attention.output.dense", context)
        x = self.norm(f"{name}.attention.output.LayerNorm", x + attended)
        inner = self.dense(f"{name}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
        return self.norm(f"{name}.output.LayerNorm",
                         x + self.dense(f"{name}.output.dense", inner))
