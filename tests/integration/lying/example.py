"""One sequence: each event is played, and all promises are looked at after it."""

from tests.integration.lying import judge
from tests.integration.lying.bench import Bench
from tests.integration.lying.events import Event
from tests.integration.lying.play import Play
from tests.integration.lying.records import Sent
from tests.integration.lying.tampering import change


class Example:
    """The rules: what people do, what the model answers, what the far sides do, time, repeats,
    deaths, and rows that change under the product."""

    def __init__(self, bench: Bench, play: Play) -> None:
        self.bench, self.play = bench, play

    async def take(self, event: Event) -> None:
        """A second passes, the event happens, and all promises are looked at."""
        given, since = dict(event.about), len(self.play.scene.far.records)
        far = self.bench.far
        far.provider.mood = given.pop("money", "acts")
        far.phone.mood = given.pop("phone", "takes")
        await self.play.passes(1)
        await getattr(self, event.name)(**given)
        judge.check(self.play.scene.far, self.play.stage.ground.books, since=since)

    def _nth(self, nth: int) -> str | None:
        """An action, the newest first."""
        actions = self.play.stage.actions
        return actions[-1 - nth % len(actions)] if actions else None

    # -- the model

    async def asks(self, who: str, words: str, lies: tuple[str, ...], sends: bool) -> None:
        """A person writes and the model answers; then what was proposed is shown, or not yet."""
        await self.play.says(who, words)
        await self.play.answers(who, list(lies))
        if sends and self.play.stage.actions:
            await self.play.works(self.play.stage.actions[-1])
            await self.play.delivers()

    async def begins(self, who: str, words: str, lie: str) -> None:
        """A turn begins with one step, and its worker stalls."""
        await self.play.says(who, words)
        await self.play.answers(who, [lie], steps=1)

    async def goes_on(self, who: str, lies: tuple[str, ...]) -> None:
        """A turn that stalled goes on."""
        await self.play.answers(who, list(lies))

    async def dies(self, who: str, words: str, lies: tuple[str, ...], at: int) -> None:
        """The worker is killed within a turn."""
        await self.play.dying(at, self.asks(who, words, lies, sends=True))

    # -- people

    async def says(self, who: str, words: str, plain: bool) -> None:
        """A person writes; nobody answers yet."""
        await self.play.says(who, words, plain=plain)

    async def presses(self, nth: int, who: str, verdict: str, context: str, works: bool) -> None:
        """A button is pressed by whomever, under the prompt or not, shown or not."""
        action = self._nth(nth)
        if action is None:
            return
        by = self.play.stage.owners[action] if who == "right" else who
        number = self.play.number_of("olga" if by == "olga" else self.play.stage.owners[action])
        about = self._context(action, context)
        await self.play.presses(by, action, verdict, context=about, number=number)
        if works:
            await self.play.works(action)

    def _context(self, action: str, context: str) -> str | None:
        """The message that a press names. What was not sent yet has no id: then it is made up. It
        is not while a copy is in doubt, whose id nobody told us: any might be that one's."""
        sent = [one for _, one in self.play.scene.far.of(Sent)]
        own = [one.wamid for one in sent if f"pa:confirm:{action}" in str(one.body)]
        doubt = self.play.scene.lost & set(own)
        if not own or (context == "made up" and not doubt):
            return "wamid.made-up"
        if context == "none":
            return None
        return own[-1] if context == "prompt" or doubt else sent[-1].wamid

    async def presses_nothing(self, who: str, button: str) -> None:
        """A button that we never made."""
        await self.play.presses(who, button, "confirm", context=None)

    async def yes(self, who: str, words: str) -> None:
        """A typed yes, or nearly, after the statuses came in; the model says that it is done."""
        await self.play.delivers()
        await self.play.passes(2)
        await self.play.says(who, words)
        await self.play.answers(who, ["claims done"])

    # -- far sides, time, rows

    async def works(self, nth: int, tells: bool) -> None:
        """An action's workflow goes on."""
        action = self._nth(nth)
        if action is not None:
            await self.play.works(action)
        if tells:
            await self.play.delivers()

    async def dies_working(self, nth: int, at: int) -> None:
        """The worker is killed within an action."""
        action = self._nth(nth)
        if action is not None:
            await self.play.dying(at, self.play.works(action))

    async def passes(self, seconds: int) -> None:
        """Time."""
        await self.play.passes(seconds)

    async def again(self) -> None:
        """The last activity's completion was lost."""
        await self.play.again()

    async def rots(self, nth: int, what: str) -> None:
        """A frozen column changes, by whatever means: what was shown is no more what is there."""
        action = self._nth(nth)
        if action is not None:
            await change(self.play.db, action, what)
