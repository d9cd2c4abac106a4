"""The anchor file: heads of evidence chains, kept where the database's owner cannot change them.

One line a head, `head <action> <n> <hash>`; each batch ends with a line
`sealed <UTC time> <SHA-256 of everything before it>`, so that the file itself cannot be edited
unseen once its last seal is known elsewhere (a log, a mail, paper).
"""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from domain.errors import OperatorError
from store.evidence import Head

_HEAD = re.compile(r"head ([0-9a-f]{32}) ([1-9][0-9]{0,9}) ([0-9a-f]{64})\n")
_SEAL = re.compile(r"sealed (\S+) ([0-9a-f]{64})\n")


@dataclass(frozen=True, kw_only=True)
class Anchors:
    """What a file holds: its heads, and when it was last sealed (UTC); None for an empty file."""

    heads: list[Head]
    sealed_at: datetime | None
    seal: str | None


def read(path: Path) -> Anchors:
    """The file, empty if there is none. Raises OperatorError, naming the line, where it is not what
    `write` wrote."""
    try:
        text = path.read_text(encoding="ascii") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"anchor file {str(path)!r}: {type(error).__name__}") from None
    heads: list[Head] = []
    sealed_at, seal, before = None, None, hashlib.sha256()
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if head := _HEAD.fullmatch(line):
            heads.append(Head(action_id=head[1], n=int(head[2]), hash=head[3]))
        elif (found := _SEAL.fullmatch(line)) and found[2] == before.hexdigest():
            sealed_at, seal = _moment(path, number, found[1]), found[2]
        else:
            raise _damaged(path, number)
        before.update(line.encode("ascii"))
    if lines and _SEAL.fullmatch(lines[-1]) is None:
        raise _damaged(path, len(lines))
    return Anchors(heads=heads, sealed_at=sealed_at, seal=seal)


def write(path: Path, heads: Iterable[Head]) -> str:
    """Append a sealed batch and make it durable; its seal. Raises OperatorError."""
    batch = "".join(f"head {one.action_id} {one.n} {one.hash}\n" for one in heads)
    try:
        before = path.read_bytes() if path.exists() else b""
        seal = hashlib.sha256(before + batch.encode("ascii")).hexdigest()
        with path.open("a", encoding="ascii") as file:
            file.write(f"{batch}sealed {datetime.now(UTC).isoformat(timespec='seconds')} {seal}\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OperatorError(f"anchor file {str(path)!r}: {type(error).__name__}") from None
    return seal


def _moment(path: Path, number: int, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise _damaged(path, number) from None


def _damaged(path: Path, number: int) -> OperatorError:
    return OperatorError(
        f"anchor file {str(path)!r}, line {number}: changed, cut or not an anchor file; compare it "
        "with its backup"
    )
