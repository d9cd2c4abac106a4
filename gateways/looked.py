"""From what a look-up by our key showed to a verdict, the same for all providers.

The trap: an empty answer is weaker than it looks. A filter may be ignored, a list may go on over
further pages, a proxy may answer in the provider's place. Only a complete list of the right shape
proves an absence; everything else is uncertain.
"""

from pydantic import JsonValue

from domain.outcomes import LookupResult, Presence
from gateways.answers import answer_evidence
from gateways.reading import Json, objects_of, parse_object
from gateways.seen import Seen, Stage
from gateways.transport import Answer, Trip


def judge(trip: Trip, found: list[Seen]) -> LookupResult:
    """Return the verdict over everything that bears our key, of a complete look."""
    alive = [seen for seen in found if seen.stage is not Stage.FAILED]
    if len(alive) > 1:
        refs = ", ".join(repr(seen.provider_ref) for seen in alive)
        return LookupResult(
            presence=Presence.FOUND,
            final=True,
            equal=False,
            differences=[f"{len(alive)} effects under one key: {refs}"],
            provider_ref=alive[0].provider_ref,
            evidence=evidence(trip, alive[0]),
        )
    if alive:
        return present(trip, alive[0], final=alive[0].stage in (Stage.DONE, Stage.UNDONE))
    if found:
        return LookupResult(
            presence=Presence.ABSENT,
            final=True,
            equal=False,
            data=found[0].data,
            evidence={**evidence(trip, found[0]), "failure": found[0].failure},
        )
    return absent(trip)


def present(trip: Trip, seen: Seen, *, final: bool) -> LookupResult:
    """Return FOUND; equal if nothing differs and it was not taken back."""
    differences = list(seen.differences)
    if seen.stage is Stage.UNDONE:
        differences.append(f"taken back since: {seen.word!r}")
    return LookupResult(
        presence=Presence.FOUND,
        final=final,
        equal=not differences,
        differences=differences,
        provider_ref=seen.provider_ref,
        data=seen.data,
        evidence=evidence(trip, seen),
    )


def absent(trip: Trip, seen: Seen | None = None) -> LookupResult:
    """Return ABSENT that a later look may overturn."""
    return LookupResult(
        presence=Presence.ABSENT, final=False, equal=False, evidence=evidence(trip, seen)
    )


def uncertain(trip: Trip, *differences: str) -> LookupResult:
    """Return UNCERTAIN with what stood in the way."""
    return LookupResult(
        presence=Presence.UNCERTAIN,
        final=False,
        equal=False,
        differences=list(differences),
        evidence=evidence(trip, None),
    )


def evidence(trip: Trip, seen: Seen | None) -> dict[str, JsonValue]:
    """Return what may be kept of a look."""
    if isinstance(trip, Answer):
        return {**answer_evidence(trip), **(seen.evidence() if seen else {})}
    return {"exception": trip.exception, "reason": trip.reason}


def page_of(trip: Trip) -> Json | None:
    """Return a page whose `data` is a list of objects, or None if the answer is none."""
    if not isinstance(trip, Answer) or trip.status != 200:
        return None
    body = parse_object(trip.body)
    return body if body is not None and objects_of(body.get("data")) is not None else None
