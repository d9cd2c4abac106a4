"""The model: what it is asked, how its answer is read; no door here leads to anything that acts."""
