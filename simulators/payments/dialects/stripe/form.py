"""Reads form-encoded bodies the way Stripe does: names it does not know are refused."""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

from simulators.payments.dialects.stripe.errors import refuse

_METADATA = re.compile(r"metadata\[([^\[\]]{1,40})\]")
_INDEX = re.compile(r"\[[0-9]+\]$")
MAX_METADATA = 50
MAX_METADATA_VALUE = 500


class Form:
    """The fields of one request. Each getter raises RefusedError 400 for a bad value."""

    def __init__(self, pairs: Iterable[tuple[str, str]], *, known: frozenset[str]) -> None:
        """Take the pairs; every name has to be in `known` or in metadata."""
        self.metadata: dict[str, str] = {}
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            plain = _INDEX.sub("[]", name)
            if found := _METADATA.fullmatch(plain):
                self.metadata[found[1]] = value
            elif plain not in known:
                raise refuse(
                    400,
                    f"Received unknown parameter: {plain}",
                    code="parameter_unknown",
                    param=plain,
                )
            self._values.setdefault(plain, []).append(value)
        long = [name for name, value in self.metadata.items() if len(value) > MAX_METADATA_VALUE]
        if long or len(self.metadata) > MAX_METADATA:
            raise refuse(400, "Metadata is too large.", param="metadata")

    def get(self, name: str) -> str | None:
        """Return a value, None if it was not given."""
        values = self._values.get(name)
        return values[-1] if values else None

    def need(self, name: str) -> str:
        """Return a value that has to be there and not blank."""
        value = self.get(name)
        if not value:
            raise refuse(
                400,
                f"Missing required param: {name}.",
                code="parameter_missing",
                param=name,
            )
        return value

    def all(self, name: str) -> list[str]:
        """Return all values of a list."""
        return self._values.get(name, [])

    def positive(self, name: str, *, most: int = 99_999_999) -> int:
        """Return an integer from 1 to `most`."""
        text = self.need(name)
        if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= most:
            raise refuse(
                400,
                f"Invalid positive integer: {text!r}",
                code="parameter_invalid_integer",
                param=name,
            )
        return int(text)


def read(body: bytes, *, known: frozenset[str]) -> Form:
    """Return the form in `body`. Raises RefusedError 400."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise refuse(400, "The body is not UTF-8.") from None
    return Form(parse_qsl(text, keep_blank_values=True), known=known)
