"""Model files that are damaged at random; run as a script, it reads and uses them.

A file of its own process: a mutant that gets through to compiled code would end it.
"""

import io
import json
import re
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ridgeline.baselines.storage import load_model
from ridgeline.errors import InputError

__all__ = ["Members", "mutant", "packed", "unpacked"]

Members = dict[str, bytes]
RNG = np.random.Generator
VALUES = [
    "-1", "0", "1", "2", "3", "7", "1000000000000", "-9223372036854775808", "1e308",
    "-1e30", "1e-320", "1.5", "NaN", "Infinity", "null", "true", "false", '"x"', '""',
    '"rbf"', '"precomputed"', '"error"', '"relu"', "[]", "[1, 2]", "{}", "[" * 500,
]  # fmt: skip
NUMBERS = [0, -1, 1, 2, 5, 100, 2**31 - 1, -(2**31), 2**62, -(2**63)]
REALS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e308, -1e308, 1e-320, 1e30]
DTYPES = [
    "f4",
    "f8",
    "f2",
    "i4",
    "i8",
    "u1",
    "u8",
    "c16",
    "U5",
    "S5",
    "?",
    ">f8",
    ">i8",
]
# Attributes by which classes of scikit-learn do what they do.
SHADOWED = ["_impl", "_sparse", "predict", "n_jobs", "classes_", "tree_", "kernel"]
# The rows are not what the changed model asks for, which scikit-learn says itself.
OTHER_ROWS = re.compile(
    "columns are missing|unknown categories|features, but|feature names|contains NaN"
)


def unpacked(content: bytes) -> Members:
    """Return the members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Members) -> bytes:
    """Return an archive of members."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def places(thing: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a schema: what it is in, and its key."""
    for key in thing if isinstance(thing, dict) else range(len(thing)):
        yield thing, key
        if isinstance(thing[key], dict | list):
            yield from places(thing[key])


def pick(rng: RNG, things: list[Any]) -> Any:
    """Return one of them."""
    return things[int(rng.integers(len(things)))]


def change_value(schema: Any, rng: RNG) -> None:
    """Give a plain value another."""
    found = [
        (inside, key)
        for inside, key in places(schema)
        if key == "content" and inside.get("__loader__") == "JsonNode"
    ]
    inside, key = pick(rng, found)
    inside[key] = pick(rng, VALUES)
    inside["__id__"] = int(rng.integers(2**40))


def drop_place(schema: Any, rng: RNG) -> None:
    """Leave something out."""
    inside, key = pick(rng, list(places(schema)))
    del inside[key]


def copy_place(schema: Any, rng: RNG) -> None:
    """Put one thing in the place of another of its kind."""
    found = list(places(schema))
    inside, key = pick(rng, found)
    kind = type(inside[key])
    other, other_key = pick(rng, [p for p in found if type(p[0][p[1]]) is kind])
    inside[key] = deepcopy(other[other_key])


def change_word(schema: Any, rng: RNG) -> None:
    """Change what a node says of itself, to what another says or to nonsense."""
    words = ["__class__", "__module__", "__loader__", "file", "type", "__id__"]
    word = pick(rng, words)
    found = [place for place in places(schema) if place[1] == word]
    inside, key = pick(rng, found)
    other = pick(rng, found)[0][key]
    inside[key] = pick(rng, [other, other, "x", None, 7, [], -1])


def nest(schema: Any, rng: RNG) -> None:
    """Put a node into lists within lists."""
    found = [p for p in places(schema) if isinstance(p[0][p[1]], dict)]
    inside, key = pick(rng, found)
    for _ in range(pick(rng, [1, 3, 30, 60, 150])):
        inside[key] = {
            "__class__": "list",
            "__module__": "builtins",
            "__loader__": "ListNode",
            "content": [inside[key]],
        }


def shadow(schema: Any, rng: RNG) -> None:
    """Give an object an attribute that stands before its class's."""
    found = [
        inside["content"]
        for inside, key in places(schema)
        if key == "content" and inside.get("__loader__") == "ObjectNode"
    ]
    attributes = pick(rng, found)
    value = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": pick(rng, VALUES),
        "is_json": True,
    }
    attributes["content"][pick(rng, SHADOWED)] = value
    attributes["key_types"]["content"].append(attributes["key_types"]["content"][0])


SCHEMA_CHANGES: list[Callable[[Any, RNG], None]] = [
    change_value, change_value, drop_place, copy_place, copy_place, change_word,
    change_word, nest, shadow,
]  # fmt: skip


def special(array: np.ndarray, rng: RNG) -> np.ndarray:
    """Put a special number somewhere."""
    field = pick(rng, list(array.dtype.names)) if array.dtype.names else None
    part = array[field] if field else array
    if part.size and part.dtype.kind in "iuf":
        value = pick(rng, REALS if part.dtype.kind == "f" else NUMBERS)
        place = np.unravel_index(int(rng.integers(part.size)), part.shape)
        with np.errstate(all="ignore"):
            part[place] = np.array([value]).astype(part.dtype)[0]
    return array


def reshaped(array: np.ndarray, rng: RNG) -> np.ndarray:
    """Give an array another shape."""
    flat = array.ravel()
    return pick(
        rng,
        [
            flat,
            flat[:-1],
            np.concatenate([flat, flat]),
            flat[:1].reshape(()) if len(flat) else np.array(7),
            array.T,
            array[..., None],
            array[:0] if array.ndim else array,
            array[:-1] if array.ndim else array,
            array[:, :-1] if array.ndim > 1 else flat[1:],
            np.asfortranarray(array),
        ],
    )


def retyped(array: np.ndarray, rng: RNG) -> np.ndarray:
    """Give an array another type."""
    if array.dtype.names:
        return array[pick(rng, list(array.dtype.names))]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return array.astype(pick(rng, DTYPES))
        except ValueError:
            return array.view("u1")


def shuffled(array: np.ndarray, rng: RNG) -> np.ndarray:
    """Bring an array into another order."""
    if array.dtype.names:
        return array[::-1]
    return rng.permuted(array) if array.ndim else array + 1


def lied(array: np.ndarray, rng: RNG) -> bytes:
    """Return an array whose header says another shape."""
    target = io.BytesIO()
    shape = pick(rng, [(10**12,), (-1,), (2**63, 2**63), (1,) * 32, (0,), (3, 0)])
    header = {"descr": array.dtype.descr, "fortran_order": False, "shape": shape}
    if not array.dtype.names:
        header["descr"] = array.dtype.str
    np.lib.format.write_array_header_1_0(target, header)
    return target.getvalue() + array.tobytes()


ARRAY_CHANGES = [special, special, special, reshaped, reshaped, retyped, shuffled, lied]


def mutant(members: Members, rng: RNG) -> bytes:
    """Return a damaged file."""
    members = dict(members)
    arrays = [name for name in members if name.endswith(".npy")]
    kind = rng.uniform()
    if kind < 0.5:
        schema = json.loads(members["schema.json"])
        pick(rng, SCHEMA_CHANGES)(schema, rng)
        # A second change may find nothing that the first has left it.
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            pick(rng, [*SCHEMA_CHANGES, lambda *_: None])(schema, rng)
        members["schema.json"] = json.dumps(schema).encode()
    elif kind < 0.85:
        name = pick(rng, arrays)
        array = np.load(io.BytesIO(members[name]))
        found = pick(rng, ARRAY_CHANGES)(array, rng)
        if not isinstance(found, bytes):
            target = io.BytesIO()
            np.save(target, found)
            found = target.getvalue()
        members[name] = found
    elif kind < 0.95:  # bytes of one member, with its sum made right again
        name = pick(rng, [*arrays, "schema.json"])
        members[name] = flipped(members[name], rng)
    else:
        return flipped(packed(members), rng)
    return packed(members)


def flipped(content: bytes, rng: RNG) -> bytes:
    """Change a few bytes, or cut the end off."""
    if rng.uniform() < 0.2:
        return content[: int(rng.integers(len(content)))]
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
    return bytes(changed)


def outcome(path: Path, rows: Any) -> str:
    """Read and use a file; return how it ended."""
    try:
        model = load_model(path)
    except InputError as error:
        text = str(error)
        named = path.name in text and "\n" not in text and text.endswith(".")
        return f"refused: {text}" if named else f"a strange sentence: {text!r}"
    if not hasattr(model, "predict"):
        return "no model"
    try:
        labels = model.predict(rows)
        found = model.predict_proba(rows) if hasattr(model, "classes_") else labels
    except ValueError as error:
        if OTHER_ROWS.search(str(error)):
            return "other rows"
        raise
    return "predicts" if np.isfinite(found).all() else "not finite"


def report(name: str, content: bytes, path: Path, rows: Any) -> None:
    """Print a file's name before it is read, and then how it ended."""
    path.write_bytes(content)
    print(name, end=" ", flush=True)  # noqa: T201
    try:
        ended = outcome(path, rows)
    except Exception as error:
        ended = f"fails with {type(error).__name__}: {error}".replace("\n", " ")
    print(ended, flush=True)  # noqa: T201


def main(folder: Path, mutants: int) -> None:
    """Read and use the files that were made so, and then a number of mutants."""
    warnings.simplefilter("ignore")
    numbers = np.random.default_rng(1).uniform(-1, 1, (20, 5))
    for made in sorted(folder.glob("*.made")):
        report(made.stem, made.read_bytes(), folder / "made.skops", numbers)
    bases = sorted(folder.glob("*.base"))
    members = [unpacked(path.read_bytes()) for path in bases]
    frame = pd.read_json(folder / "rows.json", orient="split")
    for number in range(mutants):
        place = number % len(bases)
        base = bases[place].stem
        content = mutant(members[place], np.random.default_rng(number))
        rows = frame if base.startswith("whole") else numbers
        report(f"{base}-{number}", content, folder / "mutant.skops", rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
