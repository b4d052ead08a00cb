"""Sliders in a notebook: what they write is what the planner reads, and the answer is that of the command."""

from __future__ import annotations

import builtins
import json
from itertools import pairwise
from typing import Any

import pytest

import planner
from planner.errors import NoAnswerError, ScenarioError
from planner.serve import widget
from planner.serve.controls import OF_FLEET, OF_TIER

pytestmark = pytest.mark.usefixtures("few_draws")

SPELLED = {"100 kbit/s": 1e5, "10 Gbit/s": 1e10, "100 us": 1e-4, "2.0 s": 2.0, "10 kB": 1e4, "10 GB": 1e10, "99%": 0.99}


@pytest.mark.parametrize("control", [*OF_TIER, *OF_FLEET], ids=lambda control: control.key)
def test_stops_rise_from_one_end_of_a_slider_to_the_other(control: Any) -> None:
    amounts = [widget.amount(control, value) for _, value in widget.stops_of(control)]
    assert amounts == sorted(set(amounts))
    assert amounts[0] == (0 if control.zero else pytest.approx(control.low, rel=1e-12))
    assert amounts[-1] == pytest.approx(control.high, rel=1e-12)
    assert max(b / a for a, b in pairwise(amounts[1:])) <= 1.5  # whole numbers: 2, 3


def test_stops_are_written_with_their_units() -> None:
    stops = {value: widget.amount(one, value) for one in (*OF_TIER, *OF_FLEET) for _, value in widget.stops_of(one)}
    assert {text: stops[text] for text in SPELLED} == pytest.approx(SPELLED, rel=1e-12)


def test_values_are_written_and_read_by_path() -> None:
    tables: dict[str, Any] = {"fleet": {"tiers": [{}, {"count": 3}]}}
    widget.put(tables, "fleet.tiers[2].link.up", "5 Mbit/s")
    widget.put(tables, "plan.objective", "time")
    widget.put(tables, "fleet.tiers[2].count", None)
    assert tables == {"fleet": {"tiers": [{}, {"link": {"up": "5 Mbit/s"}}]}, "plan": {"objective": "time"}}
    assert widget.get(tables, "fleet.tiers[2].link.up") == "5 Mbit/s"
    assert widget.get(tables, "fleet.tiers[3].link.up") is widget.get(tables, "plan.objective.more") is None


def test_without_ipywidgets_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ipywidgets":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NoAnswerError, match=r"pip install '\.\[notebook\]'"):
        planner.what_if(G=3, M=4)


@pytest.fixture
def sliders() -> Any:
    pytest.importorskip("ipywidgets", reason="needs ipywidgets: pip install 'hfl-plan[notebook]'")
    return planner.what_if(G=12, M=25, uplink="20Mbit/s", link_sharing="per-client", model_size="45MB")


def test_a_slider_moves_the_answer_to_that_of_the_command(sliders: Any) -> None:
    def expected(**more: Any) -> str:
        asked = {"G": 12, "M": 25, "uplink": "20Mbit/s", "link_sharing": "per-client", "model_size": "45MB", **more}
        found = planner.recommend(**asked, objective="time", details=False)
        return found.verdict.text

    assert expected() in sliders.shown.value
    steps = sliders.controls["fleet.local_steps"]
    steps.value = 8
    assert expected(local_steps=8) in sliders.shown.value
    sliders.controls["fleet.tiers[2].link.sharing"].value = "per-server"
    assert expected(local_steps=8, link_sharing="per-server") in sliders.shown.value
    assert (
        planner.recommend(sliders.scenario).verdict.best
        == planner.recommend(
            G=12, M=25, uplink="20Mbit/s", link_sharing="per-server", model_size="45MB", local_steps=8, objective="time"
        ).verdict.best
    )
    assert 'sharing = "per-server"' in sliders.toml()


def test_sliders_begin_where_the_scenario_is(sliders: Any) -> None:
    shown = {key: one.label for key, one in sliders.controls.items()}
    assert shown["fleet.tiers[1].count"] == "12"
    assert shown["fleet.tiers[2].link.up"] == "20 Mbit/s"
    assert shown["model.size"] == "45 MB"
    assert json.dumps(sliders._repr_mimebundle_(), default=str).count("widget-view") == 1


def test_three_tiers_have_a_group_of_sliders_each() -> None:
    pytest.importorskip("ipywidgets", reason="needs ipywidgets: pip install 'hfl-plan[notebook]'")
    sliders = planner.what_if(tiers="4/5/20")
    assert {f"fleet.tiers[{i}].count" for i in (1, 2, 3)} < set(sliders.controls)
    assert "fleet.tiers[4].count" not in sliders.controls


def test_what_cannot_be_meant_is_said_and_kept(sliders: Any) -> None:
    sliders.tables["compute"] = {"step_time": "soon"}
    sliders.controls["fleet.local_steps"].value = 8
    assert "No answer." in sliders.shown.value and "step_time" in sliders.shown.value
    assert sliders.tables["fleet"]["local_steps"] == 8
    with pytest.raises(ScenarioError):
        _ = sliders.scenario


def test_names_are_shown_as_text() -> None:
    pytest.importorskip("ipywidgets", reason="needs ipywidgets: pip install 'hfl-plan[notebook]'")
    tiers = [{"name": "<script>", "count": 3}, {"name": "client", "count": 4}]
    sliders = planner.what_if({"fleet": {"tiers": tiers}})
    titles = [one.value for group in sliders.box.children[:-1] for one in group.children if hasattr(one, "placeholder")]
    assert "<b>&lt;script&gt;</b>" in titles
