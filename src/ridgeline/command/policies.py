"""The policy that a command line asks for."""

import argparse
from dataclasses import replace

from ridgeline.decisions.policy import Policy, load_policy

__all__ = ["chosen_policy"]


def chosen_policy(arguments: argparse.Namespace) -> Policy:
    """The policy of a file, or the usual one, with what the command line has.

    Raises:
        InputError: If the file is no policy, or a value is not allowed.
    """
    policy = Policy() if arguments.policy is None else load_policy(arguments.policy)
    own = {
        key: getattr(arguments, key)
        for key in ("cutoff", "reference")
        if getattr(arguments, key) is not None
    }
    return replace(policy, **own)
