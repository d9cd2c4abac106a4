"""The rules of form that a reader relies on, read from the source itself (style, habit 13).

Each rule is a function from a parsed file to the places that break it, so that the same function is
shown to catch a bad sample before it is trusted on the tree.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = (
    "domain", "tools", "channels", "llm", "gateways", "store", "activities", "workflows", "api",
    "cli",
)  # fmt: skip
FILE_LINES, FUNCTION_LINES = 400, 70


class Source(NamedTuple):
    """One file: its place in the repository, its text, its tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The top-level folder, or the file's own name if it stands alone."""
        return self.path.partition("/")[0]


def read(path: str, text: str) -> Source:
    """A source of this text, as if it stood at `path`."""
    return Source(path, text, ast.parse(text))


def product() -> Iterator[Source]:
    """Every file of the product."""
    paths = [ROOT / "worker.py", ROOT / "settings.py"]
    for room in PRODUCT:
        paths += sorted((ROOT / room).rglob("*.py"))
    for path in paths:
        yield read(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))


def long_files(source: Source) -> list[str]:
    """No file over 400 lines."""
    lines = len(source.text.splitlines())
    return [f"{lines} lines, at most {FILE_LINES}"] if lines > FILE_LINES else []


def long_functions(source: Source) -> list[str]:
    """No function over 70 lines."""
    return [
        f"{node.name}: {length} lines"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    ]


def printing(source: Source) -> list[str]:
    """No `print`: a worker's words are log lines. The command line prints."""
    if source.room == "cli":
        return []
    return [
        f"line {node.lineno}: print"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id == "print"
    ]


def reading_the_environment(source: Source) -> list[str]:
    """Only settings.py and cli read the environment: elsewhere a setting would have no one home."""
    if source.room in {"settings.py", "cli"}:
        return []
    doors = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in doors:
            found.append(f"line {node.lineno}: {node.attr}")
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            found += [f"line {node.lineno}: {a.name}" for a in node.names if a.name in doors]
    return found


def importing_by_name(source: Source) -> list[str]:
    """Only the tool registry (and cli, which starts programs) imports by a computed name: the
    contracts cannot see such an import."""
    if source.path == "tools/registry.py" or source.room == "cli":
        return []
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            of = getattr(node, "module", None)
            for name in [of] if of else [alias.name for alias in node.names]:
                if name.split(".")[0] in {"importlib", "runpy", "pkgutil"}:
                    found.append(f"line {node.lineno}: {name}")
        if isinstance(node, ast.Name) and node.id in {"__import__", "exec", "eval"}:
            found.append(f"line {node.lineno}: {node.id}")
    return found


def undocumented(source: Source) -> list[str]:
    """Every module, public class, and public function or method says what it is for. A text of the
    contract of texts is its own description: its name and its arguments, in one abstract class."""
    found = [] if ast.get_docstring(source.tree) or not source.text.strip() else ["the module"]
    of_texts = source.path == "domain/texts/contract.py"
    return found + list(_undocumented(source.tree, abstract_may=of_texts))


def _undocumented(scope: ast.Module | ast.ClassDef, *, abstract_may: bool) -> Iterator[str]:
    for node in scope.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or _marked(node, "override", "overload"):
            continue
        if not ast.get_docstring(node) and not (abstract_may and _marked(node, "abstractmethod")):
            yield f"line {node.lineno}: {node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(node, abstract_may=abstract_may)


def _marked(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, *names: str) -> bool:
    return any(
        (isinstance(mark, ast.Name) and mark.id in names)
        or (isinstance(mark, ast.Attribute) and mark.attr in names)
        for mark in node.decorator_list
    )


_WAIVER = re.compile(
    r"#\s*(?:noqa|type:\s*ignore)(?P<code>:\s*[A-Z0-9, ]+|\[[a-z-]+\])?(?P<rest>.*)"
)


def bare_waivers(source: Source) -> list[str]:
    """A silenced check names which and why, in its line."""
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(source.text.splitlines(), start=1)
        if (found := _WAIVER.search(line))
        and (found["code"] is None or len(found["rest"].strip(" #-")) < 5)
    ]


def unfinished(source: Source) -> list[str]:
    """Nothing called done says that it is not."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bNotImplementedError\b")
    return [
        f"line {number}: {line.strip()}"
        for number, line in enumerate(source.text.splitlines(), start=1)
        if marks.search(line)
    ]


def swallowed(source: Source) -> list[str]:
    """No `except` that catches all or catches an exception only to pass over it in silence."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                found.append(f"line {node.lineno}: bare except")
            elif all(isinstance(one, ast.Pass) for one in node.body) and not _says_why(
                source, node
            ):
                found.append(f"line {node.lineno}: except and pass")
    return found


def _says_why(source: Source, node: ast.ExceptHandler) -> bool:
    lines = source.text.splitlines()[node.lineno - 1 : node.body[-1].end_lineno]
    return any("#" in line for line in lines)


Rule = Callable[[Source], list[str]]

BAD: list[tuple[Rule, str, str]] = [
    (long_files, "store/bad.py", "x = 1\n" * 401),
    (long_functions, "store/bad.py", "async def f():\n" + "    x = 1\n" * 70),
    (long_functions, "store/bad.py", "class C:\n    def f(self):\n" + "        x = 1\n" * 70),
    (printing, "api/bad.py", "print('x')"),
    (printing, "worker.py", "map(print, [])"),
    (reading_the_environment, "gateways/bad.py", "import os\nos.environ['X']"),
    (reading_the_environment, "worker.py", "import os\nos.getenv('X')"),
    (reading_the_environment, "api/bad.py", "from os import environ"),
    (importing_by_name, "llm/bad.py", "import os, importlib.util"),
    (importing_by_name, "llm/bad.py", "from importlib import import_module"),
    (importing_by_name, "tools/bad.py", "__import__('store.deciding')"),
    (importing_by_name, "tools/bad.py", "exec('import store')"),
    (undocumented, "store/bad.py", "x = 1"),
    (undocumented, "store/bad.py", '"""M."""\ndef f(): ...'),
    (undocumented, "store/bad.py", '"""M."""\nclass C: ...'),
    (undocumented, "store/bad.py", '"""M."""\nclass C:\n    """C."""\n    async def f(self): ...'),
    (undocumented, "domain/texts/contract.py", '"""M."""\ndef f(): ...'),
    (bare_waivers, "api/bad.py", "import x  # noqa"),
    (bare_waivers, "api/bad.py", "import x  # noqa: F401"),
    (bare_waivers, "api/bad.py", "x = y  # type: ignore"),
    (bare_waivers, "api/bad.py", "x = y  # type: ignore[arg-type]"),
    (unfinished, "api/bad.py", "x = 1  # TODO: more"),
    (unfinished, "api/bad.py", "def f():\n    raise NotImplementedError"),
    (swallowed, "api/bad.py", "try:\n    f()\nexcept:\n    g()"),
    (swallowed, "api/bad.py", "try:\n    f()\nexcept ValueError:\n    pass"),
]  # fmt: skip

RULES = list(dict.fromkeys(rule for rule, _, _ in BAD))


@pytest.mark.parametrize(("rule", "path", "text"), BAD, ids=lambda v: getattr(v, "__name__", ""))
def test_each_rule_catches_its_sample(rule: Rule, path: str, text: str) -> None:
    """A rule is trusted only because it was seen to refuse."""
    assert rule(read(path, text))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_product_keeps_the_rule(rule: Rule) -> None:
    """No file of the product breaks it; the message says which and where."""
    broken = [f"{source.path}: {place}" for source in product() for place in rule(source)]
    assert not broken, f"{rule.__doc__}\n" + "\n".join(broken)


def test_the_product_is_read() -> None:
    """The rules above looked at every room, not at an empty list."""
    rooms = {source.room for source in product()}
    assert rooms >= {"worker.py", "settings.py", *PRODUCT}
