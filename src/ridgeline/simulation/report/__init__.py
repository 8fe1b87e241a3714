"""The report on the simulation study, from its long table."""
