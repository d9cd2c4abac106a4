"""The rooms keep their directions, and each contract in `.importlinter` is proved to bite.

The traps this closes: a contract that names a module that no longer exists passes for ever, and a
new room, or a new file of the store, is in no contract until somebody thinks of it.
"""

import ast
import configparser
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / ".importlinter"
PRODUCT = {
    "domain", "tools", "channels", "llm", "gateways", "store", "activities", "workflows", "api",
    "cli",
}  # fmt: skip
ROOMS = PRODUCT | {"simulators"}
ENTRY_POINTS = {"worker.py", "settings.py"}
BESIDE_THE_PRODUCT = {"tests", "bench", "docs", "examples"}

STORE_OPEN_TO_TOOLS = {"agenda", "charges", "clock", "connection", "customers", "pauses"}
"""The queries of the bundled tools' own tables, the pause that a person may ask for, and what every
query needs."""

BAD_IMPORTS: dict[str, list[tuple[str, str]]] = {
    "layers": [
        ("domain", "store.connection"),
        ("store", "tools.contract"),
        ("tools", "activities.deps"),
        ("activities", "workflows.turn"),
        ("workflows", "api.app"),
        ("api", "cli"),
        ("cli", "api.app"),
    ],
    "strangers": [
        (one, other)
        for one in ("channels", "llm", "gateways", "store")
        for other in ("channels", "llm", "gateways", "store")
        if one != other
    ],
    "llm-has-no-door": [
        ("llm", other)
        for other in ("channels", "gateways", "store", "tools", "activities", "asyncpg", "httpx")
    ],
    "tools-decide-nothing": [
        ("tools", f"store.{name}")
        for name in ("deciding", "executing", "proposing", "inbox", "outbox", "turns",
                     "transcripts", "typed_yes",
                     "actions", "history", "ringing", "audit", "reporting", "accounts", "demo",
                     "migrate")
    ],
    "tools-have-no-wire": [
        ("tools", other) for other in ("httpx", "urllib.request", "socket", "asyncpg", "anthropic")
    ],
    "product-without-simulators": [
        *[(room, "simulators.whatsapp.app") for room in sorted(PRODUCT)],
        ("api", "tests.corpus"),
        ("cli", "bench"),
        ("tools", "examples"),
    ],
    "simulators-without-product": [
        ("simulators", other) for other in (*sorted(PRODUCT), "settings", "worker", "tests.corpus")
    ],
    "settings-at-entry-points": [
        *[(room, "settings") for room in sorted(ROOMS - {"api", "cli"})],
        ("store", "pydantic_settings"),
    ],
    "worker-is-a-root": [(room, "worker") for room in sorted(ROOMS - {"cli"})],
    "domain-without-frameworks": [
        ("domain", other)
        for other in ("asyncpg", "anthropic", "fastapi", "httpx", "httpx2", "temporalio.workflow")
    ],
    "temporal-above-tools": [
        (room, "temporalio.activity")
        for room in ("tools", "channels", "llm", "gateways", "store", "domain")
    ],
}  # fmt: skip
"""Written out, not derived from the contracts: what is taken out of a contract must fail here."""

HIDDEN_IMPORTS = {
    "inside a function": ("gateways", "def _f() -> None:\n    import {}\n", "tools.contract"),
    "for types only": (
        "store",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {}\n",
        "activities.deps",
    ),
}

DRIVER = """
import contextlib, io, json, pathlib, sys
from importlinter.cli import lint_imports

def lint(contract=None):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        limit = (contract,) if contract else ()
        code = lint_imports(limit_to_contracts=limit, cache_dir=".cache", no_logo=True)
    return [code, out.getvalue()]

results = [lint()]
for contract, files in json.load(sys.stdin):
    for path, text in files.items():
        pathlib.Path(path).write_text(text)
    results.append(lint(contract))
    for path in files:
        pathlib.Path(path).unlink()
json.dump([*results, lint()], sys.stdout)
"""
"""One process for all cases: it lints the copy before, with each bad import, and after. A fresh
process, since import-linter would find this run's rooms, not the copy's, among loaded modules."""


def _contracts() -> dict[str, dict[str, set[str]]]:
    parser = configparser.ConfigParser()
    parser.read(CONFIG)
    prefix = "importlinter:contract:"
    return {
        name.removeprefix(prefix): {key: set(value.split()) for key, value in parser[name].items()}
        for name in parser.sections()
        if name.startswith(prefix)
    }


def _cases() -> list[tuple[str, str, dict[str, str], str]]:
    """Contract, name of the case, files to add, and what the report must name."""
    cases = [
        (contract, f"{room} imports {module}", {f"{room}/bad.py": f"import {module}\n"},
         module if module.split(".")[0] in ROOMS else module.split(".")[0])
        for contract, pairs in BAD_IMPORTS.items()
        for room, module in pairs
    ]  # fmt: skip
    for how, (room, text, module) in HIDDEN_IMPORTS.items():
        cases.append(("layers", how, {f"{room}/bad.py": text.format(module)}, module))
    through = {"tools/bad.py": "import store.bad\n", "store/bad.py": "import store.deciding\n"}
    cases.append(("tools-decide-nothing", "through another file", through, "store.deciding"))
    return cases


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """Exit code and report of each case, on a copy of the tree; `before` and `after` are clean."""
    copy = tmp_path_factory.mktemp("rooms")
    shutil.copy(CONFIG, copy)
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ENTRY_POINTS:
        shutil.copy(ROOT / name, copy)
    cases = _cases()
    ran = subprocess.run(  # noqa: S603 - this interpreter, a constant script
        [sys.executable, "-c", DRIVER],
        cwd=copy,
        input=json.dumps([(contract, files) for contract, _, files, _ in cases]),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    keys = [("", "before"), *[(contract, name) for contract, name, _, _ in cases], ("", "after")]
    return dict(zip(keys, json.loads(ran.stdout), strict=True))


def test_the_tree_keeps_every_contract(reports: dict[tuple[str, str], Any]) -> None:
    """The product as it is breaks no contract; nor does the copy when the bad imports are gone."""
    for when in ("before", "after"):
        code, report = reports["", when]
        assert code == 0, report
        assert f"Contracts: {len(_contracts())} kept, 0 broken." in report


@pytest.mark.parametrize(
    ("contract", "name", "named"),
    [pytest.param(c, n, m, id=f"{c}: {n}") for c, n, _, m in _cases()],
)
def test_a_bad_import_breaks_its_contract(
    reports: dict[tuple[str, str], Any], contract: str, name: str, named: str
) -> None:
    """The contract alone refuses the import, and its report names the culprit."""
    code, report = reports[contract, name]
    assert code == 1
    assert "Contracts: 0 kept, 1 broken." in report
    assert ".bad -> " in report
    assert named in report.partition("Broken contracts")[2]


def test_every_contract_is_broken_on_purpose() -> None:
    """No contract is trusted that was never seen to refuse."""
    assert set(BAD_IMPORTS) == set(_contracts())


def test_a_new_room_cannot_escape() -> None:
    """Every top-level folder with Python in it is a root package of the contracts, or one that
    stands beside the product; every top-level module is a known entry point."""
    parser = configparser.ConfigParser()
    parser.read(CONFIG)
    folders = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith(".") and any(path.glob("**/*.py"))
    }
    assert folders - BESIDE_THE_PRODUCT == ROOMS
    assert set(parser["importlinter"]["root_packages"].split()) == ROOMS
    assert {path.name for path in ROOT.glob("*.py")} == ENTRY_POINTS


def test_every_contract_covers_every_room_that_it_should() -> None:
    """A contract about "nobody but ..." lists everybody but those."""
    contracts = _contracts()
    assert contracts["layers"]["layers"] - {"|"} == PRODUCT
    without = contracts["product-without-simulators"]
    assert without["source_modules"] == PRODUCT
    assert contracts["simulators-without-product"]["forbidden_modules"] >= PRODUCT
    assert contracts["settings-at-entry-points"]["source_modules"] == ROOMS - {"api", "cli"}
    assert contracts["worker-is-a-root"]["source_modules"] == ROOMS - {"cli"}


def test_no_contract_makes_an_exception() -> None:
    """No import is waved through by name, and indirect ways count wherever they could matter."""
    for name, contract in _contracts().items():
        assert not any(key.startswith(("ignore_imports", "unmatched")) for key in contract), name
        indirect = contract.get("allow_indirect_imports", set())
        assert not indirect or name == "tools-have-no-wire", name


def test_a_new_file_of_the_store_is_open_or_closed_to_tools() -> None:
    """Whoever adds a query module says whether tools may see it; nothing is open by omission."""
    closed = _contracts()["tools-decide-nothing"]["forbidden_modules"]
    on_disk = {path.stem for path in (ROOT / "store").glob("*.py")} - {"__init__"}
    on_disk |= {path.name for path in (ROOT / "store").iterdir() if (path / "__init__.py").exists()}
    assert {name.removeprefix("store.") for name in closed} == on_disk - STORE_OPEN_TO_TOOLS
    assert on_disk >= STORE_OPEN_TO_TOOLS


def test_packaging_and_types_cover_every_room() -> None:
    """What is installed and what mypy reads are the same rooms."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    packaged = set(config["setuptools"]["packages"]["find"]["include"])
    assert packaged == {f"{room}*" for room in ROOMS}
    assert set(config["mypy"]["files"]) >= ROOMS | ENTRY_POINTS | {"tests"}


def _imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their room"
            found.add((node.module or "").split(".")[0])
    return found


def test_the_domain_stands_on_the_standard_library_and_pydantic() -> None:
    """Whatever the package, known to the contract or not."""
    for path in (ROOT / "domain").rglob("*.py"):
        assert _imported(path) <= sys.stdlib_module_names | {"pydantic", "domain"}, path


def test_the_entry_points_know_no_simulator_and_settings_know_nobody() -> None:
    """import-linter does not read single files: the same rule for them."""
    assert not _imported(ROOT / "worker.py") & {"simulators", "tests", "bench", "api", "cli"}
    allowed = sys.stdlib_module_names | {"pydantic", "pydantic_settings", "domain"}
    assert _imported(ROOT / "settings.py") <= allowed
