"""HTTP: the webhook and health. Entry point: `python -m api`."""
