"""The report on a model of LendingClub's applications, from plain data."""
