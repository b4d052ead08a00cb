"""Which slips the tests catch: small changes of a file, one at a time, each against the tests that are named.

    python benchmarks/mutants.py planner/cost/round.py --tests tests/planner/cost [--count 12] [--seed 7] [--limit 120]

A slip is one of those a tired person makes: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``, a condition turned
round, a number that is one off, ``min`` for ``max``, a result that is forgotten. Which ones are tried is drawn with the
seed. The tests run in a copy of the repository, so that nothing here is changed. Printed are the slips with file, line
and change: caught, or too slow to end within the limit, or alive. Some that stay alive are no slips, because they
change nothing that matters; a person has to look at them.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "*.db", "build", "dist")
COMPARED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
COMPUTED = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "*", ast.Pow: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.MatMult: "*",
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Slip:
    """A change of a piece of a file.

    Attributes:
        line: Where it is, from 1.
        begin: First byte.
        end: Byte after the last.
        old: What stands there.
        new: What stands there then.
    """

    line: int
    begin: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split())[:70] for text in (self.old, self.new))
        return f"{old}  ->  {new}"


def slips(source: str) -> list[Slip]:
    """Every slip of a file, in the order of its lines."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    content, found = source.encode(), []
    tree = ast.parse(source)
    for node, new in _changes(tree, source):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        slip = Slip(node.lineno, begin, end, content[begin:end].decode(), new)
        changed = content[:begin] + new.encode() + content[end:]
        try:
            ast.parse(changed)
        except SyntaxError:
            continue
        found.append(slip)
    return sorted(set(found), key=lambda slip: (slip.begin, slip.end, slip.new))


def _changes(tree: ast.Module, source: str) -> Iterator[tuple[ast.expr, str]]:
    skipped = set(_skipped(tree))

    def text(node: ast.AST) -> str:
        return ast.get_source_segment(source, node) or ""

    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield node, f"{text(node.left)} {COMPARED[type(node.ops[0])]} {text(node.comparators[0])}"
        elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
            yield node, f"({text(node.left)}) {COMPUTED[type(node.op)]} ({text(node.right)})"
        elif isinstance(node, ast.BoolOp):
            word = " or " if isinstance(node.op, ast.And) else " and "
            yield node, word.join(f"({text(value)})" for value in node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield node, f"({text(node.operand)})"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, str(not node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield node, repr(node.value + 1)
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test, f"(not ({text(node.test)}))"
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node.value, "None"
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SWAPPED:
                yield (
                    node,
                    text(node.func).removesuffix(name) + SWAPPED[name] + text(node).removeprefix(text(node.func)),
                )


def _skipped(tree: ast.Module) -> Iterator[ast.AST]:
    """Annotations and what type checkers read alone, which nothing runs; f-strings, whose places are not told."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [
                *node.args.args,
                *node.args.kwonlyargs,
                *node.args.posonlyargs,
                node.args.vararg,
                node.args.kwarg,
            ]
            parts = [node.returns, *(one.annotation for one in arguments if one is not None)]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            parts = [node]
        for part in parts:
            if part is not None:
                yield from ast.walk(part)


def tried(copy: Path, tests: Sequence[str], limit: float) -> str:
    """Run the tests in the copy: ``caught``, ``too slow`` or ``alive``."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return "too slow"
    return "alive" if done.returncode == 0 else "caught"


def main() -> None:
    """Try the slips that the options ask for."""
    parser = argparse.ArgumentParser(description="Which slips of a file the tests catch.")
    parser.add_argument("files", nargs="+", help="of the repository, tried one after the other")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    parser.add_argument("--count", type=int, default=12, help="slips of each file")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=float, default=120, help="seconds for the tests of a slip")
    told = parser.parse_args()
    count: dict[str, int] = {"caught": 0, "too slow": 0, "alive": 0}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        if tried(copy, told.tests, 10 * told.limit) != "alive":
            sys.exit("the tests fail, or are too slow, without any slip: nothing can be said.")
        for name in told.files:
            file = copy / name
            source = file.read_text()
            every = slips(source)
            chosen = random.Random(told.seed).sample(every, min(told.count, len(every)))
            for slip in sorted(chosen, key=lambda slip: slip.begin):
                content = source.encode()
                file.write_bytes(content[: slip.begin] + slip.new.encode() + content[slip.end :])
                found = tried(copy, told.tests, told.limit)
                count[found] += 1
                print(f"{found:8}  {name}:{slip.line}  {slip}", flush=True)
            file.write_text(source)
    print(", ".join(f"{number} {what}" for what, number in count.items()))
    sys.exit(1 if count["alive"] else 0)


if __name__ == "__main__":
    main()
