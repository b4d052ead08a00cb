"""Help: what a command does, examples, and its options by panel, with kinds, choices and defaults."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

SCENARIO = ("Fleet", "Data", "Network", "Model", "Prices", "Answer")
PANELS = ("Arguments", "Options", *SCENARIO, "Output")
MARGIN, SPELLED = 10, 30  # columns of the panel's name, and of an option's spellings
KINDS = {"int": "N", "float": "NUMBER", "Path": "FILE"}
MORE = "Codes of messages: hfl-plan explain CODE."
GUIDES = {  # pages of docs that guide a command; the others have docs/questions.md
    **{"init": "tutorials/ten-minutes", "measure": "measuring", "estimate": "estimating", "pilot": "pilot"},
    **{"group": "grouping", "tune": "tuning", "flip": "flips", "network": "networks", "overlap": "overlap"},
    **{"hubs": "hubs", "async": "asynchrony", "compare": "exporting", "serve": "serve", "picture": "pictures"},
    **{"export": "exporting", "bounds": "tutorials/theorist", "audit": "catalog/audit", "validate": "validation"},
    **{"rerun": "python", "schema": "file-formats", "explain": "codes"},
}
RARE = frozenset(  # options of a scenario that ``--help all`` lists, and ``--help`` leaves out
    (
        *("--groups-per-round", "--clients-per-round", "--order", "--sigma", "--smoothness"),
        *("--curvature-scatter", "--fading", "--decay", "--initial-gap", "--downlink", "--latency", "--hop"),
        *("--straggler", "--on-failure", "--predictor", "--bounds", "--cap", "--cost", "--resolution"),
    )
)


def index(text: str, path: str, panels: Mapping[str, Sequence[tuple[str, str]]], width: int, others: str = "") -> str:
    """Write the page of several commands: examples, and commands under headings, a line for each."""
    about, examples = parted(text)
    lines = [*about, *_examples(examples, width)]
    wide = max(len(name) for rows in panels.values() for name, _ in rows)
    for panel, rows in panels.items():
        lines += _listed(panel, rows, wide + 2, width)
    if others:
        lines += _listed("Also", [("", others)], 0, width)
    lines += _listed("More", [("", f"{path} COMMAND --help. {MORE}")], 0, width)
    return "\n".join(lines) + "\n"


def command(one: Any, ctx: Any, width: int, *, whole: bool = False) -> str:
    """Write the page of a command; a whole one has every option."""
    left_out = False
    about, examples = parted(one.callback.__doc__ or one.help or "")
    panels: dict[str, list[tuple[str, str]]] = {panel: [] for panel in PANELS}
    arguments = []
    for parameter in one.get_params(ctx):
        if parameter.param_type_name == "argument":
            arguments.append(standing(parameter))
            panels["Arguments"].append((standing(parameter), parameter.help or ""))
        elif not getattr(parameter, "hidden", False) and parameter.name != "help":
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            if not whole and (panel == "Prices" or (panel in SCENARIO and not RARE.isdisjoint(parameter.opts))):
                left_out = True
                continue
            panels.setdefault(panel, []).append((spelled(parameter), described(parameter)))
    path = f"hfl-plan{ctx.command_path.removeprefix(ctx.find_root().command_path)}"
    lines = [f"Usage: {' '.join([path, *arguments, '[OPTIONS]'])}"]
    for paragraph in about:
        lines += textwrap.wrap(paragraph, width, break_on_hyphens=False)
    lines += _examples(examples, width)
    for panel, rows in panels.items():
        if rows:
            lines += _listed(panel, rows, SPELLED, width)
    guide = GUIDES.get(path.split()[1] if " " in path else "", "questions")
    more = f"`{path} --help all` lists every option. " * left_out + f"Guide: docs/{guide}.md. {MORE}"
    return "\n".join([*lines, *_listed("More", [("", more)], 0, width)]) + "\n"


def parted(text: str) -> tuple[list[str], list[str]]:
    """Part a docstring into paragraphs and examples."""
    about, _, examples = inspect.cleandoc(text).partition("\n\nExamples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in about.split("\n\n") if paragraph.strip()]
    return paragraphs, [line.strip() for line in examples.splitlines() if line.strip()]


def spelled(parameter: Any) -> str:
    """Write the spellings of an option: letters first, one long name, and what stands for a value."""
    names = [n for n in parameter.opts if not (n.startswith("--") and len(n) == 3)]
    letters, words = ([n for n in names if n.startswith("--") == long] for long in (False, True))
    shown = ", ".join([*letters, *words[:1]] or parameter.opts)
    if parameter.is_flag:
        return shown + "".join(f" / {name}" for name in parameter.secondary_opts)
    return f"{shown} {standing(parameter)}"


def standing(parameter: Any) -> str:
    """Write what stands for a value."""
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", str)
    return parameter.metavar or KINDS.get(getattr(kind, "__name__", ""), "VALUE")


def described(parameter: Any) -> str:
    """Write what an option means, with its default."""
    text = (parameter.help or "").rstrip(".")
    default = parameter.default
    if parameter.required:
        return f"{text} [required]"
    shown = default is not None and default is not False and not callable(default) and default != ()
    return f"{text} [{default}]" if shown and not text.endswith("]") else text


def _examples(examples: Iterable[str], width: int) -> list[str]:
    lines: list[str] = []
    for example in examples:
        parts = textwrap.wrap(example, width - MARGIN - 2, subsequent_indent="    ", break_on_hyphens=False)
        lines += [f"{part} \\" for part in parts[:-1]] + parts[-1:]
    return [f"{'' if i else 'Examples':<{MARGIN}}{line}" for i, line in enumerate(lines)]


def _listed(heading: str, rows: Sequence[tuple[str, str]], spelled_wide: int, width: int) -> Iterator[str]:
    """Rows beside a heading; a spelling that is too wide has a line of its own."""
    margin = max(MARGIN, len(heading) + 1)
    for i, (left, text) in enumerate(rows):
        head = f"{'' if i else heading:<{margin}}"
        lines = textwrap.wrap(text, max(20, width - margin - spelled_wide), break_on_hyphens=False) or [""]
        if len(left) >= spelled_wide > 0:
            yield f"{head}{left}"
            head, left = " " * margin, ""
        yield f"{head}{left:<{spelled_wide}}{lines[0]}".rstrip()
        for line in lines[1:]:
            yield f"{'':<{margin + spelled_wide}}{line}"
