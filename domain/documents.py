"""CPF and CNPJ: one canonical form, checked, and a mask for people.

The trap (facts/payments.md §12): of three public libraries one takes full-width digits, one takes
111.111.111-11, one takes a trailing line break. So: canonicalise → ASCII pattern → no repeated
digit → modulo 11. A CNPJ may hold letters (IN RFB 2229/2024): a character counts as `ord` - 48.
"""

import re

from domain.errors import ToolInputError

_PUNCTUATION = re.compile(r"[ ./-]")
_CPF = re.compile(r"[0-9]{11}", re.ASCII)
_CNPJ = re.compile(r"[0-9A-Z]{12}[0-9]{2}", re.ASCII)
_CNPJ_WEIGHTS = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)


def parse_document(text: str, *, field: str = "document") -> str:
    """Return the CPF (11 digits) or CNPJ (14 characters, upper case) without punctuation.

    Raises ToolInputError for anything else; the message holds no document, only what is wrong.
    """
    if not text.isascii():
        raise ToolInputError(f"{field}: a CPF or CNPJ has only plain digits and letters")
    plain = _PUNCTUATION.sub("", text).upper()
    if is_cpf(plain) or is_cnpj(plain):
        return plain
    raise ToolInputError(f"{field}: not a valid CPF (11 digits) or CNPJ (14 characters)")


def is_cpf(plain: str) -> bool:
    """Whether `plain` is a canonical CPF: 11 digits, not all equal, both check digits right."""
    if _CPF.fullmatch(plain) is None or len(set(plain)) == 1:
        return False
    return all(
        _check_digit(plain[:length], range(length + 1, 1, -1)) == plain[length]
        for length in (9, 10)
    )


def is_cnpj(plain: str) -> bool:
    """Whether `plain` is a canonical CNPJ: 14 characters, not all equal, check digits right."""
    if _CNPJ.fullmatch(plain) is None or len(set(plain)) == 1:
        return False
    return all(
        _check_digit(plain[:length], _CNPJ_WEIGHTS[13 - length :]) == plain[length]
        for length in (12, 13)
    )


def _check_digit(chars: str, weights: "range | tuple[int, ...]") -> str:
    total = sum((ord(char) - 48) * weight for char, weight in zip(chars, weights, strict=True))
    rest = total % 11
    return "0" if rest < 2 else str(11 - rest)


def document_kind(document: str) -> str:
    """Return `CPF` or `CNPJ` for a canonical document."""
    return "CPF" if len(document) == 11 else "CNPJ"


def mask_document(document: str) -> str:
    """Return what people may see of a canonical document.

    A CPF shows its middle six digits: `***.456.789-**`. A CNPJ shows the same six places of its
    root and neither branch nor check digits: `**.345.678/****-**`. Raises ValueError for another
    length: a text that is no document must not be printed as one.
    """
    if len(document) == 11:
        return f"***.{document[3:6]}.{document[6:9]}-**"
    if len(document) == 14:
        return f"**.{document[2:5]}.{document[5:8]}/****-**"
    raise ValueError(f"a document has 11 or 14 characters, got {len(document)}")
