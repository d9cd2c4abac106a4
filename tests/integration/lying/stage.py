"""What an example changes outside of the database, so that another one can begin where it began."""

import uuid
from dataclasses import dataclass, field, replace

from tests.integration.lying.books import BookKeeper
from tests.integration.lying.ground import Ground
from tests.integration.lying.records import FarSide
from tests.integration.lying.wires import FarModel, FarPhone, FarProvider, Scene


@dataclass
class Talk:
    """Where the turn of a conversation's workflow is; `turn` None: none is open."""

    conversation: uuid.UUID
    turn: uuid.UUID | None = None
    step: int = 0
    useless: int = 0
    thinks: bool = True
    outcome: str | None = None


@dataclass
class Stage:
    """All that an example changes outside of the database."""

    ground: Ground
    scene: Scene = field(default_factory=Scene)
    books: BookKeeper = field(default_factory=BookKeeper)
    talks: dict[str, Talk] = field(default_factory=dict)
    now: int = 0
    actions: list[str] = field(default_factory=list)
    """Newest last."""
    owners: dict[str, str] = field(default_factory=dict)
    """Whose action it is."""

    def copy(self) -> "Stage":
        """Another one that goes its own way; records and rows are never changed."""
        return Stage(
            ground=self.ground.copy(),
            scene=Scene(
                far=FarSide(list(self.scene.far.records)),
                now=self.scene.now,
                lost=set(self.scene.lost),
            ),
            books=BookKeeper(rows=self.books.rows, read_once=self.books.read_once),
            talks={who: replace(talk) for who, talk in self.talks.items()},
            now=self.now,
            actions=list(self.actions),
            owners=dict(self.owners),
        )


@dataclass(frozen=True, kw_only=True)
class Far:
    """The wires, which all examples share."""

    model: FarModel
    phone: FarPhone
    provider: FarProvider
