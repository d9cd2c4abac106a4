"""The embedded stack: every part that `aval up`, `aval demo` and the tests start on one machine."""
