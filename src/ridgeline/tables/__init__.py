"""Any table of rows and columns: read, understood, described, split."""
