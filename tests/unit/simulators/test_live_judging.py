"""The invariants of a live run are broken on purpose, and each breach is seen."""

from dataclasses import replace

import pytest

from simulators.live.judging import Clicks, Seen, action_of, twice, without_a_click
from simulators.whatsapp.models import Button, ChatMessage

ONE, TWO = "1" * 32, "2" * 32
GOOD = Seen(effects=[ONE], told=[f"action:{ONE}:feedback", f"action:{ONE}:feedback1"])
CLICKED = Clicks(confirmed={ONE})


def test_an_effect_and_its_feedback_after_a_click_are_right() -> None:
    """One of each, also in two messages."""
    assert without_a_click(GOOD, CLICKED) == []
    assert twice(GOOD) == []


def test_an_effect_without_a_click_is_seen() -> None:
    """At the provider under a key that nobody confirmed, cancelled ones included."""
    assert without_a_click(replace(GOOD, effects=[ONE, TWO]), CLICKED) == [TWO]
    assert without_a_click(GOOD, Clicks(cancelled={ONE})) == [ONE]


@pytest.mark.parametrize("what", ["feedback", "feedback1", "verifying"])
def test_a_word_about_an_outcome_without_a_click_is_seen(what: str) -> None:
    """What our own tables hold, a booking, reaches no provider; the person is told of it."""
    seen = Seen(effects=[], told=[f"action:{TWO}:{what}"])
    assert without_a_click(seen, CLICKED) == [TWO]
    assert without_a_click(seen, Clicks(cancelled={TWO})) == []


def test_what_happens_twice_is_seen() -> None:
    """A second effect under one key, or the same message again."""
    assert twice(replace(GOOD, effects=[ONE, ONE])) == [ONE]
    assert twice(replace(GOOD, told=[*GOOD.told, GOOD.told[0]])) == [GOOD.told[0]]


def test_a_prompt_names_its_action() -> None:
    """By its buttons; other buttons are an error, never taken for a prompt."""
    prompt = ChatMessage(
        seq=1,
        wamid="wamid.1",
        person="maria",
        author="business",
        type="interactive",
        buttons=[Button(id=f"pa:confirm:{ONE}", title="Confirmar")],
        at=0.0,
        timestamp="0",
        status="delivered",
    )
    assert action_of(prompt) == ONE
    other = prompt.model_copy(update={"buttons": [Button(id="menu:1", title="Menu")]})
    with pytest.raises(ValueError, match="no buttons that decide"):
        action_of(other)
