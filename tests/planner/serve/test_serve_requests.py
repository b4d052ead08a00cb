"""Requests that no page sends: over two hundred, none of which may show a traceback, answer 500 or take much memory."""

import asyncio
import itertools
import json

import pytest

pytest.importorskip("starlette", reason="needs the extra web")
pytest.importorskip("httpx", reason="needs httpx")

import httpx

from planner.scenario.fields import FIELDS, TIER_FIELDS
from planner.serve import answer
from planner.serve.app import application, files

GOOD = {"fleet": {"tiers": [{"count": 3}, {"count": 4}]}, "plan": {"objective": "time"}}
AT = "http://127.0.0.1:8765"
JSON = {"content-type": "application/json"}
VALUES = [[], {}, True, -1, 0, 1e308, 10**400, "", "x" * 5000, "1:1000000", "\x00\x1b[31m", "../../etc/passwd", None]


def ask(*requests, hosts=None):
    """Send requests at once, and return the answers in their order."""

    async def run():
        application_ = application() if hosts is None else application(hosts)
        transport = httpx.ASGITransport(application_, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=AT) as client:
            return await asyncio.gather(*(client.request(**request) for request in requests))

    return asyncio.run(run())


def raw(method, path, headers=(), receive=None):
    """Send one request that no client would send, as a server hands it on; return status and body."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(b"host", b"127.0.0.1:8765"), *headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765),
    }
    asyncio.run(application()(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent)


def post(name, body, **headers):
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    return {"method": "POST", "url": f"/api/{name}", "content": content, "headers": JSON | headers, "timeout": 120}


def put(path, value):
    tables = json.loads(json.dumps(GOOD))
    *sections, key = path.split(".")
    at = tables
    for section in sections:
        at = at.setdefault(section, {})
    at[key] = value
    return tables


def checked(reply):
    assert reply.status_code < 500, reply.text
    assert "Traceback" not in reply.text and 'File "' not in reply.text
    if reply.status_code != 200:
        assert len(json.loads(reply.text)["error"]["text"]) > 10
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    return reply


KEYS = [field.key for field in FIELDS]


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.parametrize(
    ("value", "keys"),
    [  # a fifth of the keys with every second value, and all with all
        *(pytest.param(value, KEYS[i % 5 :: 5], id=repr(value)[:20]) for i, value in enumerate(VALUES[::2])),
        *(pytest.param(value, KEYS, id=f"all {repr(value)[:20]}", marks=pytest.mark.slow) for value in VALUES),
    ],
)
def test_every_key_with_a_wrong_value(value, keys):
    requests = [post("answer", {"scenario": put(key, value)}) for key in keys]
    for of_tier in TIER_FIELDS:
        tables = put("title", "x")
        tables["fleet"]["tiers"][1][of_tier.key] = value
        requests.append(post("answer", {"scenario": tables}))
    assert len(requests) >= len(keys) + 5 and len(KEYS) >= 45  # times the values: over six hundred
    # One after the other: together they would be too many questions at once, which is another test.
    for request in requests:
        reply = checked(ask(request)[0])
        assert reply.status_code in (200, 422), reply.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"scenario": 3}',
        b'{"scenario": {"a": NaN}}',
        b'{"scenario": {"fleet": {"tiers": [{"count": 1e999}]}}}',
        b'{"scenario": {"title": "\\ud800"}}',
        b'{"scenario":' + b"[" * 30_000,
        b'{"scenario":' + b'{"a":' * 100 + b"1" + b"}" * 101,
        b'{"scenario": {"fleet": {"tiers": ' + b"9" * 5000 + b"}}}",
        json.dumps({"scenario": {f"k{i}": i for i in range(3000)}}).encode(),
        json.dumps({"scenario": {"fleet": {"tiers": [{"count": 1}] * 500}}}).encode(),
        json.dumps({"scenario": {"fleet": {"tiers": [{"count": 10**6}] * 8}}}).encode(),
        json.dumps(
            {
                "scenario": {
                    **GOOD,
                    "compute": {"straggler": "lognormal:0.5"},
                    "fleet": {"tiers": [{"count": 10**6}, {"count": 10**6}]},
                }
            }
        ).encode(),
        json.dumps({"scenario": {**GOOD, "plan": {"predictor": "surrogate"}}}).encode(),
        json.dumps({"scenario": {"fleet": {"clients": 10**6}}}).encode(),
        json.dumps({"scenario": {"fleet": {"groups": 3, "clients_per_group": 4, "local_steps": "1:1000000"}}}).encode(),
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_bodies_that_are_no_question(body):
    for name in ("answer", "flips", "toml", "counts", "group"):
        assert checked(ask(post(name, body))[0]).status_code == 422


@pytest.mark.parametrize(
    "text", ["a = ", "[fleet", "x = 1979-05-27", "\x00", "[[fleet.tiers]]\ncount='/etc'", "a" * 60_000]
)
def test_files_that_are_no_scenario(text):
    assert checked(ask(post("toml", {"text": text}))[0]).status_code in (413, 422)


@pytest.mark.parametrize(
    "text", ["", "a;b\n1;2", "client,group,a\nc1,g1,-3", "client,group,a\nc1,g1,1e9999", "\x00\n\x00", "client,group\n"]
)
def test_tables_that_are_no_counts(text):
    reply = checked(ask(post("counts", {"text": text}))[0])
    assert reply.status_code == 422 and "hfl-plan-" not in reply.text  # the folder it was written to


GROUPED = {"text": "client,a,b\nc1,9,1\nc2,9,1\nc3,1,9\nc4,1,9\n", "name": "wards.csv", "groups": 2, "scenario": GOOD}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"groups": 0}, "whole number"),
        ({"groups": 2.5}, "whole number"),
        ({"groups": True}, "whole number"),
        ({"groups": "2"}, "whole number"),
        ({"groups": 10**30}, "whole number"),
        ({"groups": 5}, "at most 4"),
        ({"name": 3}, "name"),
        ({"scenario": {"fleet": {"tiers": [{"count": 2}] * 3}}}, "has 3 tiers. Remove one"),
        ({"scenario": {"fleet": {"tiers": [{"count": 2}]}}}, "has 1 tier. Add one"),
        ({"scenario": {"fleet": {"list": "/etc/passwd"}}}, "reads no list"),
        ({"text": "client,a\nc1,-3\n"}, "counts.csv:2"),
        (
            {"text": "client,a,b\n" + "".join(f"c{i},1,{i}\n" for i in range(2001))},
            "hfl-plan group wards.csv --groups 2",
        ),
    ],
    ids=lambda part: str(part)[:30],
)
def test_groupings_that_are_refused(changed, said):
    reply = checked(ask(post("group", GROUPED | changed))[0])
    assert reply.status_code == 422 and said in reply.json()["error"]["text"]
    assert "hfl-plan-" not in reply.text  # the folder it was written to


def test_groupings_wait_for_each_other_and_not_for_ever():
    codes = sorted(reply.status_code for reply in ask(*(post("group", GROUPED) for _ in range(6))))
    assert codes == [200, 200, 503, 503, 503, 503]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:8765", "", "169.254.169.254"])
def test_another_host_is_refused(host):
    for request in (
        post("answer", {"scenario": GOOD}, host=host),
        {"method": "GET", "url": "/", "headers": {"host": host}},
    ):
        assert checked(ask(request)[0]).status_code == 421


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"origin": AT, "sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_only_the_page_itself_may_write(headers, status):
    assert checked(ask(post("answer", {"scenario": GOOD}, **headers))[0]).status_code == status


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/%2e%2e/app.py",
        "/app.py",
        "/page/index.html",
        "//etc/passwd",
        "/static/../../answer.py",
        "/style.css/..",
        "/api",
        "/api/nothing",
        "/main.js%00.css",
    ],
)
def test_no_path_of_a_request_is_a_path_of_a_file(path):
    status, content = raw("GET", path)
    assert status == 404 and b"error" in content


def test_methods_that_the_page_has_not():
    for method, path in itertools.product(
        ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"), ("/", "/api/answer")
    ):
        assert checked(ask({"method": method, "url": path})[0]).status_code == 405
    assert checked(ask({"method": "GET", "url": "/api/answer"})[0]).status_code == 405


@pytest.mark.parametrize("name", ["answer", "flips", "toml", "counts", "group"])
@pytest.mark.parametrize("declared", [None, b"50000000", b"-1", b"abc", b"9" * 30])
def test_a_body_of_50_mb_is_not_read(name, declared):
    taken = 0

    async def receive():
        nonlocal taken
        taken += 1 << 20
        return {"type": "http.request", "body": b"x" * (1 << 20), "more_body": taken < 50 << 20}

    headers = [(b"content-type", b"application/json")]
    headers += [] if declared is None else [(b"content-length", declared)]
    status, _ = raw("POST", f"/api/{name}", headers, receive)
    assert status == 413
    assert taken <= (
        9 << 20 if name in ("counts", "group") else 1 << 20
    )  # what is allowed, and the part that exceeds it


@pytest.mark.usefixtures("unflipped", "few_draws")
@pytest.mark.usefixtures("unflipped")
def test_twenty_at_once_are_answered_as_one_by_one():
    tables = [
        {"plan": {"objective": "rounds", "draws": 0}, "fleet": {"tiers": [{"count": 2 + i}, {"count": 3}]}}
        for i in range(4)
    ]
    alone = [json.loads(json.dumps(answer.answer(one))) for one in tables]
    replies = ask(*(post("answer", {"scenario": one}) for one in tables * 5))
    assert len({json.dumps(one) for one in alone}) == len(tables)
    for one, reply in zip(alone * 5, replies, strict=True):
        assert checked(reply).status_code == 200
        assert reply.json() == one


@pytest.mark.usefixtures("unflipped", "few_draws")
def test_more_at_once_than_wait_are_asked_to_come_again(monkeypatch):
    monkeypatch.setattr("planner.serve.app.WAITING", 4)
    replies = ask(*(post("answer", {"scenario": put("plan", {"objective": "rounds", "draws": 0})}) for _ in range(30)))
    assert sorted({reply.status_code for reply in replies}) == [200, 503]
    assert all(len(reply.json()["error"]["text"]) > 10 for reply in replies if reply.status_code == 503)


def test_the_page_is_small_and_names_no_other_site():
    content = files()
    assert set(content) >= {"/", "/main.js", "/style.css"}
    assert sum(len(raw) for raw, _ in content.values()) < 300_000
    for raw, _ in content.values():
        text = raw.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text and "innerHTML" not in text


def test_every_file_of_the_page_is_served_with_a_policy():
    for path, (raw, kind) in files().items():
        reply = checked(ask({"method": "GET", "url": path})[0])
        assert reply.content == raw and reply.headers["content-type"] == kind


def test_another_address_has_to_be_named():
    request = post("answer", {"scenario": GOOD}, host="192.168.1.5:8765")
    assert ask(request)[0].status_code == 421
    assert ask(request, hosts=("127.0.0.1", "192.168.1.5"))[0].status_code == 200
