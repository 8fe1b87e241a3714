"""LendingClub's two published files, simulated, with a known truth."""

from ridgeline.lendingclub.simulator.files import CHUNK, simulate, write_published

__all__ = ["CHUNK", "simulate", "write_published"]
