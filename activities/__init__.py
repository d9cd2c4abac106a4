"""Verbs: take, think, look_up, propose, answer, close, prompt, decide, execute, settle, announce.

Each is a class that receives its clients in the constructor and offers one activity. Permanent
failures become non-retryable here, where they are understood; workflows never list class names.
"""
