"""The environment of a command: the process's, over the file `.env` of the current folder."""

import os
from pathlib import Path

from dotenv import dotenv_values

DATA = "AVAL_DATA"
DEFAULT_DATA = ".data"


def load() -> dict[str, str]:
    """The process's environment over `.env`. An empty value in `.env` counts as not set."""
    file = {
        name: value
        for name, value in dotenv_values(".env", interpolate=False).items()
        if value is not None and value.strip()
    }
    return {**file, **os.environ}


def data_folder(environment: dict[str, str]) -> Path:
    """The folder in which the embedded stack keeps everything."""
    return Path(environment.get(DATA, "").strip() or DEFAULT_DATA).expanduser().resolve()
