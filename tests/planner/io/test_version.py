"""What is installed, found without the library's parser of mail, against the library."""

import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from planner.io.version import entry_points, version


def installed(folder: Path) -> None:
    """Describe a package that declares a predictor, as pip does."""
    about = folder / "some_thing-1.2.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-thing\nVersion: 1.2.3\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[some.group]\nown = json:dumps\n", encoding="utf-8")


@pytest.mark.parametrize("package", ["numpy", "typer", "hfl-plan", "pytest-xdist"])
def test_versions_are_those_of_the_library(package: str) -> None:
    """By the names of folders, and by what the packages say of themselves."""
    assert version(package) == metadata.version(package)


def test_what_is_not_installed_has_no_version() -> None:
    """Nothing is raised."""
    assert version("no-such-package-of-anybody") == "0+unknown"


def test_what_other_packages_declare_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder on the path; nobody declares another group."""
    installed(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    version.cache_clear()
    assert version("some-thing") == "1.2.3"
    assert [one.value for one in entry_points("some.group")] == ["json:dumps"]
    assert list(entry_points("no.such.group")) == []


def test_an_archive_on_the_path_is_asked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in it has no folder of its own."""
    installed(tmp_path)
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in (tmp_path / "some_thing-1.2.3.dist-info").iterdir():
            packed.write(file, f"some_thing-1.2.3.dist-info/{file.name}")
    monkeypatch.syspath_prepend(str(archive))
    assert [one.name for one in entry_points("some.group")] == ["own"]


def test_an_answer_starts_without_the_parser() -> None:
    """It takes as long as a tenth of an answer."""
    code = (
        "import sys, planner; from planner.decide import rank; rank.nearest_flips = lambda *_: ((), '')\n"
        "planner.recommend(G=4, M=4, settings={'plan.draws': 256}); print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_package_has_its_version_where_people_look() -> None:
    import planner

    assert planner.__version__ == planner.version() == version()
