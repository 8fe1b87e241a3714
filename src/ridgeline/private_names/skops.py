"""skops: the steps of its `load`, to look at a file between them."""

import zipfile
from typing import Any

import skops.io  # noqa: F401 (tells its own modules about the kinds of nodes)
from skops.io._audit import audit_tree, get_tree
from skops.io._protocol import PROTOCOL
from skops.io._utils import LoadContext

__all__ = ["PROTOCOL", "audited_nodes"]


def audited_nodes(
    schema: dict[str, Any], archive: zipfile.ZipFile, types: list[str]
) -> Any:
    """Return the root of what a file would be made of; nothing is made yet.

    Raises:
        skops.io.exceptions.UntrustedTypesFoundException: If another type is in it.
    """
    root = get_tree(schema, LoadContext(archive, PROTOCOL), types)
    audit_tree(root, types)
    return root
