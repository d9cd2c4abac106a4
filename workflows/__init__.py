"""Things that live: a conversation's turn, and an action from its prompt to its end.

Workflow files are short and pure. The sandbox raises on any import that was not passed through on
purpose; state is set in `@workflow.init`; signal handlers set a flag, never await and never raise.
"""
