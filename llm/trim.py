"""A long history cut at its start, at a person's message and never inside a pair.

The trap this closes: trimming by count splits a tool call from its result (facts/claude.md §13).
Cutting a little at every turn would also void the cache at every turn. So whenever the budget is
passed half of it goes, and between two such moments the cut stands still: what is kept of n
entries follows from those entries alone, in order, and later ones do not move an earlier cut.
Nothing that matters is lost: the ledger's facts come with every call.
"""

from collections.abc import Sequence

from domain.history import AssistantBlocks, Entry, EntryKind, ToolResults

BUDGET_TOKENS = 60_000
"""Well below 100,000, where Haiku 5.5 becomes five times dearer (facts §1.2), with room for the
prompt, the tools and a wrong estimate."""

_CHARS_PER_TOKEN = 3


def tokens_of(entry: Entry) -> int:
    """An estimate: characters of the stored form / 3, rounded up (facts §3.5)."""
    return -(-len(entry.content.model_dump_json()) // _CHARS_PER_TOKEN)


def trim(entries: Sequence[Entry], *, budget_tokens: int = BUDGET_TOKENS) -> list[Entry]:
    """The newest entries that fit, from a person's message on.

    `entries` may lack the conversation's beginning: then what comes before the first legal cut is
    dropped, if there is one. More than the budget is kept only if no later legal cut exists: one
    turn larger than it.
    Raises ValueError if the budget is not positive.
    """
    if budget_tokens < 1:
        raise ValueError(f"a budget is at least one token, got {budget_tokens}")
    sizes = [tokens_of(entry) for entry in entries]
    cuts = _legal_cuts(entries)
    lacks_beginning = bool(entries) and entries[0].position > 0
    start = cuts[0] if lacks_beginning and cuts else 0
    total = 0
    for at, size in enumerate(sizes[start:], start):
        total += size
        if total <= budget_tokens:
            continue
        later = [cut for cut in cuts if start < cut <= at]
        fitting = [cut for cut in later if sum(sizes[cut : at + 1]) <= budget_tokens // 2]
        if later:
            start = fitting[0] if fitting else later[-1]
            total = sum(sizes[start : at + 1])
    return list(entries[start:])


def _legal_cuts(entries: Sequence[Entry]) -> list[int]:
    """Where a person's message stands that no pair of call and result spans."""
    spanned: set[int] = set()
    asked: dict[str, int] = {}
    for at, entry in enumerate(entries):
        match entry.content:
            case AssistantBlocks(blocks=blocks):
                asked |= {str(b["id"]): at for b in blocks if b.get("type") == "tool_use"}
            case ToolResults(results=results):
                for result in results:
                    spanned.update(range(asked.get(result.tool_use_id, at) + 1, at + 1))
            case _:
                continue
    return [
        at
        for at, entry in enumerate(entries)
        if entry.kind is EntryKind.USER_TEXT and at not in spanned
    ]
