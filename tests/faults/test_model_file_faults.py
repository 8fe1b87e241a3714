"""Model files with what no fit leaves: refused in a sentence, or fit to be used."""

import copy
import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from known_model import evenly

from ridgeline.errors import InputError
from ridgeline.xnn.explanation import explain
from ridgeline.xnn.features import Features
from ridgeline.xnn.numeric_column import NumericColumn
from ridgeline.xnn.scaling import Scale
from ridgeline.xnn.scorer import Scorer, Spread, Subnetworks
from ridgeline.xnn.storage import load_model, model_document, read_document, save_model

# The rows here are as far away as floats go.
pytestmark = pytest.mark.filterwarnings("ignore:.* beyond the range")
Place = tuple[Any, ...]
# Usual values, and some as far away as floats go.
NUMBERS = np.array([0.1, -0.2, 3.0, 1.7e308, -1.7e308, 5e-324])


def rows_for(scorer: Scorer) -> np.ndarray:
    """Return rows with every pair of numbers in the columns that a network has."""
    names, categories = scorer.features.names, scorer.features.categories
    pairs = itertools.cycle(np.array(np.meshgrid(NUMBERS, NUMBERS)).reshape(2, -1))
    count = len(NUMBERS) ** 2
    rows = np.empty((count, len(names)), dtype=object)
    for place, name in enumerate(names):
        if name in categories:
            rows[:, place] = [categories[name][0]] * count
        else:
            rows[:, place] = next(pairs)
    return rows


def make_network(activation: str = "tanh", classes: Any = ("no", "yes")) -> Scorer:
    """Return a small network: two numbers, a category and two ridge functions."""
    rng = np.random.default_rng(5)
    return Scorer(
        features=Features(
            ("x", "y", "kind"),
            named=True,
            numbers={"x": evenly(0.0, 1.0), "y": evenly(-5.0, 3.0)},
            categories={"kind": ("a", "b")},
        ),
        classes=classes,
        projection=np.array([[0.8, 0.6], [-0.6, 0.8]]),
        subnetworks=Subnetworks(
            (rng.normal(size=(2, 3, 1)), rng.normal(size=(2, 1, 3))),
            (rng.normal(size=(2, 3, 1)), rng.normal(size=(2, 1, 1))),
            activation,
        ),
        scales=np.array([2.0, 0.5]),
        effects=(np.array([1.0, -1.0]),),
        category_scales=np.array([0.3]),
        intercept=0.7,
        spread=Spread(
            np.tile(np.linspace(-1.2, 1.2, 5), (2, 1)),
            np.array([[0.1, 0.4, 0.3, 0.2], [0.25, 0.25, 0.25, 0.25]]),
            (np.array([0.5, 0.5]),),
        ),
    )


def make_special() -> Scorer:
    """Return a network whose columns have all that a column can have."""
    network = make_network()
    places = np.array([-1.0, -0.4, 0.9, 1.0])
    numbers = {
        "x": NumericColumn(
            Scale(np.array([-3.0, 0.0, 2.0, 900.0]), places),
            seen=(-3.5, 900.0),
            neutral=0.2,
            codes=(-7.0,),
            masses=(0.0,),
            missing=True,
        ),
        "y": replace(evenly(-5.0, 3.0), levels=(-5.0, 0.0, 3.0)),
    }
    return replace(
        network,
        features=replace(
            network.features,
            numbers=numbers,
            categories={"kind": ("a", "b", None)},
            flags=("kind",),
        ),
        projection=np.array([[0.8, 0.0], [-0.6, 0.0], [0.0, 1.0]]),
        effects=(np.array([1.0, -1.0, 0.5]), np.array([0.1, -2.0, 1.0, 0.0])),
        category_scales=np.array([0.3, 0.2]),
        spread=replace(
            network.spread,
            shares=(np.array([0.5, 0.4, 0.1]), np.array([0.7, 0.1, 0.1, 0.1])),
            rows=250,
        ),
    )


def sign(document: dict[str, Any]) -> dict[str, Any]:
    """Give a document the checksum of its content."""
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    return document | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def places(part: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the way to every part of the content, those of numbers too."""
    yield place
    if isinstance(part, dict | list):
        for key in part if isinstance(part, dict) else range(len(part)):
            yield from places(part[key], (*place, key))


def changes(value: Any) -> list[Any]:
    """Return what may stand in place of a value."""
    others: list[Any] = [
        float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e155, 5e-324, -0.0,
        0, 1, -1, 10**400, 2**64, "x", "", None, True, False, [], {}, [value], [[1.0]],
    ]  # fmt: skip
    if isinstance(value, float):
        others += [-value, 2 * value, value + 1, value / 1e200, str(value)]
    if isinstance(value, list):
        others += [value[1:], value[:-1], value + value[-1:], value[::-1], value * 2]
    if isinstance(value, dict):
        fewer = [{k: v for k, v in value.items() if k != key} for key in value]
        others += [*fewer, value | {"more": 1}, value | {"x": float("nan")}]
    return others


def put(document: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """Return a document with another value at a place of its content."""
    changed = copy.deepcopy(document)
    part, way = changed, ("model", *place)
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = value
    return changed


def use(scorer: Scorer) -> None:
    """Demand that a network scores and explains in finite numbers."""
    rows = rows_for(scorer)
    assert np.isfinite(scorer.decision_function(rows)).all()
    assert np.isfinite(scorer.contributions(rows)).all()
    explanation = explain(scorer, points=5)
    assert np.isfinite(explanation.intercept)
    for ridge in explanation.ridges:
        for values in (ridge.curve, ridge.z, ridge.bin_density, ridge.quadratic):
            assert np.isfinite(values).all()
    for effects in explanation.category_effects:
        assert np.isfinite(effects.effects).all()
        assert (effects.shares >= 0).all()
    shares = scorer.importance_ratios
    assert ((shares >= 0) & (shares <= 1)).all()


def load_or_refuse(path: Path) -> bool:
    """Return whether a file was refused; what is loaded must be of use."""
    try:
        scorer = load_model(path)
    except InputError as error:
        return "\n" not in str(error)
    use(scorer)
    return False


def test_thousands_of_signed_changes(tmp_path: Path) -> None:
    """Every field, changed in every way, with a checksum that is right."""
    document = model_document(make_network("softplus"))
    path = tmp_path / "model.json"
    refused = []
    for place in places(document["model"]):
        value = document["model"]
        for key in place:
            value = value[key]
        for other in changes(value):
            changed = put(document, place, other)
            path.write_text(json.dumps(sign(changed)))
            refused.append(load_or_refuse(path))
    assert len(refused) > 2_000
    # Other weights are another model; everything else is refused.
    assert 0.5 < np.mean(refused) < 0.95


@pytest.mark.parametrize("version", [1, 2])
def test_signed_changes_of_what_a_file_says_of_columns(
    tmp_path: Path, version: int
) -> None:
    """Gaps, codes, flags and levels, and the columns of a file of format 1."""
    document = model_document(make_special())
    if version == 1:
        path = Path(__file__).parents[1] / "data" / "model_format_1.json"
        document = json.loads(path.read_text())
    use(read_document(document))
    path = tmp_path / "model.json"
    refused = []
    for place in places(document["model"]):
        if "features" not in place and "rows" not in place:
            continue
        value = document["model"]
        for key in place:
            value = value[key]
        for other in changes(value):
            path.write_text(json.dumps(sign(put(document, place, other))))
            refused.append(load_or_refuse(path))
    assert len(refused) > 500
    assert 0.5 < np.mean(refused) < 0.99


def test_changes_two_at_a_time(tmp_path: Path) -> None:
    """Two fields that are wrong together are no better than one."""
    draw = random.Random(0)
    document = model_document(make_network("sigmoid"))
    ways = [place for place in places(document["model"]) if place]
    path = tmp_path / "model.json"
    refused = 0
    for _ in range(500):
        changed = document
        # The longer way first: the other may cut it off.
        for place in sorted(draw.sample(ways, 2), key=len, reverse=True):
            value = changed["model"]
            for key in place:
                value = value[key]
            changed = put(changed, place, draw.choice(changes(value)))
        path.write_text(json.dumps(sign(changed)))
        refused += load_or_refuse(path)
    assert refused > 250


def test_changed_bytes(tmp_path: Path) -> None:
    """A byte that is changed, lost or added is noticed wherever it counts."""
    path = tmp_path / "model.json"
    save_model(make_network(), path)
    whole = path.read_bytes()
    draw = random.Random(0)
    rows = rows_for(load_model(path))
    expected = load_model(path).decision_function(rows)
    for _ in range(600):
        at, byte = draw.randrange(len(whole)), bytes([draw.randrange(256)])
        path.write_bytes(
            draw.choice(
                [
                    whole[:at] + byte + whole[at + 1 :],
                    whole[:at] + whole[at + 1 :],
                    whole[:at] + byte + whole[at:],
                ]
            )
        )
        try:
            found = load_model(path).decision_function(rows)
        except InputError:
            continue
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda m: m.update(scales=[2.0, -0.5]), "'scales' has a negative number"),
        (lambda m: m.update(scales=[0.5, 2.0]), "'scales' does not have the largest"),
        (
            lambda m: m.update(category_scales=[-0.3]),
            "'category_scales' has a negative number",
        ),
        (lambda m: m.update(classes=["no", "no"]), "'classes' has the label 'no' twi"),
        (lambda m: m.update(classes=[1, True]), "'classes' has the label 1 twice"),
        (lambda m: m.pop("classes"), "'classes' is missing"),
        (
            lambda m: m["features"]["numbers"][0].update(knots=[1.0, 0.0]),
            "the knots of 'x' do not rise from -1 to 1",
        ),
        (
            lambda m: m["features"]["categories"][0].update(values=["a", "a"]),
            "the categories of 'kind' are none, or one is there twice",
        ),
        (
            lambda m: m["features"]["categories"].append(
                m["features"]["categories"][0]
            ),
            "'categories' are not of columns",
        ),
        (lambda m: m["spread"]["edges"][0].reverse(), "'edges' do not rise by equal"),
        (
            lambda m: m["spread"]["edges"].__setitem__(1, [0.0] * 5),
            "'edges' do not rise by equal bins",
        ),
        (
            lambda m: m["spread"]["heights"].__setitem__(0, [-0.5, 0.5, 0.5, 0.5]),
            "'heights' are not shares",
        ),
        (
            lambda m: m["spread"]["heights"].__setitem__(0, [0.0] * 4),
            "'heights' are not shares",
        ),
        (lambda m: m["spread"].update(shares=[[1.5, -0.5]]), "'shares' are not shares"),
        (lambda m: m["spread"].update(bins=-1), "'bins' is -1, not a number from 1"),
        (
            lambda m: m["subnetworks"]["kernels"][1][0].__setitem__(0, [1e308] * 3),
            "its weights are so large that scores overflow",
        ),
        (lambda m: m.update(intercept=1e200), "its weights are so large"),
        (
            lambda m: m["spread"]["edges"][0].__setitem__(slice(2), [1e308, -1e308]),
            "'edges' are larger than projected values can be",
        ),
        (
            lambda m: m["spread"]["heights"].__setitem__(0, [1e308] * 4),
            "'heights' are not shares",
        ),
        (
            lambda m: (
                m["subnetworks"].update(kernels=[[[[0.0]] * 3] * 2, [[[0.0] * 3]] * 2])
                or m.update(scales=[1e308, 1e308])
            ),
            "its weights are so large",
        ),
        (lambda m: m.update(projection=[[1e308, 0], [0, 1]]), "its weights are so lar"),
        (
            lambda m: m.update(scales=[True, 0.5]),
            "'scales' is not an array of finite num",
        ),
        (lambda m: m.update(more=1), r"\['more'\] are not in the form of a"),
    ],
)  # fmt: skip
def test_what_save_would_not_write_is_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], Any], what: str
) -> None:
    """The sentence names the part that no fit leaves like this."""
    document = model_document(make_network())
    edit(document["model"])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(sign(document)))
    with pytest.raises(InputError, match=f"holds no whole model, as {what}"):
        load_model(path)


def test_a_key_that_is_there_twice(tmp_path: Path) -> None:
    """Of two equal keys JSON would take the last in silence."""
    path = tmp_path / "model.json"
    save_model(make_network(), path)
    twice = path.read_text().replace('"scales": ', '"scales": [9.0], "scales": ', 1)
    path.write_text(twice)
    with pytest.raises(InputError, match="the key 'scales' is there twice"):
        load_model(path)


def test_nesting_of_any_depth(tmp_path: Path) -> None:
    """However deep the lists are, there is one sentence."""
    path = tmp_path / "model.json"
    header = '{"format": "ridgeline-xnn", "version": 1, "sha256": "0", "model": '
    for depth in (50, 500, *range(900, 1_000, 4), 5_000, 100_000):
        path.write_text(header + "[" * depth + "]" * depth + "}")
        with pytest.raises(InputError) as caught:
            load_model(path)
        assert "\n" not in str(caught.value)
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    document = model_document(make_network())
    with pytest.raises(InputError, match="holds no whole model, as maximum recursion"):
        read_document(document | {"model": deep})


def test_what_json_does_not_have(tmp_path: Path) -> None:
    """A document from elsewhere with other types is refused as well."""
    document = model_document(make_network())
    document["model"]["scales"] = np.array([1.0])
    with pytest.raises(InputError, match="holds no whole model, as .* not JSON"):
        read_document(document)


def test_good_networks_are_still_read(tmp_path: Path) -> None:
    """Pruned components, constant columns and categories without rows are no faults."""
    network = make_network()
    pruned = replace(
        network,
        features=replace(
            network.features,
            numbers={
                "x": NumericColumn(Scale(np.array([0.5]), np.zeros(1)), (0.5, 0.5)),
                "y": evenly(-1e300, 1e300),
            },
        ),
        scales=np.array([2.0, 0.0]),
        category_scales=np.zeros(1),
        spread=replace(network.spread, shares=(np.array([1.0, 0.0]),)),
    )
    path = tmp_path / "model.json"
    for scorer in (network, pruned, make_network("softplus", None)):
        save_model(scorer, path)
        loaded = load_model(path)
        use(loaded)
        rows = rows_for(scorer)
        np.testing.assert_array_equal(
            loaded.decision_function(rows), scorer.decision_function(rows)
        )
