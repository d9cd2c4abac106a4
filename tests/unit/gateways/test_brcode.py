"""A Pix code is handed on only if it is sound."""

import pytest

from gateways import brcode
from tests.unit.gateways.fakes import PIX_CODE


def resealed(text: str) -> str:
    return f"{text[:-4]}{brcode.crc16(text[:-4]):04X}"


def test_the_checksum_is_the_known_one() -> None:
    """CRC16-CCITT (0xFFFF) of the standard check string is 0x29B1."""
    assert brcode.crc16("123456789") == 0x29B1


def test_a_sound_code_gives_amount_and_url() -> None:
    """54 is the amount, 26/25 the place of the charge."""
    code = brcode.parse(PIX_CODE)
    assert code.amount_cents == 15_000
    assert code.url == "pix.simulador.example/v2/tran_MEZ5V2Alezm1cwe5"


@pytest.mark.parametrize("at", range(0, len(PIX_CODE), 7))
def test_any_changed_character_is_noticed(at: int) -> None:
    """One altered character breaks the checksum."""
    other = "0" if PIX_CODE[at] != "0" else "1"
    with pytest.raises(brcode.BrCodeError):
        brcode.parse(PIX_CODE[:at] + other + PIX_CODE[at + 1 :])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "6304",
        "0002",
        PIX_CODE[:-1],
        PIX_CODE + "\n",
        PIX_CODE.replace("LOJA", "LÓJA"),
        resealed(PIX_CODE.replace("5802BR", "5802US")),
        resealed(PIX_CODE.replace("br.gov.bcb.pix", "br.gov.bcb.pax")),
        resealed(PIX_CODE.replace("5406150.00", "54061500.0")),
        resealed(PIX_CODE.replace("5406150.00", "5406150,00")),
        resealed(PIX_CODE.replace("5913LOJA", "5999LOJA")),
        resealed(PIX_CODE.replace("5406150.00", "5406150.005406150.00")),
    ],
)
def test_an_unsound_code_is_refused(text: str) -> None:
    """Wrong country, scheme, amount form, length or a repeated field, even with a good seal."""
    with pytest.raises(brcode.BrCodeError):
        brcode.parse(text)
