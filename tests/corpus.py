"""Where the shared test corpus lies: beside the repository, in `shared/corpus`.

Without it the corpus tests are skipped with that reason; in CI (`CI=true`) its absence fails, so
that a pipeline cannot turn green by losing its evidence.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"


def corpus_folder(name: str) -> Path:
    """The folder `name` of the corpus; skips the test, or fails it in CI, if it is missing."""
    folder = CORPUS / name
    if not folder.is_dir():
        reason = f"the shared corpus {name!r} is not beside the repository"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


def whatsapp_bodies() -> Iterator[tuple[str, dict[str, object]]]:
    """(name, body) of every webhook body in the corpus, however deep its file nests it.

    A few files give one webhook as a group of named variants, one of which may itself look like a
    body with a part missing; each is yielded as it is.
    """
    for path in sorted(corpus_folder("whatsapp").glob("*.json")):
        yield from _bodies(path.stem, json.loads(path.read_text(encoding="utf-8")))


def whatsapp_body(name: str) -> dict[str, object]:
    """The body called `name`, like `message/text`. Raises `KeyError` for an unknown name."""
    return dict(whatsapp_bodies())[name]


def _bodies(name: str, node: object) -> Iterator[tuple[str, dict[str, object]]]:
    if not isinstance(node, dict):
        return
    if isinstance(node.get("entry"), list):
        yield name, {key: node[key] for key in node if key in ("object", "entry")}
    for key, child in node.items():
        if key != "entry":
            yield from _bodies(f"{name}/{key}", child)
