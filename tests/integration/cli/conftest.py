"""A folder whose parents everybody may enter, as `pgserver` needs it where tests run as root."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """An empty folder, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="aval-cli-", dir="/var/tmp")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
