"""What answers say, and how each format shows it."""

from __future__ import annotations

import importlib
import keyword
from dataclasses import replace

from planner.io.answers import Answer
from planner.report.document import Document


def document(answer: Answer, section: str = "", *, quiet: bool = False, asked_by: str = "--explain") -> Document:
    """Lay an answer out: its page, all details (``all``), one section of them, or the verdict alone (quiet).

    Refusals name what asked for the section.
    """
    from planner.io.listings import Listing
    from planner.report.page import brief, selected

    if isinstance(answer, Listing):
        page: Document = (answer if answer.page else brief(answer, kind=type(answer).__name__)).page
        page = replace(page, answer=answer)
    else:
        name = answer.schema_id().split("/")[1]
        name += "_" * keyword.iskeyword(name)
        page = importlib.import_module(f"{__name__}.answers.{name}").document(answer)
    return selected(page, section, quiet=quiet, asked_by=asked_by)


def shown(answer: Answer, form: str, section: str = "") -> str:
    """Render an answer in a format, or as a whole ``report``."""
    if form == "report":
        from planner.report.sheet import report

        return report(document(answer))
    from planner.report.render import render

    return render(form, document(answer, section, asked_by="explain"))
