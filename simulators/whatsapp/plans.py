"""Faults and status plans waiting for the sends they apply to: first match, counted down."""

from typing import Protocol, TypeVar

from simulators.whatsapp.models import Filter


class Matchable(Protocol):
    """What a plan may look at in a send."""

    @property
    def type(self) -> str: ...

    @property
    def callback_data(self) -> str | None: ...


P = TypeVar("P", bound=Filter)


class Plans(list[P]):
    """An ordered list of plans of one kind."""

    def take(self, send: Matchable, person_id: str | None) -> P | None:
        """Return the first plan that fits and use it once, or none."""
        for index, plan in enumerate(self):
            if not _fits(plan, send, person_id):
                continue
            if plan.times is not None:
                plan.times -= 1
                if plan.times <= 0:
                    del self[index]
            return plan
        return None


def _fits(plan: Filter, send: Matchable, person_id: str | None) -> bool:
    return (
        (plan.type is None or plan.type == send.type)
        and (plan.person is None or plan.person == person_id)
        and (
            plan.callback_prefix is None
            or (send.callback_data or "").startswith(plan.callback_prefix)
        )
    )
