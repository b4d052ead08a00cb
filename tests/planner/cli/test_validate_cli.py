"""``hfl-plan validate`` as a user meets it: lists, runs, kills, resumes, reports and draws."""

from __future__ import annotations

import csv
import importlib.util
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hflbounds.extras import install
from planner.cli import app as cli

pytest.importorskip("torch")
pytest.importorskip("scipy.stats")

import planner
from planner.errors import NoAnswerError
from planner.harness import claims as harness
from planner.harness.claims import Finding, Row
from planner.plot import claims as validate_pictures
from planner.report.answers.validate import document

CLAIM = "raw-rates"  # the cheapest: eight cells, one stage
COMMAND = [sys.executable, "-m", "planner", "validate"]
ALONE = {**os.environ, "OMP_NUM_THREADS": "1"}


def call(*words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["hfl-plan", "validate", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *words: call(*words, capsys=capsys, monkeypatch=monkeypatch)


@pytest.fixture(scope="module", autouse=True)
def short(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs of the claim have 4 rounds, but where slow tests have them run by other processes too."""
    from validation.claims import learning_rates

    whole = learning_rates.protocol
    with pytest.MonkeyPatch.context() as patch:
        if "not slow" in request.config.option.markexpr:
            patch.setattr(learning_rates, "protocol", lambda rounds, size: whole(4, size))
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that one worker filled without being disturbed."""
    store = tmp_path_factory.mktemp("runs") / "one.db"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        patch.setattr(sys, "argv", ["hfl-plan", "validate", "run", CLAIM, "--store", str(store)])
        cli.main()
    assert not stop.value.code
    return store


@pytest.fixture(scope="module")
def told(finished: Path) -> Any:
    """What is reported of that store."""
    return reported(finished)


def reported(store: Path) -> Any:
    return document(harness.report(store)).to_json()


def count(store: Path, where: str) -> int:
    if not store.exists():
        return 0
    try:
        with sqlite3.connect(store) as db:
            return int(db.execute(f"SELECT count(*) FROM cells WHERE {where}").fetchone()[0])  # noqa: S608
    except sqlite3.OperationalError:  # not made yet
        return 0


def kept(store: Path) -> list[str]:
    """All that a store holds."""
    with sqlite3.connect(store) as db:
        return list(db.iterdump())


def test_the_list_has_every_claim(validate: Any) -> None:
    import claims_listed

    from validation.claims import claims

    assert json.loads(claims_listed.FILE.read_text()) == claims_listed.listed(), "python benchmarks/claims_listed.py"
    code, out, err = validate("list")
    assert "all cells in full: --explain rows" in out
    assert (code, err) == (0, "")
    assert out.startswith(f"{len(claims())} claims.")
    document = json.loads(validate("list", "--json")[1])
    assert [claim["id"] for claim in document["rows"]] == list(claims())
    whole = validate("list", "--explain")[1]
    rows = " ".join(validate("list", "--explain", "rows")[1].split())
    assert " ..." in out and all(" ".join(claim["statement"].split()) in rows for claim in document["rows"])
    assert whole.count("  Where: ") == whole.count("  Predicted by: ") == len(claims())


def test_a_report_says_the_verdict_and_every_number(finished: Path, told: Any, validate: Any) -> None:
    code, page, err = validate("report", "--store", str(finished))
    assert (code, err) == (0, "")
    assert "1 of 1 claims are finished (quick)." in page
    (claim,) = told["rows"]
    listed = next(line.split() for line in page.splitlines() if line.startswith(f"  {CLAIM}  "))
    assert (claim["id"], claim["verdict"]) == (CLAIM, listed[1])
    counts = [sum(row["verdict"] == verdict for row in claim["rows"]) for verdict in ("holds", "fails", "cannot tell")]
    assert [int(number) for number in listed[-3:]] == counts
    code, out, err = validate("report", "--store", str(finished), "--explain", CLAIM)
    assert (code, err) == (0, "")
    assert re.search(rf"^  {claim['verdict']} by {claim['metric']}\b", out, re.MULTILINE)
    assert len(claim["rows"]) == 6
    for row in claim["rows"]:
        assert row["measure"] == "ratio"
        assert 0 < row["low"] <= row["ratio"] <= row["high"]
        assert f" {row['ratio']:.3f} " in out and f"[{row['low']:.3f}, {row['high']:.3f}]" in out
        assert "compared" not in out.partition("compared")[2]  # one table: it stood apart from what it compared


def test_the_program_of_the_record_reads_a_report(told: Any, tmp_path: Path) -> None:
    import claims_record

    (tmp_path / "quick.json").write_text(json.dumps(told))
    found = claims_record.judged(claims_record.read(tmp_path / "quick.json")[CLAIM], "quick")
    (claim,) = told["rows"]
    assert found["quick"] == claim["verdict"]
    assert sum(int(found[f"quick_{kind}"]) for kind in ("holds", "fails", "open")) == len(claim["rows"])


def test_claims_that_were_not_asked_for_or_not_run_are_said_to_be(
    finished: Path, tmp_path: Path, validate: Any
) -> None:
    store = tmp_path / "other.db"
    with sqlite3.connect(finished) as db, sqlite3.connect(store) as copy:
        db.backup(copy)
        copy.execute("UPDATE notes SET text = '[\"ring-top\"]' WHERE name = 'claims'")
    page = " ".join(validate("report", "--store", str(store))[1].split())
    assert "1 of 2 claims are finished (quick). 1 of them, not asked for, had all their cells run by others." in page
    code, _, err = validate("report", "--store", str(store), "--explain", "ring-low")
    assert code == 1 and "the claim ring-low was not run" in err
    assert f"`hfl-plan validate run ring-low --store {store}`" in err


@pytest.mark.slow
def test_a_report_says_where_the_cells_were_run(finished: Path, validate: Any) -> None:
    from validation.experiment import processor

    torch = pytest.importorskip("torch")
    out = validate("report", "--store", str(finished))[1]
    counts = {"holds": "1 claim holds, 0 fail", "fails": "0 claims hold, 1 fails"}
    by = reported(finished)["rows"][0]["by"]
    said = "; by ".join(
        f"{metric} {counts[by[metric]['verdict']]}, 0 cannot be told" for metric in ("gradient", "loss")
    )
    flat = " ".join(out.split())
    assert flat.startswith(f"By {said}. ")
    where, runs, closing = flat[flat.index("Runs 8 cells") :].partition(" 1 of 1 claims are finished")
    assert where.startswith("Runs 8 cells of the store took ")
    assert (runs, closing.partition(" Next ")[0]) == (" 1 of 1 claims are finished", " (quick).")
    (machine,) = reported(finished)["validate"]["machines"]
    path = {"compiled": "local steps compiled", "torch": "local steps in torch"}[machine["local_steps"]]
    assert where.endswith(f" on cpu, PyTorch {torch.__version__}, threads: 1, {processor()}, {path}.")
    assert machine.keys() == {
        *("device", "threads", "torch", "processor", "local_steps", "cells", "seconds", "processor_seconds")
    }
    assert (machine["cells"], machine["threads"]) == (8, 1)


@pytest.mark.slow
def test_two_workers_find_what_one_finds(finished: Path, tmp_path: Path) -> None:
    store = tmp_path / "two.db"
    words = ["run", CLAIM, "--store", str(store), "--workers", "2"]
    subprocess.run([*COMMAND, *words], check=True, capture_output=True, env=ALONE)
    assert reported(store)["rows"] == reported(finished)["rows"]
    with sqlite3.connect(store) as db:
        owners = db.execute("SELECT count(DISTINCT owner), count(*) FROM cells").fetchone()
    assert owners[1] == 8
    assert owners[0] in (1, 2)


@pytest.mark.slow  # tests/validation/test_store.py kills sweeps at every run
def test_a_kill_loses_nothing_but_the_cell_in_flight(finished: Path, tmp_path: Path) -> None:
    store = tmp_path / "killed.db"
    running = subprocess.Popen(
        [*COMMAND, "run", CLAIM, "--store", str(store)], env=ALONE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 120
    while count(store, "finished IS NOT NULL") < 2:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    kept = count(store, "finished IS NOT NULL")
    assert 2 <= kept < 8
    (unfinished,) = reported(store)["rows"]
    assert unfinished["verdict"] is None
    with sqlite3.connect(store) as db:
        before = db.execute("SELECT hash, finished FROM cells WHERE finished IS NOT NULL").fetchall()
        db.execute("UPDATE cells SET heartbeat = 0 WHERE finished IS NULL")  # half a minute goes by
    subprocess.run([*COMMAND, "resume", "--store", str(store)], check=True, capture_output=True, env=ALONE)
    assert reported(store)["rows"] == reported(finished)["rows"]
    with sqlite3.connect(store) as db:
        after = dict(db.execute("SELECT hash, finished FROM cells").fetchall())
    assert len(after) == 8
    assert all(after[name] == when for name, when in before)


@pytest.mark.slow  # the next test stops one in this process at every run
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_stopped_gives_its_claim_back_and_says_how_to_go_on(
    tmp_path: Path, number: int, code: int, workers: int
) -> None:
    store = tmp_path / "a folder" / "stopped.db"
    store.parent.mkdir()
    words = ["run", CLAIM, "--store", str(store), "--workers", str(workers)]
    running = subprocess.Popen(
        [*COMMAND, *words],
        env=ALONE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    deadline = time.monotonic() + 120
    while count(store, "finished IS NOT NULL") < 1 or count(store, "finished IS NULL AND owner IS NOT NULL") < 1:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if number == signal.SIGINT:
        os.killpg(running.pid, number)  # as a terminal does: the workers, too
    else:
        running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (code, "")
    told = f"hfl-plan: stopped; what is finished is kept. `hfl-plan validate resume --store '{store}'` goes on."
    assert err.strip() == told
    assert count(store, "finished IS NULL AND owner IS NOT NULL") == 0


@pytest.mark.parametrize(("number", "stopped"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_told_to_end_does_so_too(
    tmp_path: Path, validate: Any, monkeypatch: pytest.MonkeyPatch, number: int, stopped: int
) -> None:
    """In this process, in its second cell."""
    from validation.experiment import Cell

    whole, made, store = Cell.run, itertools.count(1), tmp_path / "a folder" / "stopped.db"
    store.parent.mkdir()

    def told(cell: Cell, *how: Any, **more: Any) -> Any:
        if next(made) == 2:
            os.kill(os.getpid(), number)
        return whole(cell, *how, **more)

    assert threading.current_thread() is threading.main_thread()  # which alone is told
    before = signal.getsignal(number)
    monkeypatch.setattr(Cell, "run", told)
    code, out, err = validate("run", CLAIM, "--store", str(store))
    assert (code, out) == (stopped, "") and signal.getsignal(number) == before
    assert f"stopped; what is finished is kept. `hfl-plan validate resume --store '{store}'` goes on." in err
    assert count(store, "finished IS NOT NULL") == 1
    assert count(store, "finished IS NULL AND owner IS NOT NULL") == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE notes SET text = 'x' WHERE name = 'claims'", "the note 'claims', 'x', is no list of claims"),
        ("UPDATE notes SET text = 'giant' WHERE name = 'size'", "the note 'size', 'giant', is neither quick nor full"),
        ("UPDATE results SET number = 'much'", "has 'much' as a number"),
        ("UPDATE results SET round = 999999 WHERE run = 0", "has other runs or rounds than it"),
    ],
)
def test_a_store_that_was_altered_is_refused_in_one_line(
    finished: Path, tmp_path: Path, validate: Any, change: str, told: str
) -> None:
    store = tmp_path / "altered.db"
    with sqlite3.connect(finished) as db, sqlite3.connect(store) as copy:
        db.backup(copy)
    with sqlite3.connect(store) as db:
        db.execute(change)
    code, out, err = validate("report", "--store", str(store))
    assert (code, out) == (1, "")
    assert err.startswith(f"no answer[N001]: {store}: ")
    assert told in err
    assert err.count("\n") == 2


def test_what_is_finished_is_not_run_again(
    finished: Path, told: Any, validate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from validation.experiment import Cell

    def never(self: Cell) -> None:
        raise AssertionError("run again")

    monkeypatch.setattr(Cell, "run", never)
    code, out, err = validate("resume", "--store", str(finished), "--json")
    assert (code, err) == (0, "")
    command = {"command": ["hfl-plan", "validate", "resume", "--store", str(finished), "--json"]}
    assert json.loads(out) == {**told, **command}


@pytest.mark.parametrize(
    ("words", "code", "wanted"),
    [
        (["run", "ring-tpo"], 2, "no claim is called 'ring-tpo'; perhaps ring-top or "),
        (["run", "sorcery"], 2, "no claim is called 'sorcery'. `hfl-plan validate list` has them all."),
        (["report"], 1, "does not exist. `hfl-plan validate run` makes it."),
        (["resume"], 1, "does not exist. `hfl-plan validate run` makes it."),
        (["run", CLAIM, "--workers", "0"], 2, "--workers"),
        (["run", CLAIM, "--engine", "slurm"], 2, "--engine: 'slurm' is not one of local, ray"),
        (["run", CLAIM, "--local-steps", "compield"], 2, "Did you mean compiled?"),
    ],
)
def test_refusals_are_one_line(validate: Any, tmp_path: Path, words: list[str], code: int, wanted: str) -> None:
    found, out, err = validate(*words, "--store", str(tmp_path / "none.db"))
    assert (found, out) == (code, "")
    assert wanted in err.replace("\n  help: ", ". ")
    assert re.match(r"(error|no answer)\[[EN]\d{3}\]: ", err)
    assert err.count("\n") == 2


def test_a_run_that_is_refused_leaves_a_store_as_it_is(finished: Path, validate: Any, tmp_path: Path) -> None:
    before = kept(finished)
    for wrong, code in ((["--engine", "slurm"], 2), (["--device", "tpu"], 1)):
        assert validate("run", "ring-top", *wrong, "--store", str(finished))[0] == code
        assert kept(finished) == before
        assert validate("run", "ring-top", *wrong, "--store", str(tmp_path / "none.db"))[0] == code
    assert not (tmp_path / "none.db").exists()


def test_a_store_in_a_folder_that_is_not_there_is_refused(validate: Any, tmp_path: Path) -> None:
    code, out, err = validate("run", CLAIM, "--store", str(tmp_path / "no" / "a.db"))
    assert (code, out) == (1, "")
    assert err == (
        f"no answer[N001]: the folder {tmp_path / 'no'} does not exist\n  help: Make it, or name another file.\n"
    )


def test_a_store_of_something_else_is_refused_and_left_alone(validate: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, whatever its name\n" * 50)
    for words in (["run", CLAIM], ["resume"], ["report"]):
        code, out, err = validate(*words, "--store", str(path))
        assert (code, out) == (1, "")
        assert "cannot be used as a store" in err
    assert path.read_text() == "not a database, whatever its name\n" * 50


def test_without_torch_the_way_out_is_named(validate: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else there(name, *rest)
    )
    code, out, err = validate("run", "--store", str(tmp_path / "x.db"))
    assert (code, out) == (1, "")
    assert err == f"no answer[N004]: validate: torch is not installed\n  help: Run {install('validation')}.\n"
    assert not (tmp_path / "x.db").exists()


# ------------------------------------------------------------------------------- pictures


def test_without_matplotlib_the_way_out_is_named(
    finished: Path, validate: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = validate("report", "--store", str(finished), "--pictures", str(tmp_path / "p"))
    assert (code, out) == (1, "")
    assert err == (
        f"no answer[N004]: a picture needs matplotlib, which is not installed\n  help: Run {install('plots')}.\n"
    )
    assert not (tmp_path / "p").exists()


def test_a_report_needs_no_matplotlib_unless_it_draws(
    finished: Path, validate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With neither it nor any module on it imported, and no way to import it."""
    monkeypatch.setattr(planner, "plot", planner.plot)  # as it is afterwards, whatever is imported anew
    for name in [one for one in sys.modules if one.startswith(("matplotlib.", "planner.plot"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert validate("report", "--store", str(finished))[::2] == (0, "")


def line(value: float, low: float, high: float, verdict: str = "holds", **other: Any) -> Row:
    told = {"setting": "a regime", "compared": "x / y", "measure": "ratio", "predicted": "smaller", "margin": 0.02}
    return Row(**{**told, "value": value, "low": low, "high": high, "pairs": 8, "verdict": verdict, **other})


INF, NAN = float("inf"), float("nan")
PICTURE = Finding(
    "some-claim",
    "a paper",
    "A statement that is long enough to be broken into more than one line of the picture, because it says so much.",
    "a bound",
    "a quantity",
    "fails",
    "a note",
    (
        line(0.8, 0.7, 0.9),
        line(1.4, 1.2, 1.7, "fails", setting="another regime"),
        line(1.0, 0.5, 2.0, "cannot tell", setting="another regime"),
        line(INF, 0.0, INF, "cannot tell", compared="one diverged"),
        line(INF, INF, INF, "fails", compared="all diverged"),
        line(NAN, 0.0, INF, "cannot tell", compared="both diverged"),
        line(0.0, 0.0, 0.0, compared="the other diverged"),
        line(0.3, -0.1, 0.7, "cannot tell", measure="tau", predicted="agrees", margin=0.1),
    ),
)


def drawn(folder: Path) -> dict[str, bytes]:
    pytest.importorskip("matplotlib")
    assert validate_pictures.draw([PICTURE], folder) == [folder / f"some-claim.{end}" for end in ("svg", "png", "csv")]
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a picture that was drawn once, in a folder that was not there."""
    return drawn(tmp_path_factory.mktemp("pictures") / "a" / "b")


def test_pictures_are_the_same_bytes_every_time_whatever_the_settings(first: dict[str, bytes], tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": None, "savefig.dpi": 20}):
        assert drawn(tmp_path / "c") == first
        assert matplotlib.rcParams["font.size"] == 30
    assert set(first) == {"some-claim.svg", "some-claim.png", "some-claim.csv"}
    assert first["some-claim.png"].startswith(b"\x89PNG")
    assert b"<svg" in first["some-claim.svg"]
    assert b"<dc:date>" not in first["some-claim.svg"]


def test_the_data_of_a_picture_are_its_lines(first: dict[str, bytes]) -> None:
    rows = list(csv.DictReader(first["some-claim.csv"].decode().splitlines()))
    assert len(rows) == len(PICTURE.rows)
    for row, told in zip(rows, PICTURE.rows, strict=True):
        assert (row["setting"], row["compared"], row["verdict"]) == (told.setting, told.compared, told.verdict)
        assert repr(float(row["value"])) == repr(told.value)
        assert (float(row["low"]), float(row["high"])) == (told.low, told.high)


def test_a_colour_is_never_the_only_difference() -> None:
    colours, shapes = zip(*validate_pictures.LOOKS.values(), strict=True)
    assert len(set(colours)) == len(set(shapes)) == 3


def test_the_places_of_marks_are_those_of_the_numbers() -> None:
    pytest.importorskip("matplotlib")
    tau, ratio = validate_pictures._figure(PICTURE).axes
    assert (ratio.get_xscale(), tau.get_xscale()) == ("log", "linear")
    marks = [mark for mark in ratio.get_lines() if mark.get_marker() in ("o", "X", "D")]
    assert [mark.get_xdata()[0] for mark in marks] == [0.8, 1.4, 1.0]
    arrows = [mark for mark in ratio.get_lines() if mark.get_marker() in ("<", ">")]
    assert [mark.get_marker() for mark in arrows] == ["<", ">", ">", "<"]  # from 0 to inf; all inf; all 0
    words = " ".join(text.get_text() for text in ratio.texts)
    assert "both diverged" in words
    low, high = ratio.get_xlim()
    assert low < 0.5
    assert high > 2.0


def test_the_interval_is_said_where_the_mark_may_hide_it() -> None:
    assert validate_pictures._said(line(1.0004, 0.9987, 1.0021)) == "1.000 [0.999, 1.002]; predicted: smaller"
    assert validate_pictures._said(line(0.00228, 0.00227, 0.0023)) == "0.00228 [0.00227, 0.0023]; predicted: smaller"
    assert validate_pictures._said(line(INF, 0.0, INF)) == "diverged; predicted: smaller"


def test_a_report_draws_every_finished_claim(finished: Path, told: Any, validate: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code, out, err = validate("report", "--store", str(finished), "--pictures", str(tmp_path / "p"))
    assert (code, err) == (0, "")
    assert f"3 files are in {tmp_path / 'p'}." in " ".join(out.split())
    rows = list(csv.DictReader((tmp_path / "p" / f"{CLAIM}.csv").read_text().splitlines()))
    assert [float(row["value"]) for row in rows] == [row["ratio"] for row in told["rows"][0]["rows"]]


def test_a_folder_that_cannot_be_written_is_refused(finished: Path, validate: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        code, out, err = validate("report", "--store", str(finished), "--pictures", str(folder))
        assert (code, out) == (1, "")
        assert err.startswith(f"no answer[N001]: --pictures: {folder} cannot be written: ")
        assert err.count("\n") == 2
    assert (tmp_path / "file").read_text() == "mine"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    first: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in first.items():
        (tmp_path / name).write_bytes(content)

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(NoAnswerError, match="cannot be written: No space left on device"):
        validate_pictures.draw([PICTURE], tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first


# ---------------------------------------------------------------- numbers


def test_every_number_is_exported_once(finished: Path, validate: Any, tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    code, out, err = validate("export", "--store", str(finished), "--output", str(file))
    assert (code, err) == (0, f"hfl-plan: wrote {file}\n")
    with file.open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    with sqlite3.connect(finished) as db:
        kept = db.execute("SELECT hash, run, quantity, kind, round, number FROM results").fetchall()
        described = dict(db.execute("SELECT hash, description FROM cells"))
    assert out.startswith(f"{len(kept):,} numbers of {len(described)} finished cells.")
    told = {(one["cell"], int(one["run"]), one["quantity"], one["kind"], int(one["round"])): one for one in lines}
    assert len(told) == len(lines) == len(kept)
    for name, at, quantity, kind, after, number in kept[::37]:
        line, cell = told[name[:12], at, quantity, kind, after], json.loads(described[name])
        assert (line["number"], line["diverged"]) == (str(number), "False")
        assert (float(line["rate"]), int(line["seed"])) == (cell["rates"][at], cell["seeds"][at])
        assert line["problem"] == cell["problem"]["name"]
        for part in ("problem", "algorithm"):
            assert all(line[f"{part}_{key}"] == str(value) for key, value in cell[part]["options"].items())


def test_parquet_is_written_where_something_can_and_refused_otherwise(
    finished: Path, validate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    gone = ("polars", "pyarrow")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name in gone else find(name, *rest))
    code, out, err = validate("export", "--store", str(finished), "--output", str(tmp_path / "a.parquet"))
    assert (code, out) == (1, "")
    assert "Run pip install polars, or name a .csv" in " ".join(err.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.frames
def test_parquet_has_what_the_csv_has(finished: Path, validate: Any, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    for suffix in ("csv", "parquet"):
        assert validate("export", "--store", str(finished), "--output", str(tmp_path / f"a.{suffix}"))[0] == 0
    table, text = polars.read_parquet(tmp_path / "a.parquet"), polars.read_csv(tmp_path / "a.csv")
    assert table.columns == text.columns
    assert table["number"].to_list() == text["number"].to_list()


def test_a_store_that_is_not_there_has_no_numbers(validate: Any, tmp_path: Path) -> None:
    code, out, err = validate("export", "--store", str(tmp_path / "none.db"))
    assert (code, out) == (1, "")
    assert "does not exist" in err
