"""Documents made of the sections of real ones, in any number, with vectors that belong to their texts.

The first documents are the real ones. Each further one has the headings of a real document. A section has most sentences of
its own and some of a section that is near by its vector, in another document, and its vector is the same mixture, moved a
little as the changed words would move it. Rare words get a syllable of their own in each copy, so that names stay rare and the
vocabulary grows as in real documentation. `bench/scale.py --agree` compares texts made like this, embedded by the model, with
these vectors.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import psycopg

# Near sections of each section, from which one is chosen.
NEAR = 32
# Share of the sentences that come from the near section.
LEAST_MIXED, MOST_MIXED = 0.2, 0.5
# How far a vector is moved, as the length of a random vector that is added to it. With .62 the nearest of 2,000 vectors had a
# similarity of .61, those of the embedded texts .76, and real ones .74.
MOVED = 0.32
# A word in at most this many documents is rare.
RARE = 3
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}")
SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n+")
SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "ai", "or", "en")]


@dataclass
class Section:
    """A section of a real document."""

    document: int
    heading: tuple[str, ...]
    body: str
    vector: numpy.ndarray


@dataclass
class Made:
    """A document, and for each heading the vectors of its sections in order."""

    document: dict
    vectors: dict[str, list[numpy.ndarray]]


class Corpus:
    """The real documents of some projects, and what is made of them."""

    def __init__(self, connection: psycopg.Connection, projects: list[str]):
        self.titles: list[str] = []
        self.slugs: list[str] = []
        self.sections: list[Section] = []
        self.of_document: list[list[int]] = []
        self.read(connection, projects)
        self.near = nearest(numpy.array([section.vector for section in self.sections]),
                            numpy.array([section.document for section in self.sections]), NEAR)
        found: Counter[str] = Counter()
        for sections in self.of_document:
            found.update({word for section in sections for word in WORD.findall(self.sections[section].body)})
        self.rare = {word for word, documents in found.items() if documents <= RARE}

    def read(self, connection: psycopg.Connection, projects: list[str]) -> None:
        """Reads documents and sections that have a vector."""
        for project in projects:
            row = connection.execute("SELECT id, model_id FROM docsearch.project WHERE name = %s", (project,)).fetchone()
            if row is None:
                raise SystemExit(f"project {project} does not exist on the development server: run make demo")
            rows = connection.execute(
                f"SELECT d.slug, d.title, c.heading_path, c.body, v.embedding::real[] FROM docsearch.document d "
                f"JOIN docsearch.chunk c ON c.project_id = d.project_id AND c.document_id = d.id "
                f"JOIN docsearch.vector_{row[1]} v ON v.project_id = c.project_id AND v.document_id = c.document_id "
                f"AND v.chunk_no = c.chunk_no WHERE d.project_id = %s AND c.kind = 'body' AND c.body <> '' "
                f"ORDER BY d.id, c.chunk_no", (row[0],))
            last = None
            for slug, title, heading, body, vector in rows:
                if slug != last:
                    self.titles.append(title)
                    self.slugs.append(f"{project}/{slug}")
                    self.of_document.append([])
                    last = slug
                self.of_document[-1].append(len(self.sections))
                self.sections.append(Section(len(self.titles) - 1, tuple(heading), body, numpy.array(vector, dtype="float32")))

    def made(self, first: int = 0) -> Iterator[Made]:
        """Documents without end, from a number on."""
        number = first
        while True:
            yield self.document(number)
            number += 1

    def document(self, number: int) -> Made:
        """The document with this number, the same whenever it is made."""
        copy, real = divmod(number, len(self.titles))
        draw = random.Random(number)
        noise = numpy.random.default_rng(number)
        syllable = "".join(SYLLABLES[copy // len(SYLLABLES) ** place % len(SYLLABLES)] for place in range(2))
        renamed = (lambda text: self.renamed(text, syllable)) if copy else str
        body, heading = [], ()
        vectors: dict[str, list[numpy.ndarray]] = defaultdict(list)
        for place in self.of_document[real]:
            section = self.sections[place]
            text, vector = (section.body, section.vector) if not copy else self.mixture(place, draw, noise)
            if section.heading and section.heading != heading:
                body.append(f"{'#' * min(len(section.heading) + 1, 6)} {renamed(section.heading[-1])}")
            heading = section.heading
            body.append(renamed(text))
            vectors[renamed(heading[-1]) if heading else ""].append(vector)
        document = {"slug": f"{self.slugs[real]}/{copy}" if copy else self.slugs[real],
                    "title": renamed(self.titles[real]), "body": "\n\n".join(body)}
        return Made(document, vectors)

    def renamed(self, text: str, syllable: str) -> str:
        """The text with a syllable at the end of its rare words."""
        def name(match: re.Match) -> str:
            word = match[0]
            if word not in self.rare:
                return word
            return word + (f"_{syllable}" if "_" in word else syllable.capitalize() if not word.islower() else syllable)
        return WORD.sub(name, text)

    def mixture(self, place: int, draw: random.Random, noise: numpy.random.Generator) -> tuple[str, numpy.ndarray]:
        """A text and a vector between a section and one near to it."""
        section, other = self.sections[place], self.sections[draw.choice(self.near[place])]
        share = draw.uniform(LEAST_MIXED, MOST_MIXED)
        sentences, others = SENTENCE.split(section.body), SENTENCE.split(other.body)
        taken = iter(others[draw.randrange(len(others)):] + others)
        mixed = [next(taken, sentence) if draw.random() < share else sentence for sentence in sentences]
        moved = noise.standard_normal(len(section.vector)).astype("float32")
        vector = (1 - share) * section.vector + share * other.vector
        vector = unit(vector) + MOVED * moved / numpy.linalg.norm(moved)
        return "\n".join(mixed), unit(vector)


def unit(vector: numpy.ndarray) -> numpy.ndarray:
    """The vector with length 1."""
    return vector / numpy.linalg.norm(vector)


def nearest(vectors: numpy.ndarray, groups: numpy.ndarray, count: int) -> numpy.ndarray:
    """For each vector, the places of the nearest ones that are not of its group."""
    found = []
    for first in range(0, len(vectors), 1_000):
        similarity = vectors[first:first + 1_000] @ vectors.T
        similarity[groups[first:first + 1_000, None] == groups[None, :]] = -2
        found.append(numpy.argpartition(-similarity, count, axis=1)[:, :count])
    return numpy.concatenate(found)
