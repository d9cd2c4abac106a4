"""A shop's own tools, kept outside Aval's rooms."""
