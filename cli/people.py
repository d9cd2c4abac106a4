"""Reading what an operator types about people and accounts. Each raises ArgumentTypeError, which
the parser turns into one line that names the argument."""

import argparse
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cli.arguments import BadArgumentsError
from domain.cleaning import clean_value
from domain.documents import parse_document
from domain.errors import ToolInputError
from domain.people import Person

_ACCOUNT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_USER_ID = re.compile(r"[\x21-\x7e]{1,140}")
_PHONE_PUNCTUATION = re.compile(r"[\s().+-]")
_EMAIL = re.compile(r"[^@\s<>,;]+@[^@\s<>,;]+\.[^@\s<>,;]+")


def account(text: str) -> str:
    """An account's id: small letters, digits, dashes."""
    if _ACCOUNT.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no account id; use small letters, digits and dashes, at most 63"
        )
    return text


def name(text: str) -> str:
    """A name as it may be printed in a summary: one line, nothing hidden, no WhatsApp markup."""
    try:
        return clean_value(text, field="name", max_chars=120)
    except ToolInputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def phone(text: str) -> str:
    """A phone as WhatsApp's `wa_id`: digits with the country's code; usual punctuation is taken."""
    digits = _PHONE_PUNCTUATION.sub("", text)
    if not digits.isascii() or not digits.isdigit() or not 5 <= len(digits) <= 20:
        raise argparse.ArgumentTypeError(f"{text!r} is no phone; write it like +5511988880001")
    return digits


def user_id(text: str) -> str:
    """A business-scoped user id, as webhooks bring it."""
    if _USER_ID.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no user id; write it like BR.1234567890")
    return text


def document(text: str) -> str:
    """A CPF or CNPJ, canonical. The value is not repeated: it may be somebody's, mistyped."""
    try:
        return parse_document(text)
    except ToolInputError:
        raise argparse.ArgumentTypeError(
            "this is no CPF or CNPJ (its check digits are wrong)"
        ) from None


def email(text: str) -> str:
    """A plain e-mail address."""
    if len(text) > 254 or _EMAIL.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a plain address like ana@exemplo.com")
    return text


def time_zone(text: str) -> str:
    """An IANA zone's name."""
    try:
        return ZoneInfo(text).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time zone; write it like America/Sao_Paulo"
        ) from None


def number_id(text: str) -> str:
    """Meta's id of a business number: digits, and not the number itself."""
    if re.fullmatch(r"[0-9]{1,32}", text) is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no phone number id; Meta shows it as a row of digits"
        )
    return text


def add_person_arguments(parser: argparse.ArgumentParser) -> None:
    """`--phone` and `--user-id`, either or both."""
    parser.add_argument("--phone", type=phone, help="with the country's code: +5511988880001")
    parser.add_argument("--user-id", type=user_id, help="business-scoped user id of a webhook")


def person_or_none(arguments: argparse.Namespace) -> Person | None:
    """The person that the two arguments name, if any."""
    if not arguments.phone and not arguments.user_id:
        return None
    return Person(user_id=arguments.user_id, wa_id=arguments.phone)


def person(arguments: argparse.Namespace) -> Person:
    """The person that the two arguments name. Raises BadArgumentsError for none."""
    found = person_or_none(arguments)
    if found is None:
        raise BadArgumentsError("aval: give --phone or --user-id, or both")
    return found


def shown(of: Person) -> str:
    """A person's ids, shortened to what tells them apart."""
    parts = [("id", of.user_id), ("phone", of.wa_id)]
    return ", ".join(f"{word} …{value[-4:]}" for word, value in parts if value)
