"""Whether a text of the model claims that something was done which the ledger does not know.

The trap this closes: the model says "pronto, gerei o Pix" of what still waits for a click, or never
was (facts/claude.md §4.5, §13). The person believes it. So a reply is read by fixed rules when it
is stored, and an unsupported claim is counted; the rules are cheap, know no context, and are wrong
now and then: both rates are measured on labelled sentences (tests/unit/domain/claims.jsonl).

What supports a claim: an executed action of that kind among the facts that the call carried, with
the amount if one is named; for a state that can be read somewhere ("foi marcado"), also a reading
of that kind. Questions, offers, plans, conditions, denials and what the person is said to have done
are no claims.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from domain.actions import Status
from domain.claim_words import DEEDS, FAMILIES, STATES, fold


class ClaimKind(StrEnum):
    """A deed is the speaker's own; a state may have been read."""

    DEED = "deed"
    STATE = "state"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something said to be done. `about`: families of `FAMILIES`, empty if none is named;
    `amounts`: in cents, as said in the same sentence. No word of the text is kept."""

    kind: ClaimKind
    about: frozenset[str]
    amounts: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class KnownAction:
    """What the ledger knows of an action. `amount_cents` None: it has none."""

    tool: str
    status: Status
    amount_cents: int | None = None


_TOOLS = {
    "create_pix_charge": {"charge"},
    "refund_charge": {"refund", "charge"},
    "transfer_balance": {"transfer"},
    "create_booking": {"booking"},
    "reschedule_booking": {"booking"},
    "cancel_booking": {"booking", "cancel"},
    "update_email": {"customer"},
    "list_bookings": {"booking", "cancel"},
    "get_charge": {"charge", "refund"},
    "find_customer": {"customer"},
    "get_balance": set[str](),
    "list_free_slots": set[str](),
    "talk_to_human": set[str](),
}
"""What the bundled tools are about; an own tool may be about anything."""

_ENDED_WITHOUT = {Status.CANCELLED, Status.EXPIRED, Status.SUPERSEDED, Status.FAILED}

_SENTENCE = re.compile(r"[^.!?\n…]*(?:\.(?=\d)[^.!?\n…]*)*[.!?\n…]*")
_PART = re.compile(r"[,;:]\s+|\s+[-–—]\s+")
_CLAUSE = re.compile(r"\s+(?:e|y|and|mas|but|pero|porem|que)\s+")
_AMOUNT = re.compile(
    r"(?:r\$\s*)(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{2}))?|\b(\d+)(?:,(\d{2}))? reais\b"
)
_NO = re.compile(
    r"\b(?:nao|nunca|nada|nenhum\w*|ninguem|jamais|sem|not|never|nothing|no|none|nobody|without"
    r"|ningun\w*|nadie|todavia|tampoco|nem|ni)\b|n't\b"
)
_CONDITION = re.compile(
    r"\b(?:caso|quando|assim que|depois|apos|antes|ate que|para que|enquanto|logo que|desde que"
    r"|if|when|once|after|before|until|whether|as soon as|cuando|una vez|despues|antes de"
    r"|hasta que|para que)\b|\bsi\b(?!,)"
    r"|\bse\s+(?:o|a|os|as|foi|foram|voce|esta|ja|for|tiver|quiser|ele|ela|seu|sua|houver)\b"
)
_THEIRS = re.compile(
    r"\b(?:voce|vc)\s+(?:\w+\s+)?(?:diss|fal|mencion|inform|coment|pedi|quer)\w*|\byou (?:said|told"
    r"|mentioned|asked|want)\b|\b(?:dijiste|mencionaste|pediste|quieres)\b"
)
_ASKS_HOW = re.compile(r"\b(?:quem|qual|quais|em que|where|who|which|quien|cual)\b")
_DRAFT = re.compile(
    r"\b(?:resumo|proposta|mensagem|botao|botoes|pergunta|summary|proposal|message|resumen"
    r"|propuesta|mensaje)\b"
)


def claims_in(text: str) -> list[Claim]:
    """All claims of the text, in order, whatever the ledger knows."""
    found = []
    for sentence in _SENTENCE.findall(fold(text)):
        found += _of_sentence(sentence)
    return found


def unsupported(
    text: str, *, known: Sequence[KnownAction], read: Sequence[str] = ()
) -> list[Claim]:
    """The claims of the text that nothing supports. `known`: the actions of which the call carried
    facts; `read`: names of the read tools whose answers the model had."""
    return [one for one in claims_in(text) if not _supported(one, known, read)]


def _of_sentence(sentence: str) -> list[Claim]:
    parts = [part for part in _PART.split(sentence) if re.search(r"\w", part)]
    if sentence.rstrip().endswith("?"):
        parts = parts[:-1]  # "gerei o Pix, quer mais algo?" asks with its last part alone
    pieces = [piece for part in parts for piece in _CLAUSE.split(part)]
    clauses = [piece.strip(" \t.!?…¡¿*_\"'()") for piece in pieces]
    kinds = [kind for clause in clauses if (kind := _kind(clause, sentence)) is not None]
    return [_claim(kind, sentence) for kind in kinds[:1]]


def _kind(clause: str, sentence: str) -> ClaimKind | None:
    if _DRAFT.search(clause) or _ASKS_HOW.search(clause):
        return None
    for kind, patterns in ((ClaimKind.DEED, DEEDS), (ClaimKind.STATE, STATES)):
        for pattern in patterns:
            match = pattern.search(clause)
            if match is not None and _said_plainly(clause, match.end(), sentence):
                return kind
    return None


def _said_plainly(clause: str, end: int, sentence: str) -> bool:
    """Nothing before the words in the clause denies them or makes them a condition, and the
    sentence does not begin as a condition or as the person's own word."""
    before = clause[:end]
    head = sentence[: sentence.find(clause)]
    return not (
        _NO.search(before)
        or _CONDITION.search(before)
        or _CONDITION.match(head.strip())
        or _THEIRS.search(head + before)
    )


def _claim(kind: ClaimKind, sentence: str) -> Claim:
    about = {name for name, words in FAMILIES.items() if re.search(words, sentence)}
    return Claim(kind=kind, about=frozenset(about), amounts=frozenset(_amounts(sentence)))


def _amounts(sentence: str) -> set[int]:
    found = set()
    for match in _AMOUNT.finditer(sentence):
        whole, cents = match[1] or match[3], match[2] or match[4]
        found.add(int(whole.replace(".", "")) * 100 + int(cents or 0))
    return found


def _supported(claim: Claim, known: Sequence[KnownAction], read: Sequence[str]) -> bool:
    if any(_proves(action, claim) for action in known):
        return True
    return claim.kind is ClaimKind.STATE and any(_about(tool, claim) for tool in read)


def _proves(action: KnownAction, claim: Claim) -> bool:
    if "cancel" in claim.about and action.status in _ENDED_WITHOUT:
        return True
    if action.status is not Status.EXECUTED or not _about(action.tool, claim):
        return False
    if action.amount_cents is None or not claim.amounts:
        return True
    return action.amount_cents in claim.amounts


def _about(tool: str, claim: Claim) -> bool:
    families = _TOOLS.get(tool)
    if families is None:
        return True
    if "cancel" in claim.about:
        return "cancel" in families
    return not claim.about or bool(families & claim.about)
