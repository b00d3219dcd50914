"""The model that all compared systems share, and what of a document they index."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

# Read when the library is loaded. Without it the library reports its use to its vendor.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy
import onnxruntime
from tokenizers import Tokenizer

import toolchain

RESULTS = 10
# Length of an application's two lists, and the constant of reciprocal rank fusion.
LIST, FUSION = 40, 60


class Model:
    """The extension's model file in an application's process."""

    def __init__(self, threads: int):
        directory = toolchain.model()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        # Spinning threads would count as processor time.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(
            directory / "onnx" / "model.onnx", options, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.no_padding()
        settings = json.loads((directory / "sentence_bert_config.json").read_text("utf-8"))
        self.tokenizer.enable_truncation(settings["max_seq_length"])

    def embed(self, text: str) -> numpy.ndarray:
        ids = numpy.array([self.tokenizer.encode(text).ids])
        return self.session.run(None, {"input_ids": ids, "attention_mask": numpy.ones_like(ids)})[0][0]


def passage(document: dict) -> str:
    """The text of a document that an application embeds and indexes."""
    return f"{document.get('title') or ''}\n{document['text']}"


def embed_passages(documents: list[dict]) -> dict[str, numpy.ndarray]:
    """The vector of every document, computed on all cores."""
    model = Model(1)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        vectors = pool.map(lambda document: model.embed(passage(document)), documents)
        return {document["_id"]: vector for document, vector in zip(documents, vectors)}
