"""An operator's word on stuck actions, on real PostgreSQL beside everything that may race it."""
