"""Which slips the tests catch: small changes of a file, one at a time, each against the tests of its group.

    python benchmarks/mutants.py [uncertainty] [cost] [store] [--count 34] [--seed 7]

A slip is one of those a tired person makes: ``<`` for ``<=``, ``+`` for ``-``, ``and`` for ``or``, a condition turned
round, a number that is one off, ``min`` for ``max``, a result that is forgotten. Which ones are tried is drawn with the
seed from all files of a group. The tests run in a copy of the repository, so that nothing here is changed, the fastest
first and up to the first that fails. Printed are the slips with file, line and change: caught, or too slow to end
within three times the processor time that the tests take without a slip, or alive. Those in `EQUIVALENT` change
nothing that matters, and are not tried.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
class Group:
    """Files whose slips are tried.

    Attributes:
        files: patterns of their paths.
        tests: files or folders, and options of pytest.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]


GROUPS = {
    "uncertainty": Group(
        ("planner/decide/uncertainty/*.py",),
        tuple(
            f"tests/planner/decide/test_{name}.py"
            for name in ("uncertainty", "time_ranges", "verdict_intervals", "footprint_objective")
        ),
    ),
    "cost": Group(("planner/cost/*.py", "planner/cost/patterns/*.py"), ("tests/planner/cost",)),
    "store": Group(("validation/store.py",), ("tests/validation/test_store.py", "-k", "not kills_lose_nothing")),
}
EQUIVALENT = {
    ("if swing > 1e-9:", ">="): "a swing is 0 up to rounding, or far larger",
    ("if sum(i.value for _, i in most) < 0.8 and item[1].value >= WORTH:", "<="): "estimates never add up to just 0.8",
    ("if share.value < SURE:", "<="): "0.99 is no share of a power of two of draws",
    ("found = np.asarray(solved, dtype=np.float64).round(9)  # most are whole numbers", "10"): "one more digit",
    ("np.maximum.at(slowest, of.reshape(-1), pace)", "2"): "numpy works it out",
    (
        'up, down = (8 * at["model_size"] / at[f"{tier}.{part}"] for part in ("up", "down"))',
        "9",
    ): "what it is multiplied with is solved for",
    ("@dataclass(frozen=True)", "False"): "nothing changes one",
    ("@dataclass(frozen=True, slots=True)", "False"): "nothing changes one, or adds to it",
    ("ends = [play(tiers[first:], one) for one in moved.reshape(-1, *inner)]", "2"): "numpy works it out",
    ("rows = drawn.reshape(-1, shape[-1])", "2"): "numpy works it out",
    ("@lru_cache(maxsize=256)", "257"): "how many are kept changes none",
    ("hops = tuple(link and replace(link, up=1.0, down=1.0, latency=0.0) for link in there)", "2.0"): (
        "models are counted, at any rate"
    ),
    ("rows += [(cell.hash, run, quantity, kind, r, x) for r, x in zip(trace.rounds, line, strict=True)]", "False"): (
        "a trace has a number for each of its rounds"
    ),
    ("return False", "None"): "nobody asks whether it is None",
    ("if share.value >= SURE:", ">"): "0.99 is no share of a power of two of draws",
    ("return self.spread.width * np.array([normal(u) for u in np.clip(cube, 1e-12, 1 - 1e-12).tolist()])", "2"): (
        "a point of the cube is below 1"
    ),
    ('unit = {name: question.model_bytes if name == "model_size" else 1.0 for name in now}', "2.0"): (
        "the form is solved for at any other unit too"
    ),
    ("return form if np.allclose(told, asked, rtol=1e-9, atol=1e-12 * float(asked.max())) else None", "asked.min()"): (
        "a form that does not hold is off by far more"
    ),
    ("led = here[leaders].min(axis=0) <= least * (1 + SAME)", "<"): "a billionth is no difference, on either side",
    ("form = cls(question, objective, names, np.zeros((0, 0, 0)))", "1"): "a shape that nothing reads",
    ("soonest, which = math.inf, -1", "2"): "minus two is below 0 as minus one is",
    ("self._db = sqlite3.connect(path, timeout=60, isolation_level=None)", "61"): "any long wait for another will do",
    ("before = np.arange(min(steps, math.ceil(40 / -math.log(self.prompt)) + 1), dtype=np.float64)", "41"): (
        "what is left out has a probability of at most exp(-40)"
    ),
    ("links = row[:-1].reshape(-1, 3)", "2"): "numpy takes any number below 0 for the length that it works out",
    (
        "_TARGET: Final = 100_000  # numbers drawn in all, when that gives enough draws",
        "100001",
    ): "a draw more or less",
    ("half = {name: value / 2 if name in rates else 2 * value for name, value in unit.items()}", ""): (
        "the form is solved for at any other rate too"
    ),
    (
        "return None if variance <= 1e-12 * max(1.0, power) else np.asarray(squares[:, keep].mean(axis=1) / variance)",
        "2.0",
    ): "a variance is 0 up to rounding, or far larger",
    ("rng = np.random.default_rng([question.seed, 1])", "2"): "draws of another seed are as good",
    (
        "best = int(np.argmin(np.round(errors / errors.min(), 9)))  # equal errors differ by what a processor rounds",
        "*",
    ): "errors that are not equal differ by far more",
    ("thread = threading.Thread(target=beat, daemon=True)", "False"): "the thread is joined",
    ("@lru_cache(maxsize=64)", "65"): "how many answers are kept changes none",
    (
        "values, weights = (np.concatenate(parts) for parts in zip(*self.steps.durations(self.passes), strict=True))",
        "False",
    ): "parts are pairs by their type",
}
"""Slips that change nothing that matters, by their line and the word or operator that they put there, "" for any."""
PLUGIN = """
import json, pathlib
TIMES = pathlib.Path("_times.json")
known = json.loads(TIMES.read_text()) if TIMES.exists() else {}
new = {}
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: known.get(item.nodeid, 0.0))
def pytest_runtest_logreport(report):
    new[report.nodeid] = new.get(report.nodeid, 0.0) + report.duration
def pytest_sessionfinish():
    if not known:
        TIMES.write_text(json.dumps(new))
"""  # runs the fastest tests first, by their times in the first run


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
        if slip.old != slip.new:
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


def tried(copy: Path, tests: Sequence[str], limit: int, *, show: bool = False) -> str:
    """Run the tests in the copy, within a limit of processor time in seconds: ``caught``, ``too slow`` or ``alive``."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-p",
        "_fastest",
        *tests,
    ]
    (copy / "_fastest.py").write_text(PLUGIN)
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    limited = ["/bin/sh", "-c", f'ulimit -t {limit}; exec "$@"', "sh", *command]
    try:
        done = subprocess.run(limited, cwd=copy, env=environment, capture_output=True, timeout=6 * limit, check=False)
    except subprocess.TimeoutExpired:
        return "too slow"
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too slow"
    if done.returncode == 4:  # of pytest, for misuse: nothing was tested, and so nothing caught
        sys.exit(done.stderr.decode()[-2000:])
    if done.returncode > 1 or (show and done.returncode):
        print(done.stdout.decode()[-2000:], done.stderr.decode()[-2000:], file=sys.stderr)
    return "alive" if done.returncode == 0 else "caught"


def of_group(copy: Path, name: str, count: int, seed: int) -> int:
    """Try slips of a group; how many stay alive."""
    group = GROUPS[name]
    (copy / "_times.json").unlink(missing_ok=True)
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    if tried(copy, group.tests, 600, show=True) != "alive":
        sys.exit(f"{name}: the tests fail, or are too slow, without any slip: nothing can be said.")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    files = sorted({path.relative_to(copy).as_posix() for pattern in group.files for path in copy.glob(pattern)})
    every = [(file, slip) for file in files for slip in slips((copy / file).read_text())]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    found = {"caught": 0, "too slow": 0, "alive": 0, "equivalent": 0}
    start = time.monotonic()
    for file, slip in sorted(chosen, key=lambda one: (one[0], one[1].begin)):
        content = (copy / file).read_bytes()
        line = content.decode().splitlines()[slip.line - 1].strip()
        if any(line == where and (not new or new in slip.new.split()) for where, new in EQUIVALENT):
            what = "equivalent"
        else:
            (copy / file).write_bytes(content[: slip.begin] + slip.new.encode() + content[slip.end :])
            what = tried(copy, group.tests, int(3 * taken) + 5)
            (copy / file).write_bytes(content)
        found[what] += 1
        print(f"{what:10}  {file}:{slip.line}  {slip}", flush=True)
    counts = ", ".join(f"{number} {what}" for what, number in found.items())
    print(f"{name}, seed {seed}, {len(chosen)} of {len(every)}: {counts}; {time.monotonic() - start:.0f} s", flush=True)
    return found["alive"]


def gone() -> list[str]:
    """Lines of `EQUIVALENT` that no file has any more."""
    paths = [path for group in GROUPS.values() for pattern in group.files for path in ROOT.glob(pattern)]
    there = {line.strip() for path in paths for line in path.read_text().splitlines()}
    return [line for line, _ in EQUIVALENT if line not in there]


def main() -> None:
    """Try the slips of the groups that are named, or of all."""
    parser = argparse.ArgumentParser(description="Which slips the tests catch.")
    parser.add_argument("groups", nargs="*", metavar="group", help=f"of {', '.join(GROUPS)}; without one, all")
    parser.add_argument("--count", type=int, default=34, help="slips of each group")
    parser.add_argument("--seed", type=int, default=7)
    told = parser.parse_args()
    if strange := set(told.groups) - set(GROUPS):
        parser.error(f"{min(strange)} is none of {', '.join(GROUPS)}")
    if lines := gone():
        parser.error(f"no file has the line {lines[0]!r} of EQUIVALENT any more")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        alive = sum(of_group(copy, name, told.count, told.seed) for name in told.groups or GROUPS)
    sys.exit(1 if alive else 0)


if __name__ == "__main__":
    main()
