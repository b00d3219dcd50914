"""What filters match is what their grammar says of each document."""

import json
import random

from conftest import Database

FIELDS = ("category", "version", "kind")
NAMES = {*FIELDS, "platform", "platforms"} - {"version"}
# From old to new.
VERSIONS = ("nightly", "4.9", "4.10rc1", "4.10", "v4.11", "latest")
TEXTS = ("low", "Low", "LOW", "lOw", "Getting Started", "getting started", "ios", "iOS", "x.y|z", "", '"quoted" \\ $',
         *VERSIONS[1:-1], "2025-01-15", "2025-01-15T10:00:00Z", "2025-02")
SCALARS = (*TEXTS, *range(6), 1.5, 4.5, True, False, None)
KEYS = ("level", "levels", "platform", "since", 'a"b')
RANGES = ({"from": 2}, {"from": 1.5, "to": 3}, {"from": "4.9", "to": "4.10"}, {"from": "4.10"}, {"to": "2025-01"},
          {"from": "2025-01-15", "to": "2025-01-15"}, {"from": "a", "to": "lz", "not": "low"})


def is_scalar_equal(key: str, wanted: object, value: object) -> bool:
    """Texts of names are equal in any case, others as words."""
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted.lower() == value.lower() if key in NAMES else word(wanted) == word(value)
    return isinstance(wanted, bool) == isinstance(value, bool) and wanted == value


def word(text: str) -> str:
    small = text.lower()
    return small if text in {small, small.upper(), small.capitalize(), small.title()} else text


def is_within(key: str, bounds: dict, value: object) -> bool:
    first = bounds.get("from", bounds.get("to"))
    if isinstance(value, bool) or isinstance(value, str) != isinstance(first, str) or value is None:
        return False
    if not isinstance(first, str):
        return bounds.get("from", value) <= value <= bounds.get("to", value)
    if key == "version" or first in VERSIONS:
        if value not in VERSIONS:
            # A date is a version, too, and a newer one.
            return key != "version" and value[:5] == "2025-" and ":" not in value and "to" not in bounds
        place = VERSIONS.index
        return place(bounds.get("from", VERSIONS[0])) <= place(value) <= place(bounds.get("to", VERSIONS[-1]))
    if first.startswith("2025-"):
        to = bounds.get("to", value)
        return value.startswith("2025-") and bounds.get("from", "") <= value and (value <= to or value.startswith(to))
    return bounds.get("from", value) <= value <= bounds.get("to", value)


def holds(key: str, wanted: object, values: list) -> bool:
    """Whether the values of a key match what a filter has for it."""
    if isinstance(wanted, list):
        return any(holds(key, one, values) for one in wanted)
    if not isinstance(wanted, dict):
        return any(is_scalar_equal(key, wanted, value) for value in values)
    bounds = {bound: wanted[bound] for bound in ("from", "to") if bound in wanted}
    operators = {
        "any": lambda one: holds(key, one, values),
        "all": lambda all_of: all(holds(key, one, values) for one in all_of),
        "not": lambda one: not holds(key, one, values),
        "exists": lambda exists: any(value is not None for value in values) == exists,
        "prefix": lambda prefix: any(isinstance(value, str) and value.lower().startswith(prefix.lower())
                                     for value in values),
    }
    return (all(operators[operator](one) for operator, one in wanted.items() if operator in operators)
            and (not bounds or any(is_within(key, bounds, value) for value in values)))


def matches(filter: dict, document: dict) -> bool:
    for key, value in filter.items():
        if key in ("any", "all"):
            matched = [matches(one, document) for one in value]
            if not (any(matched) if key == "any" else all(matched)):
                return False
        elif key == "not":
            if matches(value, document):
                return False
        elif key in FIELDS:
            if not holds(key, value, [document.get(key)]):
                return False
        else:
            other = key.removesuffix("s") if key.endswith("s") else key + "s"
            of_keys = [document["metadata"][own] for own in (key, other) if own in document["metadata"]]
            values = [one for value in of_keys for one in (value if isinstance(value, list) else [value])]
            if not holds(key, value, values):
                return False
    return True


class Choices:
    """Random documents and filters."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def several(self, one, least: int = 1) -> list:
        return [one() for _ in range(self.random.randint(least, least + 2))]

    def scalar(self) -> object:
        return self.random.choice(SCALARS)

    def document(self, number: int) -> dict:
        metadata = {key: self.several(self.scalar, 0) if self.random.random() < .3 else self.scalar()
                    for key in KEYS if self.random.random() < .75}
        fields = {"category": ("Layout", "layout", "A/B", None), "version": (*VERSIONS, None),
                  "kind": ("guide", "Guide", "class", None)}
        return {"slug": f"p{number}", "title": f"Page {number}", "body": "Text.", "metadata": {**metadata, "id": number},
                **{key: self.random.choice(values) for key, values in fields.items()}}

    def value(self, key: str, depth: int) -> object:
        choice = self.random.randrange(3 if depth == 0 else 10)
        if choice < 3:
            return self.scalar()
        if choice == 3:
            return self.several(lambda: self.value(key, 0))
        if choice == 4:
            # No arrays inside arrays.
            return {"any": [one[0] if isinstance(one, list) else one for one in self.several(lambda: self.value(key, 1))]}
        if choice == 5:
            return {"all": self.several(lambda: self.value(key, 0))}
        if choice == 6:
            return {"not": self.value(key, depth - 1)}
        if choice == 7:
            return {"exists": self.random.random() < .5}
        if choice == 8:
            return {"prefix": self.random.choice(("l", "GET", "4.1", "x.", ""))}
        return {"from": "4.10"} if key == "version" else self.random.choice(RANGES)

    def filter(self, depth: int = 2) -> dict:
        filter = {}
        for _ in range(self.random.randint(1, 2)):
            if depth and self.random.random() < .25:
                operator = self.random.choice(("any", "all", "not"))
                filter[operator] = (self.filter(depth - 1) if operator == "not"
                                    else self.several(lambda: self.filter(depth - 1)))
            else:
                key = self.random.choice((*KEYS, "platforms", *FIELDS))
                filter[key] = self.value(key, 2)
        return filter


def test_a_filter_matches_what_its_grammar_says(database: Database):
    choices = Choices(17)
    documents = [choices.document(number) for number in range(60)]
    database.execute("SELECT docsearch.create_project('filtered')")
    database.index("filtered", *documents)
    selective = 0
    with database.connect() as connection:
        for _ in range(1_500):
            filter = choices.filter()
            expected = {str(number) for number, document in enumerate(documents) if matches(filter, document)}
            found = connection.execute("SELECT value FROM docsearch.facets(keys => '{id}', project => 'filtered', "
                                       "filter => %s::jsonb, max_values => 1000)", [json.dumps(filter)]).fetchall()
            assert {value for value, in found} == expected, filter
            selective += 0 < len(expected) < len(documents)
    assert selective > 500


def test_equality_uses_the_index_of_metadata(database: Database):
    database.execute("SELECT docsearch.create_project('indexed')")
    database.execute("""INSERT INTO docsearch.document (project_id, slug, title, body, content_hash, metadata)
        SELECT p.id, 'page-' || n, 'Page', 'Text', '', jsonb_build_object('level', 'v' || n, 'size', n)
        FROM docsearch.project p, generate_series(1, 3000) n WHERE p.name = 'indexed'""")
    database.execute("ANALYZE docsearch.document")
    plans: list[str] = []
    with database.connect() as connection:
        connection.add_notice_handler(lambda notice: plans.append(notice.message_primary))
        connection.execute("LOAD 'auto_explain'")
        for name, value in (("log_min_duration", "0"), ("log_nested_statements", "on"), ("log_level", "notice")):
            connection.execute(f"SET auto_explain.{name} = '{value}'")
        for filter in ({"level": "v7"}, {"level": ["v7", 7]}, {"level": {"all": ["v7", "v8"]}, "size": {"from": 1}},
                       {"any": [{"level": "V7"}, {"size": 7}]}, {"level": {"from": "v7", "to": "v9"}}):
            plans.clear()
            connection.execute("SELECT docsearch.count_docs(project => 'indexed', filter => %s::jsonb)",
                               [json.dumps(filter)])
            counting = [plan for plan in plans if "SELECT count(*)" in plan]
            assert len(counting) == 1 and "document_metadata" in counting[0], (filter, counting)
