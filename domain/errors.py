"""Every error of Aval, sorted by who must act.

AvalError
├── ToolInputError          the model: goes back as `is_error`, so that it can ask the person
├── OperatorError           the operator: what, where, what to do (CLI: one line, exit 2)
│   ├── SettingsError           a setting is missing, a placeholder, or contradicts another
│   ├── ToolContractError       a tool module breaks the contract; names tool and rule
│   └── DeploymentError         database and deployment do not belong together
└── (programmer)            a plain exception with the value in it; never caught on purpose

The person never sees an exception: a template in `domain/texts` speaks to him.
"""


class AvalError(Exception):
    """The base of the errors that Aval raises on purpose."""


class ToolInputError(AvalError):
    """The model's arguments cannot be used; the message tells it what is missing or ambiguous.

    The message is data for the model and may quote the account's own objects that `who` may see.
    """


class OperatorError(AvalError):
    """Something only an operator can put right; the message says what, where, and what to do."""


class SettingsError(OperatorError):
    """A setting is missing, still a placeholder, or contradicts another; the message names it."""


class ToolContractError(OperatorError):
    """A tool module breaks the contract; the message names the tool and the rule."""


class DeploymentError(OperatorError):
    """The database belongs to another deployment or namespace, or is not set up as needed."""
