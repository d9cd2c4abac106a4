"""Every text of a language, said once or oftener with given values, so that promises about all of
them are about all of them: `everything` covers the contract or fails."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from domain.actions import CloseReason, Status, Verdict
from domain.choosing import MOST_NAME_CHARS
from domain.inbound import InboundKind
from domain.payload import Frozen
from domain.texts import ActionFact, Texts

TODAY = date(2026, 11, 30)  # a Monday
ACTION = "9b1c2d" + "0" * 26


class For(StrEnum):
    """Who reads a text, which decides what it has to fit."""

    BUTTON = "button"
    PROMPT = "prompt"
    PERSON = "person"
    PART = "part"  # stands inside another text
    MARKER = "marker"
    MODEL = "model"


@dataclass(frozen=True, kw_only=True)
class Said:
    """A text with the name that the contract gives it; `way`: which case of it."""

    name: str
    way: str
    reader: For
    text: str | None


@dataclass(frozen=True, kw_only=True)
class Values:
    """What is filled in."""

    name: str = "Ana Lima"
    description: str | None = "Mat"
    email: str = "ana@exemplo.com"
    document: str | None = "52998224725"
    cents: int = 123_456
    number: int = 701
    detail: str = "abc"
    summary: str = "Xyz\nAbc"

    @property
    def payload(self) -> Frozen:
        """One payload that serves every bundled tool."""
        return {
            "customer_name": self.name,
            "professional_name": self.name,
            "recipient_name": self.name,
            "document": self.document,
            "amount_cents": self.cents,
            "charge_amount_cents": self.cents,
            "refunded_before_cents": self.cents,
            "charge_id": self.number,
            "description": self.description,
            "due_date": "2026-12-01",
            "starts_at": "2026-12-01T17:00:00Z",
            "old_starts_at": "2026-12-24T04:30:00Z",
            "time_zone": "America/Sao_Paulo",
            "minutes": 480,
            "email": self.email,
            "old_email": self.email,
        }


def everything(texts: Texts, values: Values) -> list[Said]:
    """All that the language can say with these values. Fails if a text of the contract is not
    among them."""
    said = [one for part in _PARTS for one in part(texts, values)]
    fields = {name for name, kind in Texts.__annotations__.items() if "ClassVar" in str(kind)}
    wanted = set(Texts.__abstractmethods__) | fields - {"language"}
    assert {one.name for one in said} == wanted
    return said


def _titles(texts: Texts, _values: Values) -> Iterator[Said]:
    for name in ("confirm_title", "cancel_title"):
        yield Said(name=name, way="", reader=For.BUTTON, text=getattr(texts, name))


def _summaries(texts: Texts, values: Values) -> Iterator[Said]:
    payload = values.payload
    dated = ("charge", "booking", "reschedule", "cancel_booking")
    found = {f"{one}_summary": getattr(texts, f"{one}_summary")(payload, today=TODAY)
             for one in dated}  # fmt: skip
    for one in ("refund", "transfer", "email"):
        found[f"{one}_summary"] = getattr(texts, f"{one}_summary")(payload)
    for name, summary in found.items():
        yield Said(name=name, way="", reader=For.PART, text=summary)
        for hours in (1, 30):
            expires = datetime.combine(TODAY, datetime.min.time()) + timedelta(hours=hours)
            prompt = texts.prompt_text(summary, expires, today=TODAY)
            way = f"{name} in {hours} hours"
            yield Said(name="prompt_text", way=way, reader=For.PROMPT, text=prompt)
        named = f"{summary}\n{texts.account_line(values.name[:MOST_NAME_CHARS])}"
        prompt = texts.prompt_text(named, expires, today=TODAY)
        yield Said(name="prompt_text", way=f"{name}, account", reader=For.PROMPT, text=prompt)


def _feedback(texts: Texts, values: Values) -> Iterator[Said]:
    payload = values.payload
    for code in ("00020126", ""):
        done = texts.charge_done(payload, {"pix_code": code})[0]
        yield Said(name="charge_done", way=code, reader=For.PERSON, text=done)
    for name in ("refund", "transfer", "booking", "reschedule", "cancel_booking", "email"):
        for done in getattr(texts, f"{name}_done")(payload):
            yield Said(name=f"{name}_done", way="", reader=For.PERSON, text=done)
            text = texts.with_reference(done, action_id=ACTION)
            yield Said(name="with_reference", way=name, reader=For.PERSON, text=text)


def _outcomes(texts: Texts, values: Values) -> Iterator[Said]:
    known = {"summary": values.summary, "action_id": ACTION}
    for reason in CloseReason:
        text = texts.closed(reason, detail=values.detail)
        yield Said(name="closed", way=reason, reader=For.PERSON, text=text)
    for status in Status:
        for name in ("late_confirm", "late_cancel"):
            text = getattr(texts, name)(status, **known)
            yield Said(name=name, way=status, reader=For.PERSON, text=text)
    for name in ("verifying", "processing", "done"):
        yield Said(name=name, way="", reader=For.PERSON, text=getattr(texts, name)(**known))


def _talk(texts: Texts, _values: Values) -> Iterator[Said]:
    for kind in InboundKind:
        text = texts.unsupported_input(kind)
        yield Said(name="unsupported_input", way=kind, reader=For.PERSON, text=text)
        note = texts.unreadable_note(kind)
        yield Said(name="unreadable_note", way=kind, reader=For.MODEL, text=note)
    for name in ("model_unavailable", "press_the_button"):
        yield Said(name=name, way="", reader=For.PERSON, text=getattr(texts, name)())


def _conversation(texts: Texts, values: Values) -> Iterator[Said]:
    for name in ("hand_over_summary", "change_account_words"):
        yield Said(name=name, way="", reader=For.PART, text=getattr(texts, name)())
    yield Said(name="account_line", way="", reader=For.PART, text=texts.account_line(values.name))
    for name, text in (
        ("human_coming", texts.human_coming()),
        ("nothing_known", texts.nothing_known()),
        ("which_account", texts.which_account([values.name, values.name])),
        ("account_chosen", texts.account_chosen(values.name)),
    ):
        yield Said(name=name, way="", reader=For.PERSON, text=text)


def _parts(texts: Texts, values: Values) -> Iterator[Said]:
    description = texts.charge_default_description()
    yield Said(name="charge_default_description", way="", reader=For.PART, text=description)
    yield Said(name="money", way="", reader=For.PART, text=texts.money(values.cents))
    for days in (-1, 0, 1, 24):
        text = texts.day_phrase(TODAY + timedelta(days=days), today=TODAY)
        yield Said(name="day_phrase", way=str(days), reader=For.PART, text=text)


def _reasons(texts: Texts, _values: Values) -> Iterator[Said]:
    for name in (
        "customer_gone", "customer_blocked", "customer_changed", "email_changed", "slot_taken",
        "slot_past", "professional_changed", "booking_changed", "due_date_past", "charge_changed",
        "balance_short", "recipient_changed",
    ):  # fmt: skip
        yield Said(name=name, way="", reader=For.PART, text=getattr(texts, name)())


def _markers(texts: Texts, values: Values) -> Iterator[Said]:
    for name in ("confirmed", "cancelled", "typed_yes", "expired", "superseded"):
        text = getattr(texts, f"event_{name}")(ACTION)
        yield Said(name=f"event_{name}", way="", reader=For.MARKER, text=text)
    failed = texts.event_failed(ACTION, reason=values.detail)
    yield Said(name="event_failed", way="", reader=For.MARKER, text=failed)
    for verdict in (Verdict.EXECUTED, Verdict.FAILED, Verdict.RESEND):
        text = texts.event_operator(ACTION, verdict=verdict)
        yield Said(name="event_operator", way=verdict, reader=For.MARKER, text=text)


def _facts(texts: Texts, values: Values) -> Iterator[Said]:
    for status in Status:
        fact = ActionFact(
            action_id=ACTION,
            tool="create_pix_charge",
            summary=texts.charge_summary(values.payload, today=TODAY),
            status=status,
            at=datetime.fromisoformat("2026-11-30T14:25"),
            expires_at=datetime.fromisoformat("2026-11-30T14:35"),
            close_reason=CloseReason.REJECTED,
            detail=values.detail,
            payload=values.payload,
        )
        yield Said(name="facts_text", way=status, reader=For.MODEL, text=texts.facts_text([fact]))


def _questions(texts: Texts, values: Values) -> Iterator[Said]:
    def said(name: str, text: str, way: str = "") -> Said:
        return Said(name=name, way=way, reader=For.MODEL, text=text)

    name, options = values.name, [values.name, values.name]
    for plain in (
        "no_customer_link", "say_which_customer", "already_booked", "no_recipient",
        "email_unchanged", "one_at_a_time",
    ):  # fmt: skip
        yield said(plain, getattr(texts, plain)())
    for asked in (
        "customer_not_found", "customer_without_document", "charge_not_found", "no_such_tool",
    ):  # fmt: skip
        yield said(asked, getattr(texts, asked)(name))
    for several in ("professional_not_found", "which_professional", "which_charge"):
        yield said(several, getattr(texts, several)(name, options))
    for more in (True, False):
        yield said("which_customer", texts.which_customer(name, options, more=more), str(more))
    for blocked in (True, False):
        option = texts.customer_option(name, document=values.document, blocked=blocked)
        yield said("customer_option", option, str(blocked))
    for free in (["09:00"], []):
        yield said("not_a_slot", texts.not_a_slot(name, free), str(len(free)))
    for numbered in ("booking_not_found", "nothing_to_refund"):
        yield said(numbered, getattr(texts, numbered)(values.number))
    for amount in ("refund_too_high", "balance_too_low"):
        yield said(amount, getattr(texts, amount)(values.cents))
    charge = texts.charge_option(values.number, amount_cents=values.cents, due=TODAY)
    yield said("charge_option", charge)
    amounts = {"least_cents": 1, "most_cents": values.cents}
    yield said("amount_out_of_range", texts.amount_out_of_range(**amounts))
    yield said("which_recipient", texts.which_recipient(options))
    yield said("bad_input", texts.bad_input("abc"))


_PARTS: tuple[Callable[[Texts, Values], Iterator[Said]], ...] = (
    _titles, _summaries, _feedback, _outcomes, _talk, _parts, _reasons, _markers, _facts,
    _questions, _conversation,
)  # fmt: skip
