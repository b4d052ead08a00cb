"""What ``hfl-plan explain`` answers."""

from __future__ import annotations

from planner.io import codes
from planner.io.listings import Listing, listing
from planner.report.document import Column, Facts, Table
from planner.report.page import brief


def explained(code: str) -> Listing:
    """Explain one code."""
    (found, title), *facts = codes.explained(code)
    answer = listing("explain", f"{found}: {title}", rows=[{"code": found, **codes.read()[found]}])
    return brief(answer, [Facts(tuple(facts))], kind="Code of a message")


def listed() -> Listing:
    """List all codes."""
    rows = [{"code": code, **row} for code, row in codes.read().items()]
    answer = listing("explain", f"{len(rows)} codes of messages.", rows=rows, next=["hfl-plan explain CODE"])
    table = Table((Column("code"), Column("title")), tuple((row["code"], row["title"]) for row in rows), indent=2)
    return brief(answer, [table], kind="Codes of messages")
