"""Compiled local steps: against automatic differentiation and the torch path, and what happens where they cannot be."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

from literal_trees import Bumps  # noqa: E402
from plain_networks import MODELS, NETWORKS, SAMPLES, STEPS, data, given, models, module, plain  # noqa: E402
from torch.nn import functional  # noqa: E402

from hflbounds.topology import Tier, Topology  # noqa: E402
from validation import compiled  # noqa: E402
from validation.algorithms.tree import Tree  # noqa: E402
from validation.algorithms.two_tier import two_tier  # noqa: E402
from validation.compiled import build  # noqa: E402
from validation.compiled.program import ADD, COPY, DIVIDE, LOAD, STORE, TRAIN, Program, Recorder  # noqa: E402
from validation.engine import ValidationError, generator, simulate  # noqa: E402
from validation.experiment import Cell, measured, on, part  # noqa: E402
from validation.networks import Network  # noqa: E402
from validation.problems.images import MAKERS, Images  # noqa: E402

COMPILER = shutil.which("c++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
WIDER = {  # more than one vector of everything, and vectors that are not full
    "wide": Network(image=(1, 5, 5), hidden=(70, 37)),
    "channels": Network(image=(1, 8, 8), channels=(19, 33), hidden=(40,)),
    "three": Network(image=(2, 8, 16), channels=(5, 17, 9), labels=3),
    "labels": Network(image=(1, 3, 3), hidden=(5,), labels=41),
}
EVERY = {**NETWORKS, **WIDER}


# ------------------------------------------------------------------------------------------------ the numbers


@needs_compiler
@pytest.mark.parametrize(
    ("name", "batch", "blank"),
    [  # every network and batch with blank images or with others
        pytest.param(name, batch, blank, marks=pytest.mark.slow if (i + j + k) % 2 else ())
        for i, name in enumerate(EVERY)
        for j, batch in enumerate((1, 6, 20, 33))
        for k, blank in enumerate((False, True))
    ],
)
def test_steps_are_those_of_automatic_differentiation(name: str, batch: int, blank: bool) -> None:
    """In blank images pixels tie within a pooled square: then the first of them counts, as in PyTorch."""
    network = EVERY[name]
    pixels, labels = data(network, 4, blank)
    weights = models(network, 5)
    weights = tuple(weight / 2 for weight in weights) if name in WIDER else weights
    rows = torch.randint(SAMPLES, (2, 3, STEPS + 1, batch), generator=generator(6))  # seeds, clients, steps
    rates = torch.tensor([0.1, 0.2, 0.3, 0.05, 0.7], dtype=torch.float64)
    clients, seeds = torch.tensor([0, 2, 1, 2, 0]), torch.tensor([1, 0, 1, 1, 0])
    nets = [module(network, [weight[i] for weight in weights]) for i in range(MODELS)]
    stack = compiled.Stack(weights, clients[:, None], seeds, [rows], rates, STEPS)
    with compiled.choosing("compiled"):
        made = compiled.found(weights[0])
    after = compiled.run(made, network, given(network, pixels), labels, compiled.ALONE, stack)
    for i, (net, learned) in enumerate(nets):
        optimiser = torch.optim.SGD(net.parameters(), lr=float(rates[i]))
        for step in range(STEPS):
            chosen = rows[seeds[i], clients[i], step]
            optimiser.zero_grad()
            functional.cross_entropy(net(pixels[chosen]), labels[chosen]).backward()
            optimiser.step()
        for layer, weight in zip(learned, plain(network, [one[i] for one in after]), strict=True):
            assert torch.allclose(weight[:, :-1].reshape(layer.weight.shape), layer.weight, rtol=1e-9, atol=1e-11)
            assert torch.allclose(weight[:, -1], layer.bias, rtol=1e-9, atol=1e-11)


TREES = [
    Topology((Tier("star", 4),)),
    Topology((Tier("ring", 4, 3, order="random"),)),
    Topology((Tier("star", 3), Tier("ring", 2, passes=2))),
    Topology((Tier("ring", 3, passes=2), Tier("star", 2, passes=3))),
    Topology((Tier("star", 3, 2, passes=2), Tier("star", 4, 3))),
    Topology((Tier("ring", 2, order="random"), Tier("star", 3), Tier("ring", 4, 3))),
    Topology((Tier("star", 2, passes=2), Tier("ring", 3, 2, passes=2), Tier("star", 2, passes=2))),
]


@needs_compiler
@pytest.mark.parametrize(
    ("maker", "tree"),
    [  # every tree with one of the models
        pytest.param(maker, tree, marks=pytest.mark.slow if (i + j) % 3 else (), id=f"{maker}-{tree.id}")
        for i, maker in enumerate(("digits-logistic", "digits-mlp", "digits-cnn"))
        for j, tree in enumerate(TREES)
    ],
)
def test_rounds_are_those_of_the_torch_path(maker: str, tree: Topology) -> None:
    """All trees, runs that share seeds and runs that do not; in double precision to 1e-11 after three rounds."""
    problem = MAKERS[maker](G=1, M=tree.clients, dtype=torch.float64)
    traces = []
    for told in ("torch", "compiled"):
        with compiled.choosing(told), compiled.watched() as used:  # type: ignore[arg-type]
            traces.append(simulate(problem, Tree(topology=tree, K=2), [0.1, 0.2, 0.1], [1, 1, 5], 3, at=range(4)))
        assert used == {told}
    for name, values in traces[0].values.items():
        assert torch.allclose(values, traces[1].values[name], rtol=1e-11, atol=1e-13)


@needs_compiler
@pytest.mark.parametrize("name", ["hhfl", "hier-favg", "fedavg"])
def test_algorithms_that_mix_between_local_steps_use_them_too(name: str) -> None:
    options = {
        "hhfl": {"coverage": "ring:3,2,1", "E": 2, "Ge": 2},
        "hier-favg": {"G": 3, "M": 2, "E": 2, "alpha": 5.0},
        "fedavg": {"clients": 6, "weights": "1,2,3,1,1,1", "K": 2},
    }[name]
    cell = Cell(part("digits-mlp", G=3, M=2), part(name, **options), (0.5, 0.2), (1, 2), 2, (0, 1, 2))
    found = []
    for told in ("torch", "compiled"):
        with on("cpu", None, told):  # type: ignore[arg-type]
            trace, effort = measured(cell)
        assert effort.local_steps == told
        found.append(trace)
    for quantity, values in found[0].values.items():
        assert torch.allclose(values, found[1].values[quantity], rtol=1e-4), quantity


@needs_compiler
def test_single_precision_is_as_near_to_double_as_that_of_torch() -> None:
    """Rounding differs, and its size does not: both are held to twice the error that torch makes."""
    first = MAKERS["digits-mlp"](G=3, M=4)
    wide = MAKERS["digits-mlp"](G=3, M=4, dtype=torch.float64)
    wide = Images(**{**vars(wide), "first": tuple(part.double() for part in first.first)})
    algorithm = two_tier(topology="star-ring", G=3, M=4, K=3)

    def end(problem: Any, told: Any) -> Any:
        seen: list[Any] = []

        class Watched(Images):
            def measure(self, models: Any) -> Any:
                seen.append(models)
                return super().measure(models)

        with compiled.choosing(told):
            simulate(
                Watched(**{k: v for k, v in vars(problem).items() if k in Images.__dataclass_fields__}),
                algorithm,
                [0.3],
                [2],
                5,
            )
        return seen[-1]

    exact = end(wide, "torch")
    errors = [
        max(float((one.double() - true).abs().max()) for one, true in zip(end(first, told), exact, strict=True))
        for told in ("torch", "compiled")
    ]
    assert 0 < errors[1] < 3 * errors[0] + 1e-7


@needs_compiler
def test_a_run_that_diverges_is_infinite_and_the_others_do_not_see_it() -> None:
    problem = MAKERS["digits-cnn"](G=2, M=2)
    algorithm = two_tier(topology="ring-star", G=2, M=2, K=3)
    with compiled.choosing("compiled"):
        found = simulate(problem, algorithm, [0.1, 1e30, 0.1], [1, 1, 2], 4)
        alone = simulate(problem, algorithm, [0.1, 0.1], [1, 2], 4)
    for name, values in found.values.items():
        assert values[:, 0].isinf().tolist() == [False, True, False]
        assert torch.equal(values[[0, 2]], alone.values[name])


def test_numbers_that_nothing_is_compiled_for_run_with_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    half = torch.zeros(1, dtype=torch.float16)
    assert compiled.found(half) is None
    monkeypatch.setenv(compiled.VARIABLE, "compiled")
    with pytest.raises(ValidationError, match="float32 and float64"):
        compiled.found(half)


# ------------------------------------------------------------------------------------------------ programs


class Interpreted(Bumps):
    """Runs programs one operation at a time, on points."""

    most = 0

    @property
    def numbers_drawn(self) -> int:
        return self.dim

    def runner(self) -> Callable[[Program, compiled.Stack], Any]:
        return self.run

    def run(self, program: Program, on: compiled.Stack) -> Any:
        self.most = max(self.most, program.registers)
        out = torch.empty_like(on.models[0])
        clients = on.clients.expand(len(on.rates), -1)
        for r in range(len(on.rates)):
            held: list[Any] = [None] * program.registers
            for operation, to, other, number, turn in program.code.tolist():
                if operation == LOAD:
                    held[to] = on.models[0][r].clone()
                elif operation == TRAIN:
                    one = (clients[r, [number]], on.seeds[[r]], on.draws[turn], on.rates[[r]], on.steps)
                    held[to] = self.local_steps((held[other][None].clone(),), *one)[0][0]
                elif operation == COPY:
                    held[to] = held[other].clone()
                elif operation == ADD:
                    held[to] = held[to] + held[other]
                elif operation == DIVIDE:
                    held[to] = held[to] / number
                else:
                    assert operation == STORE
                    out[r] = held[to]
        return (out,)


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.id)
def test_programs_do_what_the_tiers_do(tree: Topology) -> None:
    """The recorded operations one by one, and the patterns on stacked models, held to the listings elsewhere."""
    found = [
        simulate(problem, Tree(topology=tree, K=2), [0.1, 0.2, 0.1], [1, 1, 5], 3, at=range(4)).values
        for problem in (Bumps(tree.clients), Interpreted(tree.clients))
    ]
    for name, values in found[0].items():
        assert torch.allclose(values, found[1][name], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("tiers", "registers"), [(("star",), 3), (("ring",), 1), (("star", "star"), 5), (("ring", "star"), 3)]
)
def test_memory_does_not_grow_with_clients(tiers: tuple[str, ...], registers: int) -> None:
    tree = Topology(tuple(Tier(pattern, 12) for pattern in tiers))
    problem = Interpreted(tree.clients)
    simulate(problem, Tree(topology=tree), [0.1], [1], 1)
    assert problem.most <= registers


def test_a_program_of_a_long_ring_is_recorded_without_recursion() -> None:
    recorder = Recorder()
    names = recorder.start()
    for client in range(20_000):
        names = recorder.trained(0, names, np.array([client]))
    assert recorder.program(names).registers == 1


# ------------------------------------------------------------------------------------------------ how it is chosen


def test_words_that_choose_nothing_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.VARIABLE, "fast")
    with pytest.raises(ValidationError, match="HFL_PLAN_LOCAL_STEPS: 'fast' is not one of auto, torch, compiled"):
        compiled.chosen()
    with compiled.choosing("torch"):
        assert compiled.chosen() == "torch"
        assert compiled.found(torch.zeros(1)) is None


# ------------------------------------------------------------------------------------------------ how it is built


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library but for the name of its build, not optimised: what is looked at here is not how it computes."""
    return halved(tmp_path_factory.mktemp("half") / "half.o") if COMPILER else Path()


def halved(made: Path, *options: str) -> Path:
    (made.parent / "named.h").write_text('extern "C" const char named[];\n')
    words = [str(COMPILER), *build.FLAGS[:1], "-O0", "-fPIC", "-DBUILD=named", "-include", str(made.parent / "named.h")]
    subprocess.run([*words, *options, "-c", "-o", str(made), str(build.SOURCE)], check=True)
    return made


def compiler(path: Path, half: Path, *first: str) -> Path:
    """A compiler that takes what it is told of the build, and for the rest the half that is there: in a tenth."""
    return script(
        path,
        f'case "$*" in *-dM*) exec {COMPILER} "$@";; esac',
        *first,
        "while [ $# -gt 0 ]; do",
        '  case "$1" in -DBUILD=*) name=${1#-DBUILD=};; -o) out=$2;; *local_steps.cpp) source=$1;; esac; shift',
        "done",
        '[ -f "$source" ] || exit 5',
        """printf 'extern "C" { extern const char named[] = %s; }\\n' "$name" > "$out.cpp" """,
        f'exec {COMPILER} -shared -fPIC -o "$out" "$out.cpp" "{half}"',
    )


@pytest.fixture
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: Path) -> Iterator[Path]:
    """A cache folder of its own, and a compiler that has most of its work behind it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(compiled.VARIABLE, raising=False)
    if COMPILER:
        monkeypatch.setenv("CXX", str(compiler(tmp_path / "quick", half)))
    forget()
    yield tmp_path
    forget()


TRAP = "-Dtried=never(); int tried() { __builtin_trap(); } int never"  # the library's own trial ends the process


def forget() -> None:
    build._tried.cache_clear()
    compiled._say.cache_clear()


def script(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(("#!/bin/sh", *lines, "")))
    path.chmod(0o755)
    return path


def built(apart: Path) -> list[Path]:
    return sorted((apart / "cache" / "hfl-plan").glob("local-steps-*"))


def answers_with_torch(capsys: pytest.CaptureFixture[str], why: str) -> None:
    """The torch path's results bit for bit, and one line that says why, once."""
    problem, algorithm = MAKERS["digits-mlp"](G=2, M=2), two_tier(topology="star-ring", G=2, M=2)
    with compiled.choosing("torch"):
        wanted = simulate(problem, algorithm, [0.1], [1], 2)
    assert capsys.readouterr().err == ""
    for _ in range(2):
        with compiled.watched() as used:
            found = simulate(problem, algorithm, [0.1], [1], 2)
        assert used == {"torch"}
        assert all(torch.equal(values, wanted.values[name]) for name, values in found.values.items())
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert why in told[0]
    with compiled.choosing("compiled"), pytest.raises(ValidationError, match="Leave HFL_PLAN_LOCAL_STEPS at auto"):
        simulate(problem, algorithm, [0.1], [1], 2)


def test_no_compiler(apart: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(apart))
    answers_with_torch(capsys, "no C++ compiler")
    forget()
    monkeypatch.setenv("CXX", "no-such-compiler -O3")
    answers_with_torch(capsys, "'no-such-compiler', which is not there")


def test_a_compiler_that_fails(
    apart: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = script(
        apart / "broken", 'case "$*" in *-dM*) exit 0;; esac', "echo 'x.cpp:1: error: no space left' >&2", "exit 4"
    )
    monkeypatch.setenv("CXX", str(broken))
    answers_with_torch(capsys, "broken ended with code 4: x.cpp:1: error: no space left")
    assert built(apart) == []
    forget()
    monkeypatch.setenv("CXX", str(script(apart / "mute", "exit 1")))
    answers_with_torch(capsys, "mute ended with code 1.")


@needs_compiler
def test_a_cache_folder_that_cannot_be_written(
    apart: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (apart / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(apart / "file"))
    answers_with_torch(capsys, "XDG_CACHE_HOME moves it")
    forget()
    monkeypatch.setenv("XDG_CACHE_HOME", str(apart / "cache"))

    def full(*_: object, **__: object) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(build.tempfile, "TemporaryDirectory", full)
    answers_with_torch(capsys, "(Permission denied)")
    forget()
    monkeypatch.setattr(build.os, "getuid", lambda: 12345)
    answers_with_torch(capsys, "belongs to another user")


@needs_compiler
def test_a_build_that_the_processor_cannot_run(
    apart: Path, half: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is tried in a process of its own, and made again without what only this processor should have."""
    always = compiler(apart / "always", halved(apart / "trap.o", TRAP))
    worse = compiler(
        apart / "worse", half, f"""case "$*" in *native*) echo . >> '{apart / "tried"}'; exec {always} "$@";; esac"""
    )
    monkeypatch.setenv("CXX", str(worse))
    build.library()
    assert len(built(apart)) == 1
    assert (apart / "tried").read_text() == ".\n"
    forget()
    shutil.rmtree(apart / "cache")
    monkeypatch.setenv("CXX", str(always))
    answers_with_torch(capsys, "ended with code -")
    assert built(apart) == []


@needs_compiler
def test_another_processor_has_a_build_of_its_own(apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build.library()
    (mine,) = built(apart)
    lines = f'case "$*" in *-dM*) {COMPILER} "$@"; echo "#define __OTHER__ 1"; exit;; esac'
    flags = script(apart / "other", lines, f'exec {apart / "quick"} "$@"')
    before = flags.read_text()
    forget()
    monkeypatch.setenv("CXX", str(flags))
    build.library()
    assert len(built(apart)) == 2
    forget()
    flags.write_text(before.replace("__OTHER__", "__THIRD__"))  # the same compiler on a third processor
    build.library()
    assert len(built(apart)) == 3
    assert mine in built(apart)


@needs_compiler
@pytest.mark.parametrize("damage", ["cut", "empty", "foreign"])
def test_a_file_in_the_cache_that_is_not_the_build_is_made_again(apart: Path, damage: str) -> None:
    build.library()
    (path,) = built(apart)
    whole = path.read_bytes()
    foreign = whole.replace(path.stem[-32:].encode(), b"0" * 32)
    copy = path.with_name("new")  # in place of the file, as the one that is loaded stays in use
    copy.write_bytes({"cut": whole[: len(whole) // 2], "empty": b"", "foreign": foreign}[damage])
    copy.replace(path)
    forget()
    build.library()
    assert len(built(apart)) == 1
    assert path.stat().st_size == len(whole)


RUN = f"import runpy; runpy.run_path({build.__file__!r})['library'](); print('ready')"  # as torch takes a second


@needs_compiler
def test_a_killed_compilation_leaves_nothing_that_is_used(apart: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = apart / "begun"
    slow = script(
        apart / "slow",
        f'case "$*" in *-dM*) exec {COMPILER} "$@";; esac',
        f'for last; do :; done; echo half > "{begun}"',
        "exec sleep 60",
    )
    environment = {**os.environ, "CXX": str(slow), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", RUN], env=environment, start_new_session=True)
    deadline = time.monotonic() + 120
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert begun.exists()
    assert built(apart) == []
    (left,) = (apart / "cache" / "hfl-plan").glob("building-*")
    os.utime(left, (1, 1))  # long ago
    build.library()
    assert len(built(apart)) == 1
    assert not left.exists()


@needs_compiler
def test_processes_at_once_compile_once(apart: Path, half: Path) -> None:
    count = apart / "count"
    counting = compiler(apart / "counting", half, f'echo . >> "{count}"', "sleep 0.5")
    environment = {**os.environ, "CXX": str(counting), "PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen([sys.executable, "-c", RUN], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=300)[0] for process in started] == ["ready\n"] * 2
    assert count.read_text().split() == ["."]
