"""Why an operator's word was refused, in two words for a table."""

_SHORT = {
    "may still be under way": "under way",
    "was first": "another first",
    "may not show it yet": "too early",
    "it needs": "looks missing",
    "was made at": "old number",
    "the next send is": "wrong number",
    "minutes ago": "too late",
    "may have forgotten the key": "too late",
    "does not promise": "never repeatable",
    "works on it": "never repeatable",
    "provider has something": "found there",
    "provider answered": "found there",
    "our own database": "in our database",
    "nothing was sent": "nothing sent",
    "no send is in doubt": "nothing sent",
    "already, without": "closed by machines",
    "it is pending": "pending",
}


def short(message: str) -> str:
    """The reason of this refusal; its own words where they are new."""
    return next(
        (words for part, words in _SHORT.items() if part in message), message.rpartition(": ")[2]
    )
