"""The server of the page: its files, five questions, and what is refused before a question is looked at.

Only this machine may ask: the Host header names an address that was bound, a write comes from the page itself and is
JSON of limited size, and no path of a request is ever a path of a file. Answers run in two threads, groupings in one.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from hflbounds.extras import install
from planner.errors import NoAnswerError, PlannerError, ScenarioError
from planner.io.json_documents import levels
from planner.serve import answer, controls, counts, scenario

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

Send = Callable[[Mapping[str, Any]], Any]

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
THREADS: Final = 2
WAITING: Final = 64  # questions that wait for a thread; more are asked to come again
DEPTH: Final = 12  # of nested JSON
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
EXAMPLE: Final = {"fleet": {"tiers": [{"name": "group", "count": 10}, {"name": "client", "count": 10}]}}


def application(hosts: tuple[str, ...] = LOOPBACK) -> Starlette:
    """Make the application, for the names that the Host header may have, without the port.

    Raises:
        NoAnswerError: If starlette or uvicorn is not installed.
    """
    try:
        import uvicorn  # noqa: F401 - to say so before a port is bound
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Route
    except ImportError:
        raise NoAnswerError(
            f"the page needs starlette and uvicorn, which are not installed.\nInstall them: {install('web')}",
            code="N004",
        ) from None

    routes = [Route(path, partial(_file, *found)) for path, found in files().items()]
    questions: dict[str, Callable[[dict[str, Any]], Any]] = {
        "answer": lambda said: answer.answer(_tables(said)),
        "flips": lambda said: answer.flips(_tables(said), _text(said, "path")),
        "toml": lambda said: {"scenario": scenario.from_toml(_text(said, "text"))},
        "counts": lambda said: counts.measured(_text(said, "text").encode()),
        "group": lambda said: counts.regrouped(
            _text(said, "text").encode(), _text(said, "name"), _count(said, "groups"), _tables(said)
        ),
    }
    quick, slow = _Waiting(WAITING, THREADS), _Waiting(most=2, threads=1)
    for name, asked in questions.items():
        largest = 2 * counts.LARGEST if name in ("counts", "group") else scenario.LARGEST  # escapes may double a text
        waiting = slow if name == "group" else quick
        routes.append(Route(f"/api/{name}", partial(_asked, waiting, asked, largest), methods=["POST"]))
    routes.append(Route("/api/page", _described))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, hosts=hosts)],
        lifespan=_warm,
        exception_handlers={404: _missing, 405: _missing},
    )


def run(made: Starlette, listening: socket.socket) -> None:
    """Serve until interrupted."""
    import uvicorn

    uvicorn.Server(uvicorn.Config(made, log_level="warning", access_log=False, server_header=False)).run([listening])


def files() -> dict[str, tuple[bytes, str]]:
    """Read the files of the page, and return content and type by the path of a request."""
    found = {}
    for file in resources.files("planner.serve").joinpath("page").iterdir():
        kind = TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:
            found["/" if file.name == "index.html" else f"/{file.name}"] = file.read_bytes(), kind
    return found


class Guard:
    """Refuses a request from elsewhere, or of a size that no page sends, before anything reads it."""

    def __init__(self, app: Any, hosts: tuple[str, ...]) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Mapping[str, Any], receive: Any, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(scope["method"], headers)

        async def send_with_headers(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        if refusal is None:
            await self.app(scope, receive, send_with_headers)
            return
        status, text = refusal
        await _reply(_said(text), status)(scope, receive, send_with_headers)

    def refusal(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return status and reason of a refusal; None for a request that may pass."""
        host = headers.get("host", "").lower()
        if host.rpartition(":")[0] not in self.hosts and host not in self.hosts:
            return 421, f"this server does not answer for the host {host!a:.60}. Open the address that it printed."
        if method not in ("GET", "HEAD", "POST"):
            return 405, f"{method:.20} is not a method of this page."
        if method != "POST":
            return None
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") or (
            origin is not None and origin not in (f"http://{host}", f"https://{host}")
        ):
            return 403, "another site asked. Only the page itself may."
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "a question is JSON. Send content-type: application/json."
        return None


@dataclass
class _Waiting:
    """How many questions wait or run, at most and now, and the threads they run in."""

    most: int
    threads: int
    now: int = 0
    limiter: Any = None


async def _asked(waiting: _Waiting, asked: Callable[[dict[str, Any]], Any], largest: int, request: Request) -> Response:
    """Read a question, run it in a thread, and answer as JSON."""
    from anyio import CapacityLimiter, to_thread

    if waiting.now >= waiting.most:
        return _reply(_said("too many questions at once. Ask again in some seconds."), 503)
    waiting.now += 1
    try:
        body = await _body(request, largest)
        if body is None:
            return _reply(_said(f"the question is over {largest >> 10} kB. Send less."), 413)
        if waiting.limiter is None:
            waiting.limiter = CapacityLimiter(waiting.threads)
        status, found = await to_thread.run_sync(partial(_answered, asked, body), limiter=waiting.limiter)
        return _reply(found, status)
    finally:
        waiting.now -= 1


def _answered(asked: Callable[[dict[str, Any]], Any], body: bytes) -> tuple[int, Any]:
    """Answer a body; what is refused says why, and never shows where in the code."""
    try:
        return 200, asked(_json(body))
    except PlannerError as error:
        return 422, answer.refused(error)
    except (RecursionError, OverflowError, ArithmeticError, MemoryError) as error:
        kind = type(error).__name__
        return 422, _said(f"these numbers are beyond what can be computed ({kind}). Bring them nearer to usual ones.")
    except Exception as error:  # reason: a page shows no traceback
        return 500, _said(f"internal error, {type(error).__name__}. Please report it with the link of this page.")


async def _body(request: Request, largest: int) -> bytes | None:
    """Read a body, and stop as soon as it is too large."""
    said = request.headers.get("content-length", "0")
    if not said.isdigit() or len(said) > 12 or int(said) > largest:
        return None
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > largest:
            return None
        parts.append(part)
    return b"".join(parts)


def _json(body: bytes) -> dict[str, Any]:
    def refuse(number: str) -> float:
        raise ScenarioError(f"the question: {number:.20} is no number of JSON.", code="E021")

    try:
        said = json.loads(body, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        if isinstance(error, PlannerError):
            raise
        raise ScenarioError("the question is no JSON. Reload the page.") from None
    if not isinstance(said, dict) or not _is_text(body, said):
        raise ScenarioError("the question is no JSON object of texts in Unicode. Reload the page.")
    for depth, level in enumerate(levels(said)):
        if depth > DEPTH or None in level:
            raise ScenarioError(f"the question has a null, or is nested over {DEPTH} levels. Reload the page.")
    return said


def _is_text(body: bytes, said: Any) -> bool:
    """Whether all texts can be written as UTF-8: an escape may name half a character."""
    try:
        return b"\\u" not in body or bool(json.dumps(said, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def _tables(said: Mapping[str, Any]) -> dict[str, Any]:
    found = said.get("scenario")
    if not isinstance(found, dict):
        raise ScenarioError("the question has no scenario. Reload the page.")
    return found


def _text(said: Mapping[str, Any], key: str) -> str:
    found = said.get(key)
    if not isinstance(found, str):
        raise ScenarioError(f"the question has no text {key!a}. Reload the page.")
    return found


def _count(said: Mapping[str, Any], key: str) -> int:
    found = said.get(key)
    if not isinstance(found, int) or isinstance(found, bool) or not 1 <= found <= counts.MOST_CLIENTS:
        raise ScenarioError(f"{key}: is no whole number from 1 to {counts.MOST_CLIENTS:,}. Write how many.")
    return found


async def _file(content: bytes, kind: str, request: Request) -> Response:
    from starlette.responses import Response

    return Response(content, media_type=kind)


async def _described(request: Request) -> Response:
    return _reply({"controls": controls.described(), "example": EXAMPLE}, 200)


async def _missing(request: Request, error: Exception) -> Response:
    return _reply(
        _said("there is no such page, or it takes no such request. Open /."), getattr(error, "status_code", 404)
    )


def _said(text: str) -> dict[str, Any]:
    return {"error": {"text": text, "key": ""}}


def _reply(data: Any, status: int) -> Response:
    from starlette.responses import Response

    content = json.dumps(data, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, media_type="application/json")


@contextlib.asynccontextmanager
async def _warm(app: Starlette) -> AsyncIterator[None]:
    """Answer once before the first question, so that no user waits for imports."""
    from anyio import to_thread

    await to_thread.run_sync(answer.answer, EXAMPLE)
    yield
