"""A model that lies: whatever it answers and whatever happens in whatever order, the far sides are
asked what came of it."""
