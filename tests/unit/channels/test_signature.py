"""Only Meta may post: the signature is over the bytes, and nothing fails open."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.whatsapp.signature import handshake, verify

BODY = b'{"text":"Ol\\u00e1 @ \\/"}'

SECRET = "s1"


def sign(body: bytes, secret: str = SECRET) -> str:
    """The header that Meta would send."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def test_published_vector() -> None:
    """Agrees with a published HMAC-SHA256 vector (RFC 4231, case 2), not only with itself."""
    digest = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert verify(b"what do ya want for nothing?", f"sha256={digest}", ["Jefe"])


@pytest.mark.parametrize("secrets", [["s1"], ["new", "s1"], ["s1", "old"]])
def test_either_secret_of_a_rotation(secrets: list[str]) -> None:
    """During a rotation both secrets verify, in either place."""
    assert verify(BODY, sign(BODY), secrets)


def test_hex_of_either_case() -> None:
    """Upper-case hex is the same number."""
    assert verify(BODY, "sha256=" + sign(BODY)[7:].upper(), ["s1"])


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "sha256=",
        sign(BODY)[7:],
        sign(BODY)[:-1],
        sign(BODY) + "0",
        sign(BODY) + "\n",
        " " + sign(BODY),
        "SHA256=" + sign(BODY)[7:],
        "sha1=" + sign(BODY)[7:],
        sign(BODY) + "," + sign(BODY),
        "sha256=" + "é" * 64,
        "sha256=" + "٣" * 64,
        sign(BODY, "other"),
        sign(BODY, ""),
    ],
)
def test_refused(header: str | None) -> None:
    """A missing, malformed or foreign header is a refusal, never an exception."""
    assert not verify(BODY, header, ["s1", "s2"])


@given(st.binary(min_size=1, max_size=50), st.data())
def test_any_changed_byte_is_refused(body: bytes, data: st.DataObject) -> None:
    """A signature holds for its own bytes only."""
    place = data.draw(st.integers(0, len(body) - 1))
    changed = (
        body[:place] + bytes([body[place] ^ data.draw(st.integers(1, 255))]) + body[place + 1 :]
    )
    assert verify(body, sign(body), ["s1"])
    assert not verify(changed, sign(body), ["s1"])


@pytest.mark.parametrize("secrets", [[], [""], ["s1", ""], "s1"])
def test_no_secret_is_an_error(secrets: list[str]) -> None:
    """No secret must not mean no check; a bare string is no list of secrets."""
    with pytest.raises(ValueError, match="secret"):
        verify(BODY, sign(BODY), secrets)


GOOD = {"hub.mode": "subscribe", "hub.verify_token": "t0ken", "hub.challenge": "1158201444"}


def test_handshake() -> None:
    """The right token gets the bare challenge."""
    assert handshake(GOOD, "t0ken") == "1158201444"


@pytest.mark.parametrize(
    "change",
    [
        {"hub.mode": "unsubscribe"},
        {"hub.mode": ""},
        {"hub.verify_token": "T0ken"},
        {"hub.verify_token": ""},
        {"hub.verify_token": "tökén\ud800"},
        {"hub.challenge": ""},
        {"hub.challenge": "<b>1</b>"},
        {"hub.challenge": "1" * 201},
        {"hub.challenge": "1\n"},
    ],
)
def test_handshake_refused(change: dict[str, str]) -> None:
    """Another mode or token, or a challenge that is no plain word, gets nothing."""
    assert handshake({**GOOD, **change}, "t0ken") is None


def test_handshake_without_parameters() -> None:
    """A bare GET gets nothing; an empty token of ours is an error of set-up."""
    assert handshake({}, "t0ken") is None
    with pytest.raises(ValueError, match="verify token"):
        handshake({"hub.verify_token": "", **GOOD}, "")
