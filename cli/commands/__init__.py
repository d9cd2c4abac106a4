"""The commands of `aval`, one file each: `add` declares its arguments, `run` does it."""

from cli.commands import demo, up

ALL = (up, demo)
