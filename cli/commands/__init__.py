"""The commands of `aval`, one file each: `add` declares its arguments, `run` does it."""

from cli.commands import (
    accounts,
    actions,
    audit,
    costs,
    customers,
    demo,
    doctor,
    live,
    members,
    numbers,
    reconcile,
    restored,
    setup,
    tools,
    turns,
    up,
)

ALL = (
    up,
    demo,
    live,
    setup,
    accounts,
    numbers,
    members,
    customers,
    tools,
    actions,
    turns,
    costs,
    audit,
    reconcile,
    doctor,
    restored,
)
