"""README and docs against what they describe, so that they cannot drift."""

import re
from pathlib import Path

import pytest

from settings import Settings
from tests.acceptance.test_own_tool import TABLE

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLE = (ROOT / "examples" / "myshop" / "tools.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ["README.md", "docs/own-tools.md"])
def test_the_own_tool_that_is_shown_is_the_one_that_runs(page: str) -> None:
    """Exactly the file that tests/acceptance/test_own_tool.py runs, in less than 30 lines."""
    shown = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
    assert shown == [EXAMPLE]
    assert len(EXAMPLE.splitlines()) < 30


def test_the_own_tools_table_that_is_shown_is_the_one_that_is_made() -> None:
    """The statement of the README is the acceptance test's."""
    assert f"\n{TABLE};\n" in README


def _rows() -> dict[str, tuple[str, str]]:
    lines = [line for line in README.splitlines() if re.match(r"\| `[A-Z_]+` \|", line)]
    cells = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines]
    return {name: (required, default) for name, required, default, _what_for in cells}


def _as_told(name: str) -> tuple[str, str]:
    field = Settings.model_fields[name]
    if field.is_required():
        return "yes", ""
    default = field.default
    if default is None:
        return "no", ""
    return "no", ",".join(default) if isinstance(default, tuple) else str(default)


def test_the_settings_table_is_the_settings() -> None:
    """Every setting stands there by its variable, with the default that it has, and no other."""
    told = {
        str(field.validation_alias or f"AVAL_{name.upper()}"): _as_told(name)
        for name, field in Settings.model_fields.items()
    }
    assert _rows() == told


def test_every_room_has_its_line() -> None:
    """Each folder with code stands in the README and in the architecture, once."""
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    listed = re.findall(r"^\* `([a-z]+)/` ", README, re.M)
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert sorted(listed) == sorted(rooms - {"tests"})
    assert sorted(re.findall(r"^\| `([a-z]+)/` ", architecture, re.M)) == sorted(listed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file that is there."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_decision_stands_in_the_index() -> None:
    """The index lists each page, and each page has its four parts."""
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for page in sorted(folder.glob("[0-9]*.md")):
        text = page.read_text(encoding="utf-8")
        title = re.match(r"# \d{4}: (.+)\n", text)
        assert title is not None
        assert f"[{page.name[:4]}]({page.name}) | {title[1]} |" in index
        parts = re.findall(r"^## (\w+)", text, re.M)
        assert parts == ["Context", "Decision", "Consequences", "Alternatives"]


TABLES = re.compile(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", re.M)


def test_every_table_stands_in_the_architecture() -> None:
    """A new table is told where the others are."""
    architecture = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = (ROOT / "store" / "migrations").glob("*.sql")
    made = {name for file in files for name in TABLES.findall(file.read_text(encoding="utf-8"))}
    told = set(re.findall(r"`([a-z_]+)`", architecture))
    assert made - told == set()


@pytest.mark.parametrize("name", ["README.md", "docs/architecture.md", "docs/operating.md"])
def test_files_that_are_named_exist(name: str) -> None:
    """A path in backticks is a file or folder of the repository, unless it is the reader's own."""
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_.-]+/)+[a-z_.0-9-]*)[`:]", text))
    assert [one for one in sorted(named - {".data/"}) if not (ROOT / one).exists()] == []
