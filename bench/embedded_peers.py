"""Systems that run inside the process of an application, as bench/peers.py compares them with databases.

Each is used as its own documentation says for a corpus of this size, and embeds queries with the model of the other
systems. What has words and vectors fuses both with reciprocal rank fusion; the others have one of them.
"""

import datetime
import importlib.metadata
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

# Chroma reports its use to its vendor otherwise.
os.environ["ANONYMIZED_TELEMETRY"] = "False"

import apsw
import chromadb
import lancedb
import numpy
import pyarrow
import qdrant_client
import sqlite_vec
import tantivy
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from qdrant_client import models as qdrant

from peer_model import FUSION, LIST, RESULTS, Model, passage

# Documents that are added at once.
BATCH = 1_000


@dataclass
class Embedded:
    """A system in this process, with files below a folder of its own."""

    folder: Path
    packages: tuple[str, ...]
    # What it searches.
    evidence: str

    def create(self) -> None:
        """Makes an empty folder."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def open(self, threads: int) -> "Embedded":
        """Opens the model with `threads` threads, and what was loaded."""
        self.model = Model(threads)
        self.known: dict[str, numpy.ndarray] = {}
        self.connect()
        return self

    def connect(self) -> None:
        """Opens what was loaded, if anything was."""
        raise NotImplementedError

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        """Stores and indexes documents with their vectors as a collection."""
        raise NotImplementedError

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        """The slugs of the results, the best first. Texts and titles of results are read, too."""
        raise NotImplementedError

    def search(self, text: str) -> list[str]:
        """The slugs of the results, the best first."""
        self.known[text] = self.model.embed(text)
        return self.search_again(text)

    def search_again(self, text: str) -> list[str]:
        """The same for a text whose vector is known."""
        return self.find(text, self.known[text])

    def recall(self, texts: list[str]) -> float | None:
        """The share of the nearest documents that the search of vectors finds; None without vectors."""
        return 1.0 if self.evidence != "words" else None

    def searching_milliseconds(self) -> float:
        """Processor time of this process."""
        return time.process_time() * 1000

    def embedding_milliseconds(self) -> float:
        """Zero: the model runs in this process."""
        return 0

    def cached(self) -> int:
        return 0

    def forget(self) -> None:
        """Does nothing, since there is no cache."""

    def close(self) -> None:
        """Closes what was opened, if necessary."""

    def contents(self) -> tuple[int, int, int]:
        """Rows that have a vector, rows of documents, and bytes."""
        rows, size = self.count(), sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        return rows if self.evidence != "words" else 0, rows, size

    def count(self) -> int:
        """Documents of the first collection."""
        raise NotImplementedError

    def versions(self) -> str:
        """The packages with their versions."""
        return ", ".join(f"{package} {importlib.metadata.version(package)}" for package in self.packages)


def batches(documents: list[dict], vectors: list[numpy.ndarray]):
    """Documents and their vectors, some at a time, each with the number of the first."""
    for first in range(0, len(documents), BATCH):
        yield first, documents[first:first + BATCH], numpy.array(vectors[first:first + BATCH], dtype="float32")


class Lance(Embedded):
    """LanceDB: hybrid search with its index of words. Vectors are compared one by one: its documentation asks for an
    index from 100,000 on."""

    name = "LanceDB"

    def connect(self) -> None:
        database = lancedb.connect(self.folder)
        self.table = database.open_table("doc_0") if "doc_0" in database.list_tables().tables else None

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        flat = pyarrow.array(numpy.array(vectors, dtype="float32").ravel())
        table = lancedb.connect(self.folder).create_table(f"doc_{project}", data=pyarrow.table({
            "slug": [document["_id"] for document in documents], "title": [document.get("title") or "" for document in documents],
            "body": [passage(document) for document in documents],
            "vector": pyarrow.FixedSizeListArray.from_arrays(flat, len(vectors[0]))}))
        table.create_index("body", config=FTS(), wait_timeout=datetime.timedelta(hours=1))

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        query = self.table.search(query_type="hybrid").vector(vector).text(text).distance_type("cosine")
        return query.rerank(RRFReranker()).limit(RESULTS).to_arrow()["slug"].to_pylist()

    def count(self) -> int:
        return self.table.count_rows()


class Chroma(Embedded):
    """Chroma: vectors alone, as its search of words with ranks is not part of the open-source server."""

    name = "Chroma"

    def connect(self) -> None:
        self.client = chromadb.PersistentClient(path=str(self.folder))
        self.collection = self.stored(0)

    def stored(self, project: int) -> chromadb.Collection:
        """The collection of a project, made if it is not there."""
        return self.client.get_or_create_collection(
            f"doc_{project}", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        collection = self.stored(project)
        for _, some, their in batches(documents, vectors):
            collection.add(ids=[document["_id"] for document in some], embeddings=their,
                           documents=[passage(document) for document in some],
                           metadatas=[{"title": document.get("title") or "-"} for document in some])

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        return self.collection.query(query_embeddings=[vector], n_results=RESULTS, include=["documents", "metadatas"])["ids"][0]

    def count(self) -> int:
        return self.collection.count()

    def recall(self, texts: list[str]) -> float:
        stored = self.collection.get(include=["embeddings"])
        vectors, names = numpy.array(stored["embeddings"]), numpy.array(stored["ids"])
        found = 0
        for text in texts:
            vector = self.model.embed(text)
            nearest = set(names[numpy.argsort(-(vectors @ vector))[:LIST]])
            found += len(nearest & set(self.collection.query(query_embeddings=[vector], n_results=LIST)["ids"][0]))
        return found / (LIST * len(texts))


class Sqlite(Embedded):
    """sqlite-vec with FTS5, fused in one statement."""

    name = "sqlite-vec"
    SEARCH = f"""
        WITH vectors AS (SELECT rowid, row_number() OVER (ORDER BY distance) AS place FROM vector_0
                         WHERE embedding MATCH ? AND k = {LIST}),
            words AS (SELECT rowid, row_number() OVER (ORDER BY rank) AS place FROM words_0
                      WHERE words_0 MATCH ? ORDER BY rank LIMIT {LIST}),
            fused AS (SELECT rowid, sum(1.0 / ({FUSION} + place)) AS score
                      FROM (SELECT * FROM vectors UNION ALL SELECT * FROM words) GROUP BY rowid ORDER BY score DESC LIMIT {RESULTS})
        SELECT d.slug, d.title, substr(d.body, 1, 300), f.score FROM fused f JOIN doc_0 d ON d.id = f.rowid ORDER BY f.score DESC"""

    def connect(self) -> None:
        self.connection = apsw.Connection(str(self.folder / "peer.db"))
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.execute("PRAGMA journal_mode = wal")

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        run = self.connection.execute
        run(f"CREATE TABLE doc_{project} (id INTEGER PRIMARY KEY, slug TEXT, title TEXT, body TEXT)")
        run(f"CREATE VIRTUAL TABLE vector_{project} USING vec0 (embedding float[{len(vectors[0])}] distance_metric=cosine)")
        run(f"CREATE VIRTUAL TABLE words_{project} USING fts5 (body, content = 'doc_{project}', content_rowid = 'id', tokenize = 'porter')")
        for first, some, their in batches(documents, vectors):
            with self.connection:
                rows = [(first + place, document["_id"], document.get("title") or "", passage(document)) for place, document in enumerate(some)]
                self.connection.executemany(f"INSERT INTO doc_{project} VALUES (?, ?, ?, ?)", rows)
                self.connection.executemany(f"INSERT INTO words_{project} (rowid, body) VALUES (?, ?)", [(row[0], row[3]) for row in rows])
                self.connection.executemany(f"INSERT INTO vector_{project} (rowid, embedding) VALUES (?, ?)",
                                            [(row[0], vector.tobytes()) for row, vector in zip(rows, their)])
        run(f"INSERT INTO words_{project} (words_{project}) VALUES ('optimize')")

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text)) or '""'
        return [row[0] for row in self.connection.execute(self.SEARCH, (vector.astype("float32").tobytes(), words))]

    def close(self) -> None:
        self.connection.close()

    def count(self) -> int:
        return next(self.connection.execute("SELECT count(*) FROM doc_0"))[0]


class Tantivy(Embedded):
    """Tantivy: words alone."""

    name = "Tantivy"

    def connect(self) -> None:
        path = self.folder / "doc_0"
        self.index = tantivy.Index.open(str(path)) if path.is_dir() else None
        self.searcher = self.index.searcher() if self.index else None

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        fields = tantivy.SchemaBuilder().add_text_field("slug", stored=True, tokenizer_name="raw")
        fields = fields.add_text_field("title", stored=True, tokenizer_name="en_stem")
        schema = fields.add_text_field("body", stored=True, tokenizer_name="en_stem").build()
        path = self.folder / f"doc_{project}"
        path.mkdir()
        writer = tantivy.Index(schema, path=str(path)).writer()
        for document in documents:
            writer.add_document(tantivy.Document(slug=document["_id"], title=document.get("title") or "", body=passage(document)))
        writer.commit()
        writer.wait_merging_threads()

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        query, _ = self.index.parse_query_lenient(" ".join(re.findall(r"\w+", text)), ["body"])
        found = [self.searcher.doc(address) for _, address in self.searcher.search(query, RESULTS, count=False).hits]
        return [document.get_first("slug") for document in found]

    def search(self, text: str) -> list[str]:
        """Needs no vector."""
        self.known[text] = numpy.zeros(0)
        return self.search_again(text)

    def count(self) -> int:
        return self.searcher.num_docs


class Qdrant(Embedded):
    """Qdrant's local mode: vectors alone, as the model of its words is fetched from elsewhere."""

    name = "Qdrant local"

    def connect(self) -> None:
        self.client = qdrant_client.QdrantClient(path=str(self.folder))

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        name = f"doc_{project}"
        self.client.create_collection(name, vectors_config=qdrant.VectorParams(size=len(vectors[0]), distance=qdrant.Distance.COSINE))
        self.client.upload_collection(
            name, vectors=numpy.array(vectors, dtype="float32"), ids=range(len(documents)),
            payload=[{"slug": document["_id"], "title": document.get("title") or "", "body": passage(document)} for document in documents])

    def find(self, text: str, vector: numpy.ndarray) -> list[str]:
        found = self.client.query_points("doc_0", query=vector, limit=RESULTS, with_payload=True)
        return [point.payload["slug"] for point in found.points]

    def close(self) -> None:
        self.client.close()

    def count(self) -> int:
        return self.client.count("doc_0").count


def all_of(folder: Path) -> list[Embedded]:
    """Every system, each with a folder below this one."""
    return [Lance(folder / "lance", ("lancedb",), "words and vectors"),
            Sqlite(folder / "sqlite", ("sqlite-vec", "apsw"), "words and vectors"),
            Chroma(folder / "chroma", ("chromadb",), "vectors"),
            Qdrant(folder / "qdrant", ("qdrant-client",), "vectors"),
            Tantivy(folder / "tantivy", ("tantivy",), "words")]
