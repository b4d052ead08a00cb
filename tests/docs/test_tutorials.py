"""Each tutorial is followed from its first line to its last, in an empty folder, with the files that it shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from test_docs import assert_shown, consoles, printed

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in (DOCS / "tutorials").glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("page", [*PAGES, DOCS / "file-formats.md"], ids=lambda path: path.stem)
def test_a_page_can_be_followed(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for name, content in re.findall(r"<!-- file: (\S+) -->\n```text\n(.*?)```", text, flags=re.DOTALL):
        (tmp_path / name).write_text(content, encoding="utf-8")
    commands = consoles(text)
    assert len(commands) >= 3
    for command, shown in commands:
        code, out, _ = printed(command, shown, capsys, monkeypatch)
        assert code == 0, command
        assert_shown(shown, out)
    scope: dict[str, object] = {}
    for block in re.findall(r"```pycon\n(.*?)```", text, flags=re.DOTALL):
        test = doctest.DocTestParser().get_doctest(block, scope, page.stem, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, clear_globs=False)
        scope = test.globs
        assert runner.failures == 0
