"""An OpenAI-compatible server on the loopback interface."""

import hashlib
import json
import math
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

DIMENSION = 64
Reaction = tuple[int, dict[str, str], object]


def embedding(text: str, dimension: int = DIMENSION) -> list[float]:
    """A vector by the trigrams of letters: texts that share words are near."""
    vector = [0.0] * dimension
    padded = f"  {text.lower()}  "
    for start in range(len(padded) - 2):
        digest = hashlib.sha256(padded[start:start + 3].encode()).digest()
        vector[digest[0] % dimension] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]


@dataclass
class Endpoint:
    """Records requests. `react` returns the response to a request, or None to hang until the client
    disconnects, which sets `left`."""

    url: str
    requests: list[dict] = field(default_factory=list)
    react: Callable[[str, dict], Reaction | None] | None = None
    left: Event = field(default_factory=Event)

    def texts(self) -> list[str]:
        """All texts of embedding requests."""
        return [text for body in self.requests for text in body.get("input", [])]

    def answer(self, path: str, body: dict) -> Reaction | None:
        self.requests.append(body)
        if self.react:
            return self.react(path, body)
        return works(path, body)


def works(path: str, body: dict) -> Reaction:
    """The answer of a working server."""
    if path.endswith("/chat/completions"):
        return 200, {}, {"choices": [{"message": {"role": "assistant", "content": "ready"}}]}
    dimension = body.get("dimensions", DIMENSION)
    data = [{"index": index, "embedding": embedding(text, dimension)} for index, text in enumerate(body["input"])]
    return 200, {}, {"data": data}


def fails(status: int, words: str = "no") -> Callable[[str, dict], Reaction]:
    """A server that answers everything with a status."""
    return lambda path, body: (status, {}, {"error": {"message": words}})


def hangs(path: str, body: dict) -> None:
    """An interface that never answers."""


@contextmanager
def serve() -> Iterator[Endpoint]:
    """Runs a server that works until `react` is replaced."""
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reaction = endpoint.answer(self.path, body)
            if reaction is None:
                select.select([self.connection], [], [])
                endpoint.left.set()
                self.close_connection = True
                return
            status, headers, answer = reaction
            content = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
