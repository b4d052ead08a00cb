"""The command that installs an extra is right for where the program came from."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from hflbounds.extras import install


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an environment in ``.venv`` that is not on the path, as README makes it."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "pip").touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    return programs


def installed(monkeypatch: pytest.MonkeyPatch, origin: object) -> None:
    said = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(metadata, "distribution", lambda _: SimpleNamespace(read_text=lambda _: said))


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, "'hfl-plan[web]'"),
        ({"url": "file:///opt/hfl%20plan", "dir_info": {"editable": True}}, "'/opt/hfl plan[web]'"),
        ({"url": "file:///opt/hfl_plan-1-py3-none-any.whl"}, "'/opt/hfl_plan-1-py3-none-any.whl[web]'"),
        ({"url": "https://host/it.git", "vcs_info": {"vcs": "git"}}, "'hfl-plan[web] @ git+https://host/it.git'"),
    ],
)
def test_it_is_taken_from_where_it_was_installed(monkeypatch, origin: object, wanted: str) -> None:
    installed(monkeypatch, origin)
    assert install("web") == f".venv/bin/pip install {wanted}"


def test_in_a_clone_it_is_the_command_of_readme(monkeypatch, tmp_path: Path) -> None:
    installed(monkeypatch, {"url": tmp_path.as_uri(), "dir_info": {}})
    assert install("plots") == ".venv/bin/pip install '.[plots]'"


def test_pip_is_named_alone_only_where_that_is_the_right_one(monkeypatch, environment: Path) -> None:
    installed(monkeypatch, None)
    monkeypatch.setenv("PATH", str(environment))
    assert install("web") == "pip install 'hfl-plan[web]'"
    (environment / "pip").unlink()
    assert install("web") == ".venv/bin/python -m pip install 'hfl-plan[web]'"


def test_without_a_record_it_is_the_package_index(monkeypatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install("ray").endswith("pip install 'hfl-plan[ray]'")
