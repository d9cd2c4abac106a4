"""Installs and runs `stripe-stateful-mock`: a Stripe that none of us wrote (facts: payments §14).

What our own simulator and our own gateway both got wrong would never show between the two. The
package and all that it needs are pinned by their hashes in `stripe_peer/package-lock.json`, and
are installed without running their scripts, once, into the user's cache folder.
"""

import asyncio
import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

_PINNED = Path(__file__).parent / "stripe_peer"
_INSTALL_SECONDS = 120
_START_SECONDS = 15.0
_PROGRAM = "node_modules/stripe-stateful-mock/dist/cli.js"


def installed() -> Path:
    """Return the folder of the installed package. Skips the test, or fails it in CI, where Node
    is missing or the package cannot be installed."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            _cannot(f"{program} is not on this machine: the independent Stripe needs it")
    lock = (_PINNED / "package-lock.json").read_bytes()
    folder = _cache() / f"stripe-peer-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not (folder / _PROGRAM).exists():
        _install(folder)
    return folder


def _install(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        fresh = Path(made) / "peer"
        shutil.copytree(_PINNED, fresh)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        try:
            subprocess.run(  # noqa: S603 - a fixed command of ours
                command, cwd=fresh, check=True, capture_output=True, timeout=_INSTALL_SECONDS
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            _cannot(f"npm could not install the independent Stripe ({type(error).__name__})")
        try:
            fresh.rename(folder)
        except OSError:
            # Another run was first; what it installed is the same.
            assert (folder / _PROGRAM).exists()


@asynccontextmanager
async def running() -> AsyncIterator[str]:
    """Run the peer; yields its URL."""
    folder = await asyncio.to_thread(installed)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        "node",
        str(folder / _PROGRAM),
        env={"PATH": os.environ["PATH"], "PORT": str(port), "LOG_LEVEL": "silent"},
    )
    try:
        await asyncio.wait_for(_listens(port), _START_SECONDS)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def _listens(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        await writer.wait_closed()
        return


def _cannot(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _cache() -> Path:
    chosen = os.environ.get("XDG_CACHE_HOME")
    return (Path(chosen) if chosen else Path.home() / ".cache") / "aval-tests"
