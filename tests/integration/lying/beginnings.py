"""Where examples begin, so that a short one can reach what takes many steps."""

from collections.abc import Awaitable, Callable

from tests.integration.lying.play import Play

Begin = Callable[[Play], Awaitable[None]]


async def before_all(play: Play) -> None:
    """The other account has an executed charge and a pending one, whose ids a liar may name."""
    await play.says("olga", "oi")
    await play.answers("olga", ["charge"])
    await _decided(play, "olga")
    await play.passes(5)
    await play.says("olga", "mais uma")
    await play.answers("olga", ["charge"])
    await play.works(play.stage.actions[-1])
    await play.delivers()
    for known in play.stage.ground.known.values():
        known.foreign["action"] = play.stage.actions[-1]


async def _decided(play: Play, who: str) -> None:
    action = play.stage.actions[-1]
    await play.works(action)
    await play.passes(1)
    await play.delivers()
    await play.passes(2)
    await play.presses(who, action, "confirm", context=None)
    await play.works(action)


async def _asked(play: Play, who: str, kind: str) -> str:
    await play.passes(30)
    await play.says(who, "faz para mim")
    await play.answers(who, [kind])
    return play.stage.actions[-1]


async def _shown(play: Play, who: str, kind: str) -> str:
    action = await _asked(play, who, kind)
    await play.works(action)
    await play.passes(1)
    await play.delivers()
    await play.passes(2)
    return action


async def _fresh(play: Play) -> None:
    await play.passes(30)


async def _proposed(play: Play) -> None:
    await _asked(play, "maria", "charge")


async def _charge_shown(play: Play) -> None:
    await _shown(play, "maria", "charge described")


async def _booking_shown(play: Play) -> None:
    await _shown(play, "carlos", "booking")


async def _both_shown(play: Play) -> None:
    await _shown(play, "carlos", "e-mail")
    await _shown(play, "maria", "transfer")


async def _confirmed(play: Play) -> None:
    action = await _shown(play, "maria", "charge")
    await play.presses("maria", action, "confirm", context=None)


async def _done(play: Play) -> None:
    """Each has something done already, and Maria a refund to decide."""
    for who, kind in (("carlos", "booking"), ("maria", "charge")):
        await _asked(play, who, kind)
        await _decided(play, who)
    await _shown(play, "maria", "refund of a part")


async def _lost(play: Play) -> None:
    """Confirmed and sent, and nobody knows what came of it."""
    action = await _shown(play, "maria", "charge")
    await play.presses("maria", action, "confirm", context=None)
    play.far.provider.mood = "loses"
    await play.works(action)
    play.far.provider.mood = "acts"


BEGINNINGS: dict[str, Begin] = {
    "fresh": _fresh,
    "proposed": _proposed,
    "charge shown": _charge_shown,
    "booking shown": _booking_shown,
    "both shown": _both_shown,
    "confirmed": _confirmed,
    "done": _done,
    "lost": _lost,
}
