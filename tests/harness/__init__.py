"""What tests stand on: real PostgreSQL, a real Temporal server, the simulators, API and workers."""
