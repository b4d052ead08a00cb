"""Write the reference pages that the program knows by itself.

The page of codes is kept; those of commands, of the Python names and of the schemas are written whenever the site is
built.

    python docs/reference.py             # says which page is stale
    python docs/reference.py --write     # and writes it anew
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIDE = 88  # letters of a signature in one line


def commands() -> str:
    """Write the page of all commands, in Markdown."""
    os.environ["COLUMNS"] = "80"
    import typer

    from planner.cli import pages
    from planner.cli.app import Commands

    def leaves() -> Iterator[tuple[str, object]]:
        for name, command in Commands().items():
            for word, inner in getattr(command, "commands", {"": command}).items():
                yield f"{name} {word}".strip(), inner

    root = typer.Context(typer.main.get_command(typer.Typer(callback=lambda: None)), info_name="hfl-plan")
    lines = [
        "# Commands",
        "",
        "Reference, for everyone. To look up; written by docs/reference.py when the site is built.",
        "",
    ]
    for name, command in leaves():
        context = typer.Context(command, info_name=name, parent=root)  # type: ignore[arg-type]
        lines += [
            f"## hfl-plan {name}",
            "",
            "```text",
            pages.command(command, context, 80, whole=True).rstrip(),
            "```",
            "",
        ]
    return "\n".join(lines)


def python_api() -> str:
    """Write the page of the public names of both packages, in Markdown: signatures and docstrings."""
    import hflbounds
    import planner

    lines = ["# Python", "", "Reference, for those who work in Python. To look up.", ""]
    lines += ["Written by docs/reference.py from signatures and docstrings; their examples are run by the tests.", ""]
    for package in (planner, hflbounds):
        lines += [f"## {package.__name__}", ""]
        for name in sorted(package.__all__, key=str.lower):
            one = getattr(package, name)
            if isinstance(one, types.ModuleType) or not callable(one):
                continue
            lines += [f"### {package.__name__}.{name}", "", *described(name, one)]
            if inspect.isclass(one) and not issubclass(one, Exception):
                for part, inner in members(one):
                    lines += [f"**{name}.{part}**", "", *described(part, inner)]
    return "\n".join(lines)


def described(name: str, one: object) -> list[str]:
    """Write signature and docstring of a function or class, in Markdown."""
    head = name if isinstance(one, property) else name + signature(one)
    about, *rest = re.split(r"\n\n?(?=(?:Args|Returns|Raises|Yields|Attributes|Examples?):\n|>>> )", documented(one))
    lines = ["```python", head, "```", "", *about.replace("``", "`").splitlines(), ""]
    for section in rest:
        if section.startswith(">>> "):
            lines += ["```pycon", section.rstrip(), "```", ""]
            continue
        title, _, body = section.partition(":\n")
        lines += [f"*{title}*", ""]
        for item in re.split(r"\n(?=\S)", inspect.cleandoc("\n" + body)):
            lines.append("- " + " ".join(item.replace("``", "`").split()))
        lines.append("")
    return lines


def signature(one: Any) -> str:
    """Write the arguments of a function, each in a line of its own where one line is too short."""
    try:
        found = inspect.signature(one)
    except (TypeError, ValueError):
        return "(...)"
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parts, named = [], False
    for name, of in found.parameters.items():
        if of.kind is of.KEYWORD_ONLY and not named:
            parts.append("*")
        named |= of.kind in (of.KEYWORD_ONLY, of.VAR_POSITIONAL)
        kind = "" if of.annotation is of.empty else f": {typed(of.annotation)}"
        default = "" if of.default is of.empty else f" = {of.default!r}" if kind else f"={of.default!r}"
        parts.append(f"{marks.get(of.kind, '')}{name}{kind}{default}")
    back = "" if found.return_annotation is found.empty else f" -> {typed(found.return_annotation)}"
    line = f"({', '.join(parts)}){back}"
    return line if len(line) <= WIDE else "(\n" + "".join(f"    {part},\n" for part in parts) + f"){back}"


def typed(annotation: Any) -> str:
    """Write an annotation as it stands in the code."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def documented(one: object) -> str:
    """Return the docstring of a name itself, not that of what it inherits."""
    return inspect.cleandoc(getattr(one, "__doc__", None) or "")


def members(kind: type) -> Iterator[tuple[str, object]]:
    """Yield public methods and properties of a class of ours that have a docstring."""
    for name, one in sorted(inspect.getmembers(kind)):
        ours = getattr(getattr(one, "fget", one), "__module__", "") or ""
        if (
            not name.startswith("_")
            and ours.partition(".")[0] in ("planner", "hflbounds")
            and documented(one)
            and (isinstance(one, property) or inspect.isroutine(one))
        ):
            yield name, one


def schemas() -> str:
    """Write the page of the JSON schemas, in Markdown: each object with its keys; its contents name whole schemas."""
    from planner.cli.commands import schema

    lines = ["---", "tocdepth: 2", "---", "", "# JSON schemas", ""]
    lines += [
        "Reference, for those who read answers by program. To look up.",
        "",
        "Written by docs/reference.py. `hfl-plan schema NAME` prints a schema whole, for editors and validators.",
        "",
    ]
    for name in (*schema.ANSWERS, *schema.OWN, *schema.FILES):
        whole = json.loads(schema.schema(name))
        lines += [f"## {name}", "", *keys(whole)]
        for part, inner in sorted(whole.get("$defs", {}).items()):
            if inner.get("properties"):
                lines += [f"### {name}: {part}", "", *keys(inner)]
    return "\n".join(lines)


def keys(found: dict[str, Any]) -> list[str]:
    """Write the keys of an object of a schema as a table."""
    about = found.get("description", "").replace("``", "`").split("\n\n")[0]
    lines = [" ".join(about.split()), ""] if about else []
    lines += ["| key | type | meaning |", "|---|---|---|"]
    for key, one in found.get("properties", {}).items():
        meaning = " ".join(str(one.get("description", "")).replace("|", "\\|").split())
        lines.append(f"| `{key}` | {kind_of(one)} | {meaning} |")
    return [*lines, ""]


def kind_of(one: dict[str, Any]) -> str:
    """Write the type of a value of a schema."""
    if "$ref" in one:
        return str(one["$ref"]).rpartition("/")[2]
    if "anyOf" in one or "oneOf" in one:
        return " or ".join(dict.fromkeys(kind_of(part) for part in one.get("anyOf", one.get("oneOf"))))
    if "const" in one:
        return f"`{one['const']}`"
    if "enum" in one:
        return ", ".join(f"`{word}`" for word in one["enum"] if word != "")
    if one.get("type") == "array":
        return f"list of {kind_of(one['items'])}" if isinstance(one.get("items"), dict) else "list"
    kind = one.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def codes() -> str:
    """Write the page of all codes of messages, in Markdown."""
    from planner.io.codes import read

    lines = [
        "# Codes of messages",
        "",
        "Reference, for everyone who got a message with a code. To look up.",
        "",
        "Written by `python docs/reference.py --write` from `planner/io/codes.toml`.",
        "Codes with E are misuse (exit code 2); codes with N mean that there is no answer (exit code 1).",
        "",
    ]
    for code, row in read().items():
        lines += [f"## {code}: {row['title']}", "", row["meaning"], ""]
        lines += [f"Example: `{row['example']}`", ""] if "example" in row else []
        lines += [row["help"], ""]
    return "\n".join(lines)


def built() -> dict[str, str]:
    """Return the pages that are written whenever the site is built, by their files."""
    return {"commands.md": commands(), "python-api.md": python_api(), "schemas.md": schemas()}


def kept() -> dict[str, str]:
    """Return the pages that are kept, by their files."""
    return {"codes.md": codes()}


def main() -> int:
    """Compare the pages with the program, and write them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write stale pages anew")
    write, stale = parser.parse_args().write, 0
    for name, text in kept().items():
        if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text:
            stale += 1
            print(f"stale: docs/{name}", file=sys.stderr)
            if write:
                (HERE / name).write_text(text, encoding="utf-8")
    return bool(stale and not write)


if __name__ == "__main__":
    sys.exit(main())
