"""The command `ridgeline`: tables in, decisions with reasons out.

Nothing heavy is imported before it is needed: TensorFlow by `fit` alone, matplotlib by
pages alone.
"""

import os
import sys
from collections.abc import Sequence

from ridgeline.errors import RidgelineError

__all__ = ["main"]

_REFUSED = 2
_FAILED = 1
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command.

    Args:
        arguments: Those behind its name; by default the process's own.

    Returns:
        0, 2 where a file or an argument is refused, 1 where anything else fails.
    """
    from ridgeline.command.arguments import parse

    chosen = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        code = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has enough; Python would complain once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except RidgelineError as error:
        return _said(str(error), _REFUSED)
    except OSError as error:
        return _said(f"{error.strerror or error}: {error.filename}", _FAILED)
    except Exception as error:
        if chosen.traceback:
            raise
        kind = type(error).__name__
        return _said(f"{kind}: {error}; --traceback shows where.", _FAILED)
    return int(code or 0)


def _said(message: str, code: int) -> int:
    """Says in one line what went wrong."""
    sys.stderr.write(f"ridgeline: {' '.join(message.split())}\n")
    return code
