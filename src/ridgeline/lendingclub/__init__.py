"""LendingClub's published files: their schema, their cleaning, and a simulator."""
