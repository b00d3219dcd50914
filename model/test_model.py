"""What the default model must satisfy.

The directories come in the environment, as `make test-model` sets it:
DOCSEARCH_TEST_MODEL, DOCSEARCH_TEST_MODEL_FLOAT and DOCSEARCH_TEST_WEIGHTS.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

# Read when the library is loaded; without it the library reports its use to its vendor.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from reference import Reference

INT8 = Path(os.environ["DOCSEARCH_TEST_MODEL"])
FLOAT = Path(os.environ["DOCSEARCH_TEST_MODEL_FLOAT"])
WEIGHTS = Path(os.environ["DOCSEARCH_TEST_WEIGHTS"])
BUILD = Path(__file__).with_name("build.py")
PAGES = Path(__file__).parent.parent / "examples" / "swiftui"
TEXTS = [
    "",
    "Button",
    "How do I show an image while another one is loading?",
    "naïve café 日本語 — std::vector<int>& operator[](size_t)",
    "pg_trgm.similarity_threshold (real)\n" * 40,
]


class Model:
    """A model directory, run as its files say: one text a run."""

    def __init__(self, directory: Path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            directory / "onnx" / "model.onnx", options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        settings = json.loads((directory / "sentence_bert_config.json").read_text("utf-8"))
        self.tokenizer.enable_truncation(settings["max_seq_length"])

    def ids(self, text: str) -> list[int]:
        """Token ids, special tokens included."""
        return self.tokenizer.encode(text).ids

    def run(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """The vectors of a batch."""
        return self.session.run(None, {"input_ids": ids, "attention_mask": mask})[0]

    def embed(self, text: str) -> np.ndarray:
        """The vector of one text."""
        ids = np.array([self.ids(text)])
        return self.run(ids, np.ones_like(ids))[0]


@pytest.fixture(scope="module")
def int8() -> Model:
    return Model(INT8)


@pytest.fixture(scope="module")
def floats() -> Model:
    return Model(FLOAT)


def quantised_weights() -> dict[str, np.ndarray]:
    """The right-hand sides of the integer matrix products of the shipped model."""
    graph = onnx.load(INT8 / "onnx" / "model.onnx").graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    return {node.input[1]: numpy_helper.to_array(tensors[node.input[1]])
            for node in graph.node if node.op_type == "MatMulInteger"}


def test_float_model_is_the_published_network(floats: Model) -> None:
    reference = Reference(WEIGHTS)
    for text in TEXTS:
        difference = np.abs(floats.embed(text) - reference.embed(floats.ids(text))).max()
        assert difference < 1e-4, text


def test_masked_tokens_do_not_count(floats: Model) -> None:
    ids = np.array([floats.ids("Button")])
    padded = np.pad(ids, ((0, 0), (0, 29)), constant_values=1000)
    mask = np.pad(np.ones_like(ids), ((0, 0), (0, 29)))
    assert np.abs(floats.run(padded, mask)[0] - floats.embed("Button")).max() < 1e-5


def test_vectors_have_length_one(int8: Model) -> None:
    for text in TEXTS:
        assert np.linalg.norm(int8.embed(text)) == pytest.approx(1, abs=1e-5)


def test_tokenizer_cuts_at_the_length_of_the_model_only() -> None:
    tokenizer = Tokenizer.from_file(str(INT8 / "tokenizer.json"))
    assert len(tokenizer.encode("word " * 1000).ids) == 1002
    assert len(tokenizer.encode("word").ids) == 3


def pages() -> list[tuple[str, str]]:
    """Title and text (without title and front matter) of the example pages."""
    found = []
    for path in sorted(PAGES.rglob("*.md")):
        _, matter, body = path.read_text("utf-8").split("---\n", 2)
        title = next(line.removeprefix("title:").strip(" \"'") for line in matter.splitlines()
                     if line.startswith("title:"))
        text = "\n".join(line for line in body.splitlines() if not line.startswith("# "))
        found.append((title, text.strip()))
    return found


def test_int8_model_finds_what_the_float_model_finds(int8: Model, floats: Model) -> None:
    titles, texts = zip(*pages())
    assert len(titles) >= 60
    hits, vectors = {}, {}
    for name, model in (("int8", int8), ("float", floats)):
        queries = np.array([model.embed(title) for title in titles])
        passages = np.array([model.embed(text) for text in texts])
        first = (queries @ passages.T).argmax(axis=1)
        hits[name] = (first == np.arange(len(titles))).mean()
        vectors[name] = np.concatenate([queries, passages])
    cosines = (vectors["int8"] * vectors["float"]).sum(axis=1)
    print(f"P@1 {hits}, cosine mean {cosines.mean():.4f} least {cosines.min():.4f}")
    assert hits["float"] > 0.5
    assert hits["int8"] >= hits["float"] - 0.05
    assert cosines.mean() > 0.985


def test_weights_leave_room_for_two_products_in_16_bits() -> None:
    weights = quantised_weights()
    assert len(weights) == 36
    largest = max(np.abs(weight.astype(np.int32)).max() for weight in weights.values())
    # Processors without VNNI multiply u8 by s8 and add two neighbours in 16 bits.
    assert 2 * 255 * largest <= np.iinfo(np.int16).max


def test_integer_products_are_exact_on_this_processor() -> None:
    random = np.random.default_rng(1)
    for name, weight in quantised_weights().items():
        rows = [np.full(weight.shape[0], 255), random.integers(0, 256, weight.shape[0]),
                # The worst case for one column: full where its weights are positive.
                np.where(weight[:, 0] > 0, 255, 0)]
        left = np.array(rows, np.uint8)
        exact = left.astype(np.int64) @ weight.astype(np.int64)
        assert np.array_equal(integer_product(left, weight), exact), name


def integer_product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """u8 times s8 as ONNX Runtime computes it."""
    node = helper.make_node("MatMulInteger", ["left", "right"], ["product"])
    graph = helper.make_graph(
        [node], "product",
        [helper.make_tensor_value_info("left", TensorProto.UINT8, list(left.shape))],
        [helper.make_tensor_value_info("product", TensorProto.INT32, None)],
        [numpy_helper.from_array(right, "right")])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, {"left": left})[0]


def run_build(source: Path, target: Path) -> subprocess.CompletedProcess:
    """Runs the builder as the tool chain does."""
    return subprocess.run([sys.executable, BUILD, source, target], capture_output=True, text=True)


def test_build_gives_the_same_bytes_again(tmp_path: Path) -> None:
    assert run_build(WEIGHTS, tmp_path).returncode == 0
    for directory in (INT8, FLOAT):
        files = [path for path in directory.rglob("*") if path.is_file()]
        assert len(files) == 12
        for path in files:
            built = tmp_path / directory.name / path.relative_to(directory)
            assert built.read_bytes() == path.read_bytes(), path


def test_the_card_states_the_licence_by_its_short_name() -> None:
    for directory in (INT8, FLOAT):
        assert (directory / "README.md").read_text("utf-8").startswith("---\nlicense: Apache-2.0\n---\n")


def test_build_refuses_other_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    done = run_build(tmp_path, tmp_path / "out")
    assert done.returncode != 0
    assert "SHA-256" in done.stderr
    assert not (tmp_path / "out").exists()
