"""Decisions about rows: cut-off, reasons, points, what would change them, drift.

NumPy and pandas alone, on top of a stored model that has a profile of its training
rows.
"""
