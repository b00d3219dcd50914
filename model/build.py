#!/usr/bin/env python3
"""Builds the default model from the published weights: build.py SOURCE TARGET.

SOURCE is a sentence-transformers directory with `model.safetensors`. In TARGET
two directories of the same layout appear: all-MiniLM-L6-v2 (int8, what the
extension ships) and all-MiniLM-L6-v2-float. The output is the same to the bit
for the same inputs and package versions.
"""

import argparse
import hashlib
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path

# Read when the library is loaded; without it the library reports its use to its vendor.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

import bert

NAME = "all-MiniLM-L6-v2"
ORIGIN = f"sentence-transformers/{NAME}"
# The digest of the official model.safetensors.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
COPIED = ("config.json", "modules.json", "1_Pooling/config.json", "sentence_bert_config.json",
          "config_sentence_transformers.json", "special_tokens_map.json",
          "tokenizer_config.json", "vocab.txt")
QUANTISATION = {
    "int8": "dynamic int8, 7-bit weights with one scale per output column",
    "float": "none (float32)",
}


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def quantise(source: Path, target: Path) -> None:
    """Writes the int8 model.

    `reduce_range` keeps the weights in 7 bits: the u8 x s8 kernels of processors
    without VNNI add two products in 16 bits and would saturate with 8.
    """
    # Its advice to optimise the graph first does not apply: the graph is plain already.
    logging.disable(logging.WARNING)
    quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True,
                     reduce_range=True)


def write_tokenizer(source: Path, target: Path) -> None:
    """Copies tokenizer.json without its own truncation and padding.

    The published file cuts and pads every text to 128 tokens, a leftover from
    training. The model's length is `max_seq_length` in sentence_bert_config.json,
    and who runs the model applies it.
    """
    tokenizer = json.loads(source.read_text("utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    target.write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")


def readme(kind: str, files: dict[str, str]) -> str:
    """Where the model comes from and what its files are."""
    digests = "\n".join(f"    {digest}  {name}" for name, digest in files.items())
    return f"""---
license: Apache-2.0
---

# {NAME}

The model {ORIGIN} (Apache-2.0, see LICENSE), changed in form only:

- `onnx/model.onnx` is built from `model.safetensors` (SHA-256 {WEIGHTS_SHA256})
  by `model/build.py` of pg_docsearch. Inputs `input_ids` and `attention_mask`
  (int64 [batch, sequence]), output `sentence_embedding` (float [batch, 384]);
  mean pooling and L2 normalisation are part of the graph.
- Quantisation: {QUANTISATION[kind]}.
- `tokenizer.json` has its truncation and padding (to 128 tokens) removed;
  `max_seq_length` in `sentence_bert_config.json` is the length that holds.

Made with onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}. SHA-256:

{digests}
"""


def write_directory(source: Path, target: Path, kind: str, model: Path) -> None:
    """Lays a model out as sentence-transformers does."""
    for name in COPIED:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)
    (target / "onnx").mkdir()
    shutil.copyfile(model, target / "onnx" / "model.onnx")
    write_tokenizer(source / "tokenizer.json", target / "tokenizer.json")
    shutil.copyfile(Path(__file__).with_name("LICENSE-model"), target / "LICENSE")
    files = {name: sha256(target / name) for name in ("onnx/model.onnx", "tokenizer.json")}
    (target / "README.md").write_text(readme(kind, files), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="directory with model.safetensors")
    parser.add_argument("target", type=Path, help="directory that gets the two models")
    options = parser.parse_args()
    weights = options.source / "model.safetensors"
    if (digest := sha256(weights)) != WEIGHTS_SHA256:
        raise SystemExit(f"{weights}: SHA-256 is {digest}, not {WEIGHTS_SHA256}")
    config = json.loads((options.source / "config.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as directory:
        floats, int8 = Path(directory, "float.onnx"), Path(directory, "int8.onnx")
        onnx.save(bert.build(config, load_file(weights)), floats)
        quantise(floats, int8)
        write_directory(options.source, options.target / NAME, "int8", int8)
        write_directory(options.source, options.target / f"{NAME}-float", "float", floats)


if __name__ == "__main__":
    main()
