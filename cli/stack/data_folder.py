"""The folder in which a stack keeps everything: made private, used by one stack at a time."""

import fcntl
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from cli.stack import reach
from cli.stack.errors import StackError

_SECRETS = "secrets.json"
_LOCK = "lock"


def _new() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True, kw_only=True, repr=False)
class Secrets:
    """The secrets of the simulated parties. They outlive a stop: an old prompt can be pressed
    after it only if the webhook's signature and the page's key are still the same."""

    whatsapp_token: str = field(default_factory=_new)
    whatsapp_app_secret: str = field(default_factory=_new)
    whatsapp_verify_token: str = field(default_factory=_new)
    page_key: str = field(default_factory=_new)
    claude_key: str = field(default_factory=_new)
    claude_admin: str = field(default_factory=_new)
    payments_key: str = field(default_factory=_new)
    payments_admin: str = field(default_factory=_new)


def make(folder: Path) -> None:
    """Make the folder if it is missing. Others may not list it; as root they may pass through, to
    PostgreSQL's part alone. Raises StackError if it cannot be made."""
    try:
        if not folder.exists():
            folder.mkdir(parents=True, mode=0o700)
            folder.chmod(0o711 if reach.is_root() else 0o700)
    except OSError as error:
        raise StackError(f"AVAL_DATA: {folder}: {error.strerror}") from error
    if not folder.is_dir():
        raise StackError(f"AVAL_DATA: {folder} is not a folder")


@contextmanager
def throw_away(prefix: str) -> Iterator[Path]:
    """A new folder that is gone afterwards, PostgreSQL's part too, wherever that lay."""
    folder = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    if reach.is_root():
        folder.chmod(0o711)
    elsewhere = reach.data_folder(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not elsewhere.is_relative_to(folder):
            shutil.rmtree(elsewhere.parent, ignore_errors=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder: two stacks on one would fight over its files. Raises StackError."""
    try:
        lock = (folder / _LOCK).open("a+")
    except OSError as error:
        raise StackError(f"AVAL_DATA: {folder / _LOCK}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            raise StackError(
                f"another Aval (process {lock.read().strip() or 'unknown'}) runs on {folder}; "
                "stop it, or set AVAL_DATA to another folder"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def read_secrets(folder: Path) -> Secrets:
    """The folder's secrets, made at the first call; the file has mode 600. Raises StackError."""
    path = folder / _SECRETS
    if not path.exists():
        _write(path, Secrets())
    path.chmod(0o600)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Secrets(**{one.name: str(found[one.name]) for one in fields(Secrets)})
    except (ValueError, KeyError, TypeError) as error:
        raise StackError(
            f"{path} is damaged ({type(error).__name__}); remove it, and the simulated parties "
            "start with new secrets"
        ) from error


def _write(path: Path, made: Secrets) -> None:
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(made), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
