"""The command `ridgeline`: tables in, decisions with reasons out."""
