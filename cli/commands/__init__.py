"""The commands of `aval`, one file each: `add` declares its arguments, `run` does it."""

from cli.commands import (
    accounts,
    actions,
    customers,
    demo,
    doctor,
    members,
    numbers,
    reconcile,
    restored,
    setup,
    tools,
    up,
)

ALL = (
    up,
    demo,
    setup,
    accounts,
    numbers,
    members,
    customers,
    tools,
    actions,
    reconcile,
    doctor,
    restored,
)
