"""A stand-in for Anthropic's Messages API, served over real HTTP.

It exists so that history bugs (orphan tool_use, text before a tool_result, blank text) fail here
with the same 400 as on the real API, and so that faults can be planned call by call. It shares no
code with the product.
"""

from simulators.claude.app import create_app
from simulators.claude.config import ClaudeSimulatorConfig

__all__ = ["ClaudeSimulatorConfig", "create_app"]
