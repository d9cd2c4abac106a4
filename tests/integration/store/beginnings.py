"""Where examples begin: in the midst of an action's life, reached once by the very same steps.

So that ten steps are enough to come where two workers, two conversations or two operators want the
same, and to the edges of every deadline there.
"""

from collections.abc import Callable

from tests.integration.store.bench import Bench
from tests.integration.store.machine_operating import OperatingMachine
from tests.integration.store.machine_talking import TalkingMachine
from tests.integration.store.model_data import LAG, LOOK_FOR, SECOND


class Everything(TalkingMachine, OperatingMachine):
    """All rules of one connection."""

    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.move_clock(self.now + seconds * SECOND)

    def look_twice(self) -> None:
        """After the provider's lag, a minute apart, in vain."""
        self.look_in_vain(self.actions[0])


Begin = Callable[[Everything], None]


def pending(m: Everything) -> None:
    """Maria is asked."""
    m.propose("maria", ("a", True), "provider", "button")


def pressed(m: Everything) -> None:
    """She confirmed, and nobody has decided yet."""
    pending(m)
    m.click(0, "confirm", "right")


def pressed_at_the_edge(m: Everything) -> None:
    """She confirmed in the last microsecond."""
    pending(m)
    m.move_clock(m.actions[0].expires_at - 1)
    m.click(0, "confirm", "right")


def thinking(m: Everything) -> None:
    """The next turn thinks while the prompt waits."""
    pressed(m)
    m.ask("maria")
    m.ask("rita")


def superseded(m: Everything) -> None:
    """A newer prompt took the place of the one that she may still press."""
    pending(m)
    m.propose("maria", ("b", True), "provider", "button")


def seen(m: Everything) -> None:
    """A prompt that a typed yes may answer has arrived."""
    m.ask("maria")
    m.wait(2)
    m.propose("maria", ("a", True), "provider", "button_or_yes")
    m.wait(1)
    m.prompt(0, "delivered")
    m.wait(2)


def yes_waits(m: Everything) -> None:
    """She typed it."""
    seen(m)
    m.phone(0, "says", "Sim", True, True)


def yes_stored(m: Everything) -> None:
    """It is a decision."""
    yes_waits(m)
    m.burst_ends(0)


def both_pressed(m: Everything) -> None:
    """Two people confirmed the same effect in two conversations."""
    pressed(m)
    m.propose("rita", ("a", True), "provider", "button")
    m.click(0, "confirm", "right")


def one_of_two_acts(m: Everything) -> None:
    """Of two who confirmed the same, one is being served."""
    both_pressed(m)
    m.decide(0)
    m.take(m.open_step(m.actions[0]))


def decided(m: Everything) -> None:
    """It executes, and no attempt has begun."""
    pending(m)
    m.confirm(0, False, False)


def opened(m: Everything) -> None:
    """An attempt has begun."""
    pending(m)
    m.confirm(0, True, False)


def reopened(m: Everything) -> None:
    """Two attempts have begun; the first is a zombie."""
    opened(m)
    m.take(m.open_step(m.actions[0]))


def fenced(m: Everything) -> None:
    """A send is under way, while another attempt was revoked."""
    pending(m)
    m.confirm(0, True, True)


def not_sent(m: Everything) -> None:
    """A first send provably did not leave us."""
    fenced(m)
    m.write(0, "not_sent", False)


def in_database(m: Everything) -> None:
    """Two attempts at an effect in our own tables."""
    m.propose("maria", ("a", True), "database", "button")
    m.confirm(0, True, False)
    m.take(m.open_step(m.actions[0]))


def direct(m: Everything) -> None:
    """Nobody is asked, and an attempt has begun."""
    m.propose("maria", ("a", True), "provider", "direct")
    m.take(m.open_step(m.actions[0]))


def direct_about_to_be_free(m: Everything) -> None:
    """The lock of the attempt is about to end."""
    direct(m)
    m.move_clock(m.actions[0].locked_until - 1)


def direct_taken_over(m: Everything) -> None:
    """The lock was over, and a second attempt took over."""
    m.propose("maria", ("a", True), "database", "direct")
    m.take(m.open_step(m.actions[0]))
    m.wait(121)
    m.take(m.open_step(m.actions[0]))


def unknown(m: Everything) -> None:
    """A send whose outcome is unknown, and which may still arrive."""
    fenced(m)
    m.write(0, "unknown", False)


def acted_unknown(m: Everything) -> None:
    """It arrived, and nobody knows."""
    unknown(m)
    m.provider_acts(0)


def worker_died(m: Everything) -> None:
    """Nobody wrote what became of the send."""
    fenced(m)
    m.wait(76)


def direct_unknown(m: Everything) -> None:
    """The same where nobody was asked."""
    direct(m)
    m.take(m.send_step(m.actions[0], -1))
    m.write(0, "unknown", False)


def looked_once(m: Everything) -> None:
    """An operator looked, in vain, after the provider's lag."""
    unknown(m)
    m.move_clock(m.now + LAG)
    m.look_for_operator(m.actions[0].id, "absent")


def looked_twice(m: Everything) -> None:
    """Twice, a minute apart: an operator may settle it."""
    unknown(m)
    m.look_twice()


def resend_ordered(m: Everything) -> None:
    """One operator ordered a second send."""
    looked_twice(m)
    m.say(0, "resend", 0, "ana", "knows keys")


def resend_opened(m: Everything) -> None:
    """An attempt has begun on his word."""
    resend_ordered(m)
    m.take(m.open_step(m.actions[0]))


def resent(m: Everything) -> None:
    """The second send is under way."""
    resend_opened(m)
    m.take(m.send_step(m.actions[0], -1))


def resent_looked_twice(m: Everything) -> None:
    """Of the second send nothing was seen either."""
    resent(m)
    m.write(0, "unknown", False)
    m.look_twice()


def frozen(m: Everything) -> None:
    """The database came back from a backup, which may have forgotten sends."""
    fenced(m)
    m.hold_all()


def frozen_looked_twice(m: Everything) -> None:
    """And nothing was seen at the provider since."""
    opened(m)
    m.hold_all()
    m.look_twice()


def a_day_later(m: Everything) -> None:
    """Machines are about to give up looking."""
    unknown(m)
    m.move_clock(LOOK_FOR - 1)


_PEOPLE: list[Begin] = [
    *(pending, pressed, pressed_at_the_edge, thinking, superseded),
    *(seen, yes_waits, yes_stored, both_pressed),
]
_WORKERS: list[Begin] = [
    *(both_pressed, one_of_two_acts, decided, opened, reopened, fenced, not_sent, unknown),
    *(in_database, direct, direct_about_to_be_free, direct_taken_over),
]
_STUCK: list[Begin] = [
    *(unknown, acted_unknown, worker_died, direct_unknown, looked_once, looked_twice),
    *(resend_ordered, resend_opened, resent, resent_looked_twice, frozen, frozen_looked_twice),
    *(a_day_later, opened, fenced, not_sent),
]
PEOPLE = {begin.__name__: begin for begin in _PEOPLE}
WORKERS = {begin.__name__: begin for begin in _WORKERS}
STUCK = {begin.__name__: begin for begin in _STUCK}


def take_seats(bench: Bench, beginnings: dict[str, Begin]) -> None:
    """Reach each beginning once, in a transaction that stays open."""
    for name, begin in beginnings.items():
        made = Everything(bench)
        made.sit(bench.seat(name))
        begin(made)
        bench.run(made.seat.hold(made.world))
