"""Who may decide: the table of design §6 (facts/whatsapp.md §5.4), row by row."""

import pytest
from pydantic import ValidationError

from domain.people import Person, Role, Who, dialled_forms

PHONE, OTHER_PHONE = "5511988880001", "5511988880002"
NINTH_DIGIT_GONE = "551188880001"


@pytest.mark.parametrize(
    ("why", "frozen", "now", "same"),
    [
        ("equal user ids", ("BR.1", PHONE), ("BR.1", PHONE), True),
        ("equal user ids, phone missing now", ("BR.1", PHONE), ("BR.1", None), True),
        ("equal user ids, another phone", ("BR.1", PHONE), ("BR.1", OTHER_PHONE), True),
        ("equal user ids, no phone then", ("BR.1", None), ("BR.1", PHONE), True),
        ("another user id, same phone", ("BR.1", PHONE), ("BR.2", PHONE), False),
        ("user id in another case", ("BR.1a", PHONE), ("BR.1A", PHONE), False),
        ("a parent's user id", ("BR.1", PHONE), ("BR.ENT.1", PHONE), False),
        ("user id missing now, same phone", ("BR.1", PHONE), (None, PHONE), False),
        ("user id empty now, same phone", ("BR.1", PHONE), ("", PHONE), False),
        ("none then, user id now, same phone", (None, PHONE), ("BR.1", PHONE), True),
        ("none then, user id now, another phone", (None, PHONE), ("BR.1", OTHER_PHONE), False),
        ("none then, user id and no phone now", (None, PHONE), ("BR.1", None), False),
        ("only phones, equal", (None, PHONE), (None, PHONE), True),
        ("only phones, different", (None, PHONE), (None, OTHER_PHONE), False),
        ("only phones, without the ninth digit", (None, PHONE), (None, NINTH_DIGIT_GONE), False),
        ("only phones, with a plus", (None, PHONE), (None, "+" + PHONE), False),
        ("an empty user id is none: equal phones", ("", PHONE), ("", PHONE), True),
        ("an empty user id is none: other phones", ("", PHONE), ("", OTHER_PHONE), False),
    ],
)
def test_the_same_person(
    why: str, frozen: tuple[str | None, str | None], now: tuple[str | None, str | None], same: bool
) -> None:
    """User ids decide where the frozen person has one; else phones do, to the byte."""
    one = Person(user_id=frozen[0], wa_id=frozen[1])
    assert one.is_same(Person(user_id=now[0], wa_id=now[1])) is same, why


@pytest.mark.parametrize(("user_id", "wa_id"), [(None, None), ("", ""), (None, ""), ("", None)])
def test_nobody_is_no_person(user_id: str | None, wa_id: str | None) -> None:
    """Two people without any id would be equal to each other."""
    with pytest.raises(ValueError, match="user_id or a wa_id"):
        Person(user_id=user_id, wa_id=wa_id)


def test_a_person_is_frozen() -> None:
    """Who was compared is who acts."""
    with pytest.raises(ValidationError):
        Person(user_id="BR.1").user_id = "BR.2"  # type: ignore[misc]  # the point of the test


@pytest.mark.parametrize(
    ("role", "member"), [(Role.OWNER, True), (Role.STAFF, True), (Role.PUBLIC, False)]
)
def test_who_is_a_member(role: Role, member: bool) -> None:
    """Anyone who is not registered is public and sees his own objects only."""
    who = Who(
        account_id="demo",
        time_zone="America/Sao_Paulo",
        language="pt-BR",
        person=Person(user_id="BR.1"),
        role=role,
    )
    assert who.is_member is member


@pytest.mark.parametrize(
    ("dialled", "forms"),
    [
        ("5511988880001", ["5511988880001", "551188880001"]),
        ("551188880001", ["551188880001", "5511988880001"]),
        ("551133330001", ["551133330001"]),  # a landline never gets a ninth digit
        ("5511933330001", ["5511933330001"]),
        ("14155550123", ["14155550123"]),
        ("5491155550123", ["5491155550123"]),
        ("55119888800012", ["55119888800012"]),
        ("BR.1", ["BR.1"]),
    ],
)
def test_the_forms_of_a_number_that_a_human_dialled(dialled: str, forms: list[str]) -> None:
    """Only Brazilian mobiles have two; itself comes first."""
    assert dialled_forms(dialled) == forms
