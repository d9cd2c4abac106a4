"""Worker processes that die or stall where a test wants them to, and random schedules of faults."""
