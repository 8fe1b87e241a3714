"""Reading an archive of skops that may have been damaged, or made to do harm.

skops checks the types that a file names. What compiled code follows blindly is checked
here before that code sees it: sizes, nesting, arrays, and the trees of scikit-learn.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ForeignTypeError", "UnsoundError", "is_array", "read_archive"]

# Of an honest file: a forest has a handful of members and branches for each tree.
_MOST_MEMBERS: Final = 100_000
_DEEPEST: Final = 100
_MOST_DIMENSIONS: Final = 3
# Bytes of all members together; above, at most so many times the file's own.
_SMALL: Final = 256 * 2**20
_MOST_EXPANSION: Final = 40
_ARRAYS: Final = "biufU"
_PLAIN: Final = (str, int, float, bool, type(None))
_SCALARS: Final = {f"numpy.{n}" for n in ("float64", "float32", "int64", "int32")}
# What a file's own structure may be of, by what skops calls the reader of it.
_STRUCTURE: Final[Mapping[str, set[str]]] = {
    "DictNode": {"builtins.dict"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", "numpy.bool", *_SCALARS},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SliceNode": {"builtins.slice"},
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "TupleNode": {"builtins.tuple"},
    # Of the keys of a dictionary, and what an encoder makes its columns of.
    "TypeNode": {"builtins.str", "builtins.int", "builtins.float", *_SCALARS},
}


class UnsoundError(Exception):
    """What is wrong with a file, as the end of a sentence about it."""


class ForeignTypeError(Exception):
    """A file names a type that is not on the list; the message is its name."""


def read_archive(content: bytes, types: tuple[str, ...]) -> Any:
    """The object of an archive, all parts of which are of the types.

    Raises:
        ForeignTypeError: If it names another type.
        UnsoundError: If it could not be followed safely.
        Exception: Any other, of a file that was damaged.
    """
    from ridgeline.private_names.skops import PROTOCOL, audited_nodes

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_members(archive, len(content))
        schema = _read_schema(archive)
        if schema.get("protocol") != PROTOCOL:
            message = (
                f"is of skops' protocol {schema.get('protocol')!r}, not {PROTOCOL}"
            )
            raise UnsoundError(message)
        _check_schema(schema, types)
        _check_arrays(archive, schema, len(content))
        # Not skops.io.load: it would build the trees before they can be looked at.
        node = audited_nodes(schema, archive, list(types))
        for tree in _tree_nodes(node, set()):
            _check_tree(tree.args.construct(), tree.attrs.construct())
        return node.construct()


def _check_members(archive: zipfile.ZipFile, size: int) -> None:
    members = archive.infolist()
    if len(members) > _MOST_MEMBERS:
        message = f"has {len(members):,} members, where {_MOST_MEMBERS:,} are the most"
        raise UnsoundError(message)
    if len({member.filename for member in members}) < len(members):
        message = "has two members of one name"
        raise UnsoundError(message)
    _check_size(sum(member.file_size for member in members), size)


def _check_size(unpacked: int, size: int) -> None:
    if unpacked > max(_SMALL, _MOST_EXPANSION * size):
        message = f"would unpack to {unpacked:,} bytes, far more than a model is"
        raise UnsoundError(message)


def _read_schema(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        schema = json.loads(archive.read("schema.json"))
    except RecursionError:
        message = "is nested too deeply"
        raise UnsoundError(message) from None
    if not isinstance(schema, dict):
        message = "has no object in it"
        raise UnsoundError(message)
    return schema


def _nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the schema has a reader for; without recursion, however deep it is."""
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    while waiting:
        thing, depth = waiting.pop()
        if depth > _DEEPEST:
            message = "is nested too deeply"
            raise UnsoundError(message)
        if isinstance(thing, dict):
            if "__loader__" in thing:
                yield thing
            waiting += [(one, depth + 1) for one in thing.values()]
        elif isinstance(thing, list):
            waiting += [(one, depth + 1) for one in thing]


def _check_schema(schema: dict[str, Any], types: tuple[str, ...]) -> None:
    known = {**_STRUCTURE, "ObjectNode": set(types)}
    foreign = set()
    for node in _nodes(schema):
        kind = f"{node.get('__module__')}.{node.get('__class__')}"
        if kind not in known.get(str(node["__loader__"]), ()):
            foreign.add(kind)
        if node["__loader__"] == "JsonNode":
            _check_plain(node.get("content"))
    if foreign:
        raise ForeignTypeError(min(foreign))


def _check_plain(content: Any) -> None:
    """A number, a text or nothing; what is nested has nodes of its own."""
    value = (
        json.loads(content)
        if isinstance(content, str) and content[:1] not in "[{"
        else []
    )
    if not isinstance(value, _PLAIN) or (
        isinstance(value, int) and abs(value) > np.iinfo(np.uint64).max
    ):
        message = "has a value that is no number and no text"
        raise UnsoundError(message)


def _check_arrays(archive: zipfile.ZipFile, schema: dict[str, Any], size: int) -> None:
    # Each place that names an array reads it anew.
    files = [node["file"] for node in _nodes(schema) if "file" in node]
    _check_size(sum(archive.getinfo(file).file_size for file in files), size)
    for file in set(files):
        _check_array(archive.read(file))


def _check_array(content: bytes) -> None:
    """A plain array of numbers or texts, as long as its header says."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(stream)
    plain = dtype.names is not None or dtype.kind in _ARRAYS
    length = len(content) - stream.tell()
    if (
        dtype.hasobject
        or not plain
        or len(shape) > _MOST_DIMENSIONS
        or any(count < 0 for count in shape)
        or math.prod(shape) * dtype.itemsize != length
    ):
        message = f"has an array of the shape {shape} and the kind {dtype} that is none"
        raise UnsoundError(message)
    if dtype.kind == "f":
        numbers = np.frombuffer(content, dtype, offset=stream.tell())
        if not np.isfinite(numbers).all():
            message = "has an array with numbers that are not finite"
            raise UnsoundError(message)


def _tree_nodes(node: Any, seen: set[int]) -> Iterator[Any]:
    """The nodes of which skops would make scikit-learn's trees."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if type(node).__name__ == "TreeNode":
        yield node
    for child in node.children.values():
        inside = child.values() if isinstance(child, dict) else child
        for one in inside if isinstance(child, dict | list) else [child]:
            if hasattr(one, "children"):
                yield from _tree_nodes(one, seen)


def _check_tree(arguments: Any, state: Any) -> None:
    """Refuses what scikit-learn's compiled tree would follow outside of itself."""
    from ridgeline.private_names.sklearn import tree_node_type

    width, classes, outputs = arguments
    nodes, values = state["nodes"], state["values"]
    sizes = width, outputs, state["node_count"], state["max_depth"]
    if not (
        all(type(size) is int for size in sizes)
        and is_array(classes, np.intp, (outputs,))
        and width > 0
        and outputs > 0
        and classes.min() > 0
        and is_array(nodes, tree_node_type(), (state["node_count"],))
        and len(nodes) > 0
        and is_array(values, np.float64, (len(nodes), outputs, int(classes.max())))
        and all(array.flags.c_contiguous for array in (classes, nodes, values))
        and _leads_on(nodes, width)
    ):
        message = "holds a tree whose branches lead outside of it"
        raise UnsoundError(message)


def is_array(thing: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is an array of exactly this type and shape."""
    return (
        isinstance(thing, np.ndarray) and thing.dtype == dtype and thing.shape == shape
    )


def _leads_on(nodes: NDArray[Any], width: int) -> bool:
    """Whether every way down ends at a leaf."""
    here = np.arange(len(nodes))
    left, right = nodes["left_child"], nodes["right_child"]
    # scikit-learn numbers children after their parent.
    within = (left > here) & (right > here) & (np.maximum(left, right) < len(here))
    known = (nodes["feature"] >= 0) & (nodes["feature"] < width)
    leaf = (left == -1) & (right == -1)
    finite = np.isfinite(nodes["threshold"])
    return bool((leaf | (within & known & finite)).all())
