"""The BERT encoder as an ONNX graph in plain operators.

Inputs are `input_ids` and `attention_mask` (int64 [batch, sequence]); every
token is of type 0, so that embedding is folded into the positions. The output
is `sentence_embedding` (float [batch, dimension]): the mean over the tokens
that the mask keeps, of length 1.
"""

import math
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
# Added to the scores of masked tokens; finite, so that no sum becomes NaN.
MASKED = -10000.0
# Keeps the mean and the norm finite for a text of no tokens.
TINY = 1e-9


@dataclass(frozen=True)
class Shape:
    """The numbers of config.json that the graph depends on."""

    layers: int
    heads: int
    dimension: int
    norm_epsilon: float

    @classmethod
    def from_config(cls, config: dict) -> "Shape":
        """Reads config.json; refuses what the graph does not express."""
        expected = {"model_type": "bert", "hidden_act": "gelu",
                    "position_embedding_type": "absolute"}
        for key, value in expected.items():
            if config.get(key) != value:
                raise SystemExit(f"config.json: {key} is {config.get(key)!r}, not {value!r}")
        return cls(config["num_hidden_layers"], config["num_attention_heads"],
                   config["hidden_size"], config["layer_norm_eps"])


class Encoder:
    """Collects nodes and weights of one graph."""

    def __init__(self, shape: Shape, weights: dict[str, np.ndarray]):
        self.shape = shape
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def tensor(self, name: str, value: np.ndarray) -> str:
        """Stores a constant once and returns its name."""
        if name not in self.initializers:
            contiguous = np.ascontiguousarray(value)
            self.initializers[name] = numpy_helper.from_array(contiguous, name)
        return name

    def node(self, operator: str, output: str, *inputs: str, **attributes) -> str:
        """Appends one operator and returns the name of its output."""
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output,
                                           **attributes))
        return output

    def linear(self, output: str, value: str, name: str) -> str:
        """`value` times the transposed weight `name`, plus its bias."""
        weight = self.tensor(f"{name}.weight", self.weights[f"{name}.weight"].T)
        bias = self.tensor(f"{name}.bias", self.weights[f"{name}.bias"])
        product = self.node("MatMul", f"{output}/matmul", value, weight)
        return self.node("Add", output, product, bias)

    def layer_norm(self, output: str, value: str, name: str) -> str:
        """Layer normalisation with the weights `name`."""
        scale = self.tensor(f"{name}.weight", self.weights[f"{name}.weight"])
        bias = self.tensor(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.node("LayerNormalization", output, value, scale, bias, axis=-1,
                         epsilon=self.shape.norm_epsilon)

    def gelu(self, output: str, value: str) -> str:
        """The exact GELU, in the form ONNX Runtime fuses."""
        root = self.tensor("sqrt2", np.array(math.sqrt(2), np.float32))
        one = self.tensor("one", np.array(1, np.float32))
        half = self.tensor("half", np.array(0.5, np.float32))
        scaled = self.node("Div", f"{output}/scaled", value, root)
        erf = self.node("Erf", f"{output}/erf", scaled)
        gate = self.node("Add", f"{output}/gate", erf, one)
        gated = self.node("Mul", f"{output}/gated", value, gate)
        return self.node("Mul", output, gated, half)

    def embeddings(self) -> str:
        """Word plus position plus type 0, normalised."""
        prefix = "embeddings."
        words = self.tensor("words", self.weights[f"{prefix}word_embeddings.weight"])
        types = self.weights[f"{prefix}token_type_embeddings.weight"]
        positions = self.tensor(
            "positions", self.weights[f"{prefix}position_embeddings.weight"] + types[0])
        zero = self.tensor("index_0", np.array([0], np.int64))
        word = self.node("Gather", "word", words, "input_ids", axis=0)
        shape = self.node("Shape", "input_shape", "input_ids")
        length = self.node("Slice", "length", shape, self.tensor("index_1", np.array([1], np.int64)),
                           self.tensor("index_2", np.array([2], np.int64)))
        position = self.node("Slice", "position", positions, zero, length, zero)
        total = self.node("Add", "embedding_sum", word, position)
        return self.layer_norm("embeddings", total, f"{prefix}LayerNorm")

    def mask_bias(self) -> str:
        """0 where a token counts and MASKED where it does not, [batch, 1, 1, sequence]."""
        axes = self.tensor("mask_axes", np.array([1, 2], np.int64))
        wide = self.node("Unsqueeze", "mask_4d", "attention_mask", axes)
        kept = self.node("Cast", "mask_float", wide, to=TensorProto.FLOAT)
        one = self.tensor("one", np.array(1, np.float32))
        dropped = self.node("Sub", "mask_dropped", one, kept)
        return self.node("Mul", "mask_bias", dropped,
                         self.tensor("masked", np.array(MASKED, np.float32)))

    def attention(self, layer: str, value: str, mask: str) -> str:
        """Multi-head self-attention with its residual and normalisation."""
        shape = self.shape
        size = shape.dimension // shape.heads
        split = self.tensor("split_heads", np.array([0, 0, shape.heads, size], np.int64))
        join = self.tensor("join_heads", np.array([0, 0, shape.dimension], np.int64))
        parts = {}
        for part, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
            linear = self.linear(f"{layer}/{part}", value, f"{layer}.attention.self.{part}")
            heads = self.node("Reshape", f"{layer}/{part}/heads", linear, split)
            parts[part] = self.node("Transpose", f"{layer}/{part}/ordered", heads, perm=order)
        root = self.tensor("sqrt_head_size", np.array(math.sqrt(size), np.float32))
        product = self.node("MatMul", f"{layer}/scores", parts["query"], parts["key"])
        scaled = self.node("Div", f"{layer}/scores/scaled", product, root)
        masked = self.node("Add", f"{layer}/scores/masked", scaled, mask)
        weights = self.node("Softmax", f"{layer}/weights", masked, axis=-1)
        context = self.node("MatMul", f"{layer}/context", weights, parts["value"])
        ordered = self.node("Transpose", f"{layer}/context/ordered", context, perm=(0, 2, 1, 3))
        joined = self.node("Reshape", f"{layer}/context/joined", ordered, join)
        output = self.linear(f"{layer}/attention", joined, f"{layer}.attention.output.dense")
        residual = self.node("Add", f"{layer}/attention/residual", output, value)
        return self.layer_norm(f"{layer}/attention/norm", residual,
                               f"{layer}.attention.output.LayerNorm")

    def layer(self, index: int, value: str, mask: str) -> str:
        """One encoder layer."""
        layer = f"encoder.layer.{index}"
        attended = self.attention(layer, value, mask)
        wide = self.linear(f"{layer}/intermediate", attended, f"{layer}.intermediate.dense")
        active = self.gelu(f"{layer}/gelu", wide)
        output = self.linear(f"{layer}/output", active, f"{layer}.output.dense")
        residual = self.node("Add", f"{layer}/output/residual", output, attended)
        return self.layer_norm(f"{layer}/output/norm", residual, f"{layer}.output.LayerNorm")

    def pool(self, value: str) -> str:
        """The mean over unmasked tokens, divided by its Euclidean length."""
        tiny = self.tensor("tiny", np.array(TINY, np.float32))
        last = self.tensor("axis_2", np.array([2], np.int64))
        tokens = self.tensor("axis_1", np.array([1], np.int64))
        wide = self.node("Unsqueeze", "pool_mask_3d", "attention_mask", last)
        mask = self.node("Cast", "pool_mask", wide, to=TensorProto.FLOAT)
        kept = self.node("Mul", "pool_kept", value, mask)
        total = self.node("ReduceSum", "pool_sum", kept, tokens, keepdims=0)
        number = self.node("ReduceSum", "pool_number", mask, tokens, keepdims=0)
        mean = self.node("Div", "pool_mean", total, self.node("Max", "pool_count", number, tiny))
        length = self.node("ReduceL2", "pool_length", mean, axes=[1], keepdims=1)
        divisor = self.node("Max", "pool_divisor", length, tiny)
        return self.node("Div", "sentence_embedding", mean, divisor)


def build(config: dict, weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    """The float model for a config.json and the tensors of model.safetensors."""
    encoder = Encoder(Shape.from_config(config), weights)
    value, mask = encoder.embeddings(), encoder.mask_bias()
    for index in range(encoder.shape.layers):
        value = encoder.layer(index, value, mask)
    encoder.pool(value)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
              for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT,
                                           ["batch", encoder.shape.dimension])
    graph = helper.make_graph(encoder.nodes, "sentence_encoder", inputs, [output],
                              list(encoder.initializers.values()))
    model = helper.make_model(graph, producer_name="pg_docsearch", ir_version=IR_VERSION,
                              opset_imports=[helper.make_opsetid("", OPSET)])
    onnx.checker.check_model(model, full_check=True)
    return model
