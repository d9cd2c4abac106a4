"""What is true: rules and types of Aval without any framework (stdlib and pydantic only)."""
