"""Running PostgreSQL when we are root, without opening anybody's folders.

PostgreSQL refuses to run as root. The wheel's own start-up changes to the user `pgserver` and makes
that work by giving everyone read access to every folder above its data and above its binaries, a
private home included. Here nothing is opened: data goes where that user can reach it already, and
binaries that he cannot reach are copied to such a place.
"""

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from cli.stack.errors import StackError
from cli.stack.processes import SystemUser

USER = "pgserver"  # the name that the wheel uses too
SYSTEM_FOLDER = Path("/var/lib/aval")
_OTHERS_MAY_READ = stat.S_IROTH
_OTHERS_MAY_ENTER = stat.S_IXOTH


def is_root() -> bool:
    """Whether this process runs as uid 0."""
    return os.geteuid() == 0


def postgres_user() -> SystemUser | None:
    """Whom PostgreSQL runs as: us (None), or, if we are root, the user `pgserver`, made if it is
    missing. Raises StackError if it cannot be made."""
    if not is_root():
        return None
    try:
        entry = pwd.getpwnam(USER)
    except KeyError:
        _add_user()
        entry = pwd.getpwnam(USER)
    return SystemUser(name=USER, uid=entry.pw_uid, gid=entry.pw_gid)


def _add_user() -> None:
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", USER]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - constants
    except (OSError, subprocess.CalledProcessError) as error:
        raise StackError(
            "PostgreSQL does not run as root, and the user pgserver could not be made "
            f"({type(error).__name__}); run Aval as an ordinary user"
        ) from error


def closed_parent(folder: Path, owner: int | None = None) -> Path | None:
    """The topmost existing folder above `folder` that other users may not enter, if any; one that
    belongs to the user id `owner` is open to him."""
    for parent in reversed(folder.resolve().parents):
        if not parent.exists():
            return None
        found = parent.stat()
        if not found.st_mode & _OTHERS_MAY_ENTER and found.st_uid != owner:
            return parent
    return None


def data_folder(data: Path) -> Path:
    """Where PostgreSQL's files go for the stack whose data folder is `data`.

    Below it, unless we are root and `pgserver` cannot get there: then below /var/lib/aval, under a
    name that belongs to `data` alone. What is there already is never passed over for an empty one.
    """
    below = data / "postgres"
    if not is_root() or below.exists() or closed_parent(below) is None:
        return below
    name = hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:12]
    return SYSTEM_FOLDER / name / "postgres"


def private_folder(folder: Path, user: SystemUser | None) -> None:
    """Make `folder` if it is missing: mode 700, owned by `user` or by us.

    Raises StackError if a folder above is closed to `user`, or if it is somebody else's already.
    """
    if user is not None and (closed := closed_parent(folder, user.uid)) is not None:
        raise StackError(
            f"PostgreSQL's data folder {folder}: the user {user.name} may not enter {closed}, and "
            "as root Aval opens no folder to others; set AVAL_DATA to a folder whose parents are "
            "open, such as /var/lib/aval/data, or run Aval as an ordinary user"
        )
    if not folder.parent.exists():
        folder.parent.mkdir(parents=True)
    owner = user.uid if user else os.geteuid()
    if not folder.exists():
        folder.mkdir(mode=0o700)
        if user is not None:
            os.chown(folder, user.uid, user.gid)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner:
        raise StackError(
            f"{folder} belongs to user {found.st_uid}, not {owner}; run Aval as that user, or set "
            "AVAL_DATA to another folder"
        )
    folder.chmod(0o700)


def reachable_binaries(installed: Path) -> Path:
    """The wheel's installation for `pgserver`: as it is, or a copy below /var/lib/aval.

    `installed` is the folder above `bin`. The copy keeps the wheel's layout, since its programs
    find their libraries by it.
    """
    if closed_parent(installed / "bin") is None and _all_open(installed):
        return installed
    mark = hashlib.sha256(str((installed / "bin").stat().st_mtime_ns).encode()).hexdigest()[:12]
    target = SYSTEM_FOLDER / f"{installed.name}-{mark}"
    if not target.exists():
        SYSTEM_FOLDER.mkdir(mode=0o755, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=SYSTEM_FOLDER))
        package = installed.parent
        shutil.copytree(installed, draft / package.name / installed.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        _open_all(draft)
        try:
            draft.rename(target)
        except OSError:  # another start was quicker, or nothing of this is true
            shutil.rmtree(draft)
            if not target.exists():
                raise
    return target / installed.parent.name / installed.name


def _all_open(installed: Path) -> bool:
    places = (installed, installed / "bin", installed / "lib", installed / "share")
    return all(
        place.stat().st_mode & _OTHERS_MAY_ENTER and place.stat().st_mode & _OTHERS_MAY_READ
        for place in (*places, installed / "bin" / "postgres", installed / "bin" / "initdb")
    )


def _open_all(ours: Path) -> None:
    for path in (ours, *ours.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            enter = stat.S_IXGRP | stat.S_IXOTH if mode & stat.S_IXUSR else 0
            path.chmod(mode | stat.S_IRGRP | stat.S_IROTH | enter)
