"""Write the reference pages that the program knows by itself.

The page of codes is kept; that of commands, docs/commands.md, is written whenever the site is built.

    python docs/reference.py             # says which page is stale
    python docs/reference.py --write     # and writes it anew
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


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


def kept() -> dict[str, str]:
    """Return the pages that are kept, by their files."""
    from planner.io import codes

    return {"codes.md": codes.page()}


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
