"""The quality of answers by examples/judgments/intent, measured with `docsearch eval`."""

import gzip
import json
from pathlib import Path

from conftest import Database
from test_folder import docsearch

JUDGMENTS = Path(__file__).resolve().parent.parent / "examples" / "judgments" / "intent"
LEAST_RIGHT, LEAST_GAIN = 0.92, 0.15


def evaluated(database: Database, report: Path) -> dict:
    """The report."""
    done = docsearch("eval", JUDGMENTS, "--report", report, conninfo=database.conninfo)
    assert done.returncode == 0, done.stderr
    return json.loads(report.read_text())


def test_s2_13_the_page_that_does_the_task_is_first_for_any_verb(database, tmp_path):
    with_rules = evaluated(database, tmp_path / "with.json")
    assert with_rules["overall"]["p1"] >= LEAST_RIGHT
    for table in ("action", "action_synonym"):
        database.execute(f"UPDATE docsearch.{table} SET enabled = false")
    without = evaluated(database, tmp_path / "without.json")
    gain = with_rules["groups"]["indirect"]["p1"] - without["groups"]["indirect"]["p1"]
    assert gain >= LEAST_GAIN


def test_a_set_in_the_layout_of_beir_is_evaluated_as_it_is(database, tmp_path):
    """Published sets have compressed files, ids of any kind, no titles, several splits, and lines that are repeated."""
    documents = [
        {"_id": 7, "text": ["Glaze melts.", {"more": "It becomes glass on the pot."}], "metadata": None},
        {"_id": "docs/kiln a.ipynb_0_2000", "title": None, "text": "A kiln is an oven for clay."},
        {"_id": "docs/C#/shelf", "title": "Shelf", "text": "A shelf holds pots in the oven.", "metadata": {}},
        {"_id": "docs/C#/shelf", "title": "Shelf", "text": "A shelf holds pots in the oven.", "metadata": {}}]
    queries = [{"_id": 1, "text": "what becomes glass?"}, {"_id": "q2", "text": "oven for clay", "metadata": {}},
               {"_id": "q3", "text": "holds pots"}, {"_id": "train", "text": "never judged here"}]
    lines = ["query-id\tcorpus-id\tscore", "1\t7\t1", "q2\tdocs/kiln a.ipynb_0_2000\t1.0", "q2\t7\t0", "q3\tdocs/C#/shelf\t2"]
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(document) + "\r\n" for document in documents)
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("\n".join(lines))
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\ntrain\t7\n")
    report = tmp_path / "report.json"
    for judgments, number in ([], 3), (["--qrels", "qrels/dev.tsv"], 1):
        done = docsearch("eval", tmp_path, "--project", "beir", "--report", report, *judgments, conninfo=database.conninfo)
        assert done.returncode == 0, done.stderr
        assert "not in the corpus" not in done.stderr
        overall = json.loads(report.read_text())["overall"]
        assert overall["queries"] == number
        if not judgments:
            assert overall["p1"] == 1
    assert database.execute("SELECT count(*) FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
                            "WHERE p.name = 'beir'") == [(3,)]
