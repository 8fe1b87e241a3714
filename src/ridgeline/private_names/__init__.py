"""Names of other packages that are not promised to stay, each used here alone.

A new version may rename them without a word: `tests/test_private_names.py` tries each
one on the installed version, and no other module may use one.
"""
