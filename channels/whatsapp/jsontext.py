"""JSON that one bad value cannot take down.

The trap: one element nested a thousand deep, one number of ten million digits or one broken byte
makes the standard parser refuse the *whole* body, and with it every other person's message. Here
such values become a marker inside their own item, and what is written back is always pure ASCII
(PostgreSQL's text holds neither NUL nor lone surrogates; escapes hold both).
"""

import hashlib
import json
import math
import re

MARKER = "aval:unreadable"
"""The key of the object that stands for a value which could not be read."""

MARKER_BYTES = b'{"' + MARKER.encode() + b'":'
"""Finds a marker in dumped JSON; text cannot forge it, since quotes inside text are escaped."""

MAX_DEPTH = 40
"""Levels. The deepest documented webhook has about 13."""

MAX_NUMBER = 400
"""Characters; Python refuses integers over 4,300 digits and takes quadratic time before that."""

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+\\?+(?:"|\Z)|[\[\]{}]', re.DOTALL)


def load(body: bytes) -> object:
    """The value of a JSON body. Bytes that are no UTF-8 become lone surrogates in their own text.

    Raises `ValueError` if it is no JSON, `RecursionError` if it is nested too deeply for Python.
    """
    return _load(body.decode("utf-8", "surrogateescape"))


def load_pruned(body: bytes) -> object:
    """Like `load`, with everything below `MAX_DEPTH` replaced by a marker with its SHA-256.

    Raises `ValueError` if it is no JSON.
    """
    return _load(_prune(body.decode("utf-8", "surrogateescape")))


def dump(value: object) -> bytes:
    """Canonical JSON (sorted keys, no spaces), pure ASCII: equal values give equal bytes.

    Raises `RecursionError` if `value` is nested too deeply for Python.
    """
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()


def sha256_key(raw: bytes) -> str:
    """The key of something that brought no id: `sha256:` and the hex digest of its bytes."""
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def storable(text: str) -> bool:
    """Whether PostgreSQL can hold `text`: no NUL, no lone surrogate."""
    if "\x00" in text:
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _load(text: str) -> object:
    loaded: object = json.loads(
        text, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )
    return loaded


def _integer(digits: str) -> object:
    return int(digits) if len(digits) <= MAX_NUMBER else {MARKER: f"number {digits}"}


def _float(digits: str) -> object:
    if len(digits) <= MAX_NUMBER and math.isfinite(number := float(digits)):
        return number
    return {MARKER: f"number {digits}"}


def _constant(name: str) -> object:
    return {MARKER: f"no JSON: {name}"}


def _prune(text: str) -> str:
    """`text` with every array or object that starts below `MAX_DEPTH` replaced by a marker."""
    kept: list[str] = []
    depth = copied = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == MAX_DEPTH + 1:
                kept.append(text[copied : token.start()])
                copied = token.start()
        elif token[0] in ("]", "}"):
            if depth == MAX_DEPTH + 1:
                cut = text[copied : token.end()].encode("utf-8", "surrogatepass")
                digest = hashlib.sha256(cut).hexdigest()
                kept.append(f'{{"{MARKER}":"nested below {MAX_DEPTH} levels, sha256 {digest}"}}')
                copied = token.end()
            depth -= 1
    if depth <= MAX_DEPTH:  # else it ends inside a deep part: no JSON, and not to be kept deep
        kept.append(text[copied:])
    return "".join(kept)
