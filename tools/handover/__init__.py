"""Handing the conversation over to a human of the business."""

from tools.handover.talk_to_human import TalkToHuman

TOOLS = [TalkToHuman]
