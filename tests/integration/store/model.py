"""How an action lives (design §3), once more and without a database: what each step must lead to.

Written from the design's page, not from the product's code, of which only the words are used. A
rule that both misread in the same way would be seen by the promises in `promises.py`, which look at
the far side and at rows alone.
"""

from tests.integration.store.model_talking import Talking


class Model(Talking):
    """People who talk and decide, workers who execute, operators who settle."""
