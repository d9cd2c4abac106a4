"""CPF and CNPJ: canonical, checked, masked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.documents import document_kind, is_cnpj, is_cpf, mask_document, parse_document
from domain.errors import ToolInputError

CNPJ_CHARS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def with_digits(base: str) -> str:
    """The check digits by the rule's other wording: weights 2..9 repeating from the right."""
    longest = 11 if len(base) == 9 else 9
    for _ in range(2):
        total = sum(
            (ord(char) - 48) * (2 + at % (longest - 1)) for at, char in enumerate(reversed(base))
        )
        base += str(0 if total % 11 < 2 else 11 - total % 11)
    return base


@pytest.mark.parametrize(
    ("written", "plain"),
    [("529.982.247-25", "52998224725"), ("52998224725", "52998224725"),
     ("11.222.333/0001-81", "11222333000181"), ("12.ABC.345/01DE-35", "12ABC34501DE35"),
     ("12abc34501de35", "12ABC34501DE35")],
)  # fmt: skip
def test_known_documents(written: str, plain: str) -> None:
    """Published examples, with and without punctuation, the alphanumeric CNPJ among them."""
    assert parse_document(written) == plain


@pytest.mark.parametrize(
    "text",
    ["52998224724", "111.111.111-11", "00000000000000", "529982247251", "52998224725\n", "",
     "５２９９８２２４７２５", "12ABC34501DE3A", "abc", "٥٢٩٩٨٢٢٤٧٢٥"],
)  # fmt: skip
def test_what_is_no_document(text: str) -> None:
    """Wrong digits, repeated digits, line breaks, other scripts: what public libraries let pass."""
    with pytest.raises(ToolInputError, match="document") as caught:
        parse_document(text)
    assert not text.strip() or text.strip() not in str(caught.value)


@given(st.text("0123456789", min_size=9, max_size=9).filter(lambda base: len(set(base)) > 1))
def test_each_cpf_has_one_pair_of_check_digits(base: str) -> None:
    """Right digits pass, every other last digit fails."""
    cpf = with_digits(base)
    assert is_cpf(cpf)
    assert [d for d in "0123456789" if is_cpf(cpf[:10] + d)] == [cpf[10]]


@given(st.text(CNPJ_CHARS, min_size=12, max_size=12).filter(lambda base: len(set(base)) > 1))
def test_each_cnpj_has_one_pair_of_check_digits(base: str) -> None:
    """The same for the CNPJ, letters among it."""
    cnpj = with_digits(base)
    assert is_cnpj(cnpj)
    assert [d for d in "0123456789" if is_cnpj(cnpj[:13] + d)] == [cnpj[13]]


def test_masks() -> None:
    """Six places of a CPF or of a CNPJ's root are shown, and no check digit."""
    assert mask_document("12345678909") == "***.456.789-**"
    assert mask_document("12ABC34501DE35") == "**.ABC.345/****-**"
    assert (document_kind("12345678909"), document_kind("12ABC34501DE35")) == ("CPF", "CNPJ")
    with pytest.raises(ValueError, match="11 or 14"):
        mask_document("123")
