"""Collects messages and delivers them as Meta may: together, reordered, doubled, cut anew."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from simulators.whatsapp.models import Item

Order = Literal["as_sent", "reversed", "shuffled"]


@dataclass
class Collector:
    """The batch being collected, if one is. Statuses are collected only when asked for."""

    active: bool = False
    with_statuses: bool = False
    items: list[Item] = field(default_factory=list)

    def wants(self, item: Item) -> bool:
        """Tell whether an item is kept for the batch instead of being delivered."""
        return self.active and (self.with_statuses or item.kind == "messages")


def arranged(items: Sequence[Item], *, order: Order, copies: int, seed: int) -> list[Item]:
    """Return the items `copies` times each in the order asked; `shuffled` repeats by seed."""
    result = [item for item in items for _ in range(copies)]
    if order == "reversed":
        result.reverse()
    elif order == "shuffled":
        random.Random(seed).shuffle(result)
    return result
