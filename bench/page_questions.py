"""Questions that pages of the sets of bench/questions.py answer.

bench/questions/pages/SET.jsonl has questions for each page, written by language models that read the page and no
question of bench/questions. They are stored once, and a search can ignore them.
"""

import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "questions" / "pages"
# Weights that ignore questions of pages.
LEFT_OUT = {"weight_question": 0, "question_word_share": 0, "question_vector_share": 0, "question_allowance": 0}


def store(program: Path, url: str, name: str) -> None:
    """Stores the questions for a set's pages, if there are any."""
    path = FOLDER / f"{name}.jsonl"
    if path.is_file():
        print(f"{name}: ", end="", flush=True)
        done = subprocess.run([program, "--url", url, "questions", "import", f"questions_{name}", path])
        if done.returncode not in (0, 1):
            raise SystemExit(f"{program} ended with status {done.returncode}")
