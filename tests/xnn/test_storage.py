"""Saving and loading a network: the same bits back, or one clear sentence."""

import dataclasses
import datetime
import enum
import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ridgeline
from ridgeline.errors import InputError
from ridgeline.xnn.numeric_column import NumericColumn
from ridgeline.xnn.scaling import Scale
from ridgeline.xnn.scorer import Scorer
from ridgeline.xnn.storage import (
    load_model,
    model_document,
    read_document,
    save_model,
)

MakeScorer = Callable[..., Scorer]
Change = Callable[[dict[str, Any]], Any]

DATA = Path(__file__).parents[1] / "data"
LIGHT = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LABELS = st.one_of(st.text(), st.integers(), FLOATS, st.booleans())
CATEGORIES = st.dictionaries(
    # Other columns are called "feature 0" and so on.
    st.text(max_size=8).filter(lambda name: not name.startswith("feature")),
    st.lists(LABELS, min_size=1, max_size=5, unique=True).map(tuple),
    max_size=3,
)
SHAPES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "n_features": st.integers(3, 6),
        "n_subnetworks": st.integers(1, 3),
        "hidden": st.lists(st.integers(1, 6), max_size=3).map(tuple),
        "activation": st.sampled_from(["tanh", "sigmoid", "softplus"]),
        "categories": CATEGORIES,
        "classes": st.none()
        | st.lists(LABELS, min_size=2, max_size=2, unique=True).map(tuple),
    }
)


def rows_for(scorer: Scorer, count: int, seed: int = 0) -> pd.DataFrame:
    """Return rows with the columns that a scorer needs."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name in scorer.features.names:
        if name in scorer.features.categories:
            values = scorer.features.categories[name]
            chosen = rng.integers(len(values), size=count)
            columns[name] = pd.Series([values[i] for i in chosen], dtype=object)
        else:
            columns[name] = rng.normal(size=count)
    return pd.DataFrame(columns)


def parts(part: Any) -> Any:
    """Return all that a scorer holds with the types, and arrays as shape and bits."""
    if dataclasses.is_dataclass(part):
        return {f.name: parts(getattr(part, f.name)) for f in dataclasses.fields(part)}
    if isinstance(part, np.ndarray):
        return part.dtype.str, part.shape, part.tobytes()
    if isinstance(part, tuple):
        return [parts(value) for value in part]
    if isinstance(part, dict):
        return [(name, parts(value)) for name, value in part.items()]
    return type(part), repr(part)


def checksum(model: dict[str, Any]) -> str:
    """Return the checksum that the format demands."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def number(model: dict[str, Any]) -> dict[str, Any]:
    """Return what the content of a file says of its first numeric column."""
    return model["features"]["numbers"][0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a model file in a folder of its own."""
    return tmp_path / "model.json"


@pytest.fixture
def scorer(make_scorer: MakeScorer) -> Scorer:
    """Return a classifier with categories."""
    return make_scorer(categories={"grade": ("A", "B", "C")}, classes=("no", "yes"))


@pytest.fixture
def change(path: Path, scorer: Scorer) -> Callable[[Change], None]:
    """Return a function that saves a model, then changes what the file says."""

    def apply(edit: Change) -> None:
        save_model(scorer, path)
        document = json.loads(path.read_text())
        edit(document)
        path.write_text(json.dumps(document))

    return apply


class TestRoundTrip:
    """What is loaded is what was saved."""

    @LIGHT
    @given(shape=SHAPES)
    def test_same_bits(
        self, make_scorer: MakeScorer, path: Path, shape: dict[str, Any]
    ) -> None:
        saved = make_scorer(**shape)
        save_model(saved, path)
        loaded = load_model(path)
        assert parts(loaded) == parts(saved)
        assert loaded.component_names == saved.component_names
        rows = rows_for(saved, 40)
        np.testing.assert_array_equal(loaded.predict(rows), saved.predict(rows))
        np.testing.assert_array_equal(
            loaded.contributions(rows), saved.contributions(rows)
        )
        if saved.classes is not None:
            np.testing.assert_array_equal(
                loaded.predict_proba(rows), saved.predict_proba(rows)
            )

    @LIGHT
    @given(values=st.lists(st.floats(-1e99, 1e99), min_size=4, max_size=4))
    def test_any_float(self, scorer: Scorer, path: Path, values: list[float]) -> None:
        values = [*values, 0.1, 5e-324, -0.0, float(np.nextafter(1, 2))]
        places = np.array([-1.0, 5e-324, 1.0])
        numbers = {
            f"x{j}": NumericColumn(
                Scale(np.array([value, 1e100, 1.7976931348623157e308]), places),
                seen=(value, 1.7976931348623157e308),
                neutral=0.1,
                levels=(value,),
            )
            for j, value in enumerate(values)
        }
        saved = dataclasses.replace(
            scorer,
            features=dataclasses.replace(
                scorer.features,
                names=(*numbers, "grade"),
                numbers=numbers,
            ),
            projection=np.tile(values, (3, 1)).T,
            intercept=values[0],
        )
        save_model(saved, path)
        assert parts(load_model(path))["features"] == parts(saved.features)
        assert parts(load_model(path))["projection"][2] == (
            np.ascontiguousarray(saved.projection).tobytes()
        )
        assert parts(load_model(path))["intercept"] == parts(saved.intercept)

    def test_types_of_labels_are_kept_apart(
        self, make_scorer: MakeScorer, path: Path
    ) -> None:
        categories = {"a": (True,), "b": (1,), "c": (1.0,), "d": ("1",), "e": ("True",)}
        save_model(make_scorer(categories=categories, classes=(0, "0")), path)
        loaded = load_model(path)
        assert [(type(v), v) for (v,) in loaded.features.categories.values()] == [
            (bool, True),
            (int, 1),
            (float, 1.0),
            (str, "1"),
            (str, "True"),
        ]
        assert loaded.classes == (0, "0")

    @pytest.mark.parametrize(
        ("given", "plain"),
        [
            (np.bool_(True), True),
            (np.int8(-3), -3),
            (np.uint64(2**64 - 1), 2**64 - 1),
            (np.float64(0.1), 0.1),
            (np.float32(0.1), 0.10000000149011612),
            (np.str_("A"), "A"),
        ],
    )
    def test_numpy_labels_become_plain(
        self, make_scorer: MakeScorer, path: Path, given: Any, plain: Any
    ) -> None:
        save_model(make_scorer(categories={"c": (given,)}, classes=(given, "no")), path)
        loaded = load_model(path)
        for value in (loaded.features.categories["c"][0], loaded.classes[0]):
            assert (type(value), value) == (type(plain), plain)

    @pytest.mark.parametrize(
        ("n_features", "n_subnetworks"), [(0, 0), (0, 2), (2, 0)], ids=str
    )
    def test_empty_arrays_keep_their_shapes(
        self, make_scorer: MakeScorer, path: Path, n_features: int, n_subnetworks: int
    ) -> None:
        saved = make_scorer(
            n_features=n_features, n_subnetworks=2, categories={"c": ("a", "b")}
        )
        keep = slice(n_subnetworks)
        saved = dataclasses.replace(
            saved,
            projection=np.ones((n_features, n_subnetworks)),
            subnetworks=saved.subnetworks.take(keep),
            scales=saved.scales[keep],
            spread=dataclasses.replace(
                saved.spread,
                edges=saved.spread.edges[keep],
                heights=saved.spread.heights[keep],
            ),
        )
        save_model(saved, path)
        loaded = load_model(path)
        assert parts(loaded) == parts(saved)
        rows = rows_for(saved, 5)
        np.testing.assert_array_equal(
            loaded.contributions(rows), saved.contributions(rows)
        )

    def test_saving_again_writes_the_same_file(
        self, scorer: Scorer, path: Path
    ) -> None:
        save_model(scorer, path)
        first = path.read_bytes()
        save_model(load_model(path), str(path))
        assert path.read_bytes() == first

    def test_text_beyond_ascii_and_half_characters(
        self, make_scorer: MakeScorer, path: Path
    ) -> None:
        saved = make_scorer(categories={"größe €": ("klein 🙂", "\ud800", "\x00")})
        save_model(saved, path)
        assert parts(load_model(path)) == parts(saved)


class TestFile:
    """One small file of strict JSON, replaced in one step."""

    def test_header(self, scorer: Scorer, path: Path) -> None:
        def refuse(constant: str) -> None:
            raise AssertionError(constant)

        save_model(scorer, path)
        document = json.loads(path.read_bytes().decode(), parse_constant=refuse)
        assert list(document) == ["format", "version", "written_by", "sha256", "model"]
        assert document["format"] == "ridgeline-xnn"
        assert document["version"] == 2
        assert document["written_by"] == ridgeline.__version__
        assert document["sha256"] == checksum(document["model"])
        assert document["model"]["projection"] == scorer.projection.tolist()

    def test_size(self, make_scorer: MakeScorer, path: Path) -> None:
        save_model(
            make_scorer(n_features=10, n_subnetworks=10, hidden=(10, 6)),
            path,
        )
        assert path.stat().st_size < 60_000

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    def test_an_interrupted_save_keeps_the_former_file(
        self,
        make_scorer: MakeScorer,
        path: Path,
        monkeypatch: pytest.MonkeyPatch,
        step: str,
    ) -> None:
        former = make_scorer(seed=1)
        save_model(former, path)

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, step, interrupt)
            with pytest.raises(KeyboardInterrupt):
                save_model(make_scorer(seed=2), path)
        assert list(path.parent.iterdir()) == [path]
        assert parts(load_model(path)) == parts(former)

    def test_content_is_on_disk_before_the_name_is(
        self, make_scorer: MakeScorer, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # So small that all of it would wait in the buffer.
        scorer = make_scorer(n_features=1, n_subnetworks=1, hidden=())
        calls = []
        fsync, replace = os.fsync, os.replace

        def noted_fsync(file: int) -> None:
            status = os.fstat(file)
            what = "folder" if stat.S_ISDIR(status.st_mode) else status.st_size
            calls.append(("fsync", what))
            fsync(file)

        def noted_replace(source: Path, target: Path) -> None:
            calls.append(("replace", os.stat(source).st_size))  # noqa: PTH116
            assert Path(target).parent in Path(source).parents
            replace(source, target)

        monkeypatch.setattr(os, "fsync", noted_fsync)
        monkeypatch.setattr(os, "replace", noted_replace)
        save_model(scorer, path)
        size = path.stat().st_size
        assert calls == [("fsync", size), ("replace", size), ("fsync", "folder")]

    def test_a_link_stays_a_link(self, scorer: Scorer, path: Path) -> None:
        target = path.with_name("version-1.json")
        path.symlink_to(target.name)
        save_model(scorer, path)
        assert path.is_symlink()
        assert parts(load_model(target)) == parts(scorer)

    def test_others_may_read_it_as_any_file(self, scorer: Scorer, path: Path) -> None:
        save_model(scorer, path)
        plain = path.with_name("plain")
        plain.touch()
        assert path.stat().st_mode == plain.stat().st_mode

    def test_scoring_needs_numpy_alone(self, scorer: Scorer, path: Path) -> None:
        save_model(scorer, path)
        code = """
import sys
import numpy as np
from ridgeline.xnn.storage import load_model
scorer = load_model(sys.argv[1])
rows = np.array([[0.5, -1.0, 2.0, 0.0, "B"]], dtype=object)
print(scorer.decision_function(rows)[0].hex(), scorer.predict(rows)[0])
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        score, modules = done.stdout.splitlines()
        rows = np.array([[0.5, -1.0, 2.0, 0.0, "B"]], dtype=object)
        expected = scorer.decision_function(rows)[0].hex()
        assert score == f"{expected} {scorer.predict(rows)[0]}"
        assert "numpy" in modules.split()
        heavy = {"tensorflow", "keras", "sklearn", "pandas", "scipy", "pydantic"}
        assert heavy.isdisjoint(modules.split())


class Colour(enum.StrEnum):
    """Text that is not plain text."""

    RED = "red"


class TestRefusedSaves:
    """Nothing is written that could not be read again."""

    @pytest.mark.parametrize(
        ("label", "kind"),
        [
            (None, "NoneType"),
            (datetime.date(2020, 1, 1), "date"),
            (np.datetime64("2020-01-01", "ns"), "datetime64"),
            (np.timedelta64(1, "ns"), "timedelta64"),
            (b"A", "bytes"),
            (np.bytes_(b"A"), "bytes_"),
            (("A", 1), "tuple"),
            (1j, "complex"),
            (np.longdouble(1), "longdouble"),
            (float("inf"), "float"),
            (np.float64("nan"), "float64"),
            (Colour.RED, "Colour"),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("place", ["category of 'c'", "class label"])
    def test_labels(
        self, make_scorer: MakeScorer, path: Path, label: Any, kind: str, place: str
    ) -> None:
        scorer = (
            make_scorer(classes=("no", label))
            if place == "class label"
            else make_scorer(categories={"c": (label, "no")})
        )
        with pytest.raises(InputError) as caught:
            save_model(scorer, path)
        assert str(caught.value) == (
            f"The model cannot be saved, as the {place} {label!r} is of the type "
            f"{kind} and not text, a finite number or a boolean; change that and fit "
            "again."
        )
        assert not list(path.parent.iterdir())

    @pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("name", ["scales", "projection", "intercept"])
    def test_weights_that_are_not_finite(
        self, scorer: Scorer, path: Path, name: str, wrong: float
    ) -> None:
        broken = dataclasses.replace(
            scorer, **{name: getattr(scorer, name) * np.float64(wrong)}
        )
        with pytest.raises(InputError, match=f"'{name}' is not an array of finite num"):
            save_model(broken, path)
        assert not path.exists()

    def test_parts_that_do_not_fit(self, scorer: Scorer, path: Path) -> None:
        broken = dataclasses.replace(scorer, projection=np.ones((5, 3)))
        with pytest.raises(
            InputError,
            match=r"'projection' has the shape \(5, 3\) where \(4, 3\) fits;",
        ):
            save_model(broken, path)

    def test_folders(self, scorer: Scorer, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is a folder; name a file in an existing"):
            save_model(scorer, tmp_path)
        with pytest.raises(InputError, match="is in a missing folder; name a file in"):
            save_model(scorer, tmp_path / "missing" / "model.json")


class TestRefusedLoads:
    """Every other file is refused in one sentence."""

    def test_missing_file(self, path: Path) -> None:
        with pytest.raises(InputError) as caught:
            load_model(path)
        assert str(caught.value) == (
            f"The model file {str(path)!r} does not exist; pass the path of a whole "
            "file that save_model wrote."
        )

    def test_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is a folder; pass the path of a whole"):
            load_model(tmp_path)

    def test_path_through_a_file(self, path: Path) -> None:
        path.touch()
        with pytest.raises(InputError, match="cannot be read .*; pass the path of"):
            load_model(path / "model.json")

    @pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
    def test_cut_off(self, scorer: Scorer, path: Path, share: float) -> None:
        save_model(scorer, path)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(InputError, match="is not JSON, or was cut off .*; pass"):
            load_model(path)

    @pytest.mark.parametrize(
        ("content", "what"),
        [
            (b"\x80\x04\x95\x10\x00", "is binary, not JSON text"),
            (b"\x89HDF\r\n\x1a\n", "is binary, not JSON text"),
            (b"amount,dti\n1,2\n", "is not JSON, or was cut off"),
            (b"[" * 100_000, "is not JSON, or was cut off"),
            (b"9" * 5_000, "is not JSON, or was cut off"),
            (b"[]", "is JSON of something else, without the format 'ridgeline-xnn'"),
            (b"null", "is JSON of something else"),
            (b'{"format": "onnx", "version": 1}', "is JSON of something else"),
            (b'{"model": {}}', "is JSON of something else"),
        ],
        ids=lambda value: str(value[:12]),
    )
    def test_foreign(self, path: Path, content: bytes, what: str) -> None:
        path.write_bytes(content)
        with pytest.raises(
            InputError, match=f"{what}.*; pass the path of a whole file"
        ):
            load_model(path)

    def test_newer_version(self, change: Callable[[Change], None], path: Path) -> None:
        # A newer format may hold anything: the version is looked at before the rest.
        change(lambda d: d.update(version=3, written_by="3.4.5", model="?", sha256=0))
        with pytest.raises(InputError) as caught:
            load_model(path)
        assert str(caught.value) == (
            f"The model file {str(path)!r} has the format version 3, written by "
            f"Ridgeline 3.4.5; this is Ridgeline {ridgeline.__version__}, which reads "
            "versions 1 to 2: upgrade Ridgeline."
        )

    @pytest.mark.parametrize("version", [0, "1", True, 1.0, None])
    def test_no_version(
        self, change: Callable[[Change], None], path: Path, version: Any
    ) -> None:
        change(lambda d: d.update(version=version))
        with pytest.raises(InputError, match="versions 1 to 2: save the model"):
            load_model(path)

    def test_every_changed_digit_is_noticed(self, scorer: Scorer, path: Path) -> None:
        save_model(scorer, path)
        whole = path.read_text()
        weight = repr(float(scorer.projection[1, 2]))
        assert whole.count(weight) == 1
        last = whole.index(weight) + len(weight) - 1
        other = str((int(whole[last]) + 5) % 10)
        path.write_text(whole[:last] + other + whole[last + 1 :])
        with pytest.raises(InputError) as caught:
            load_model(path)
        assert str(caught.value) == (
            f"The model file {str(path)!r} has changed since it was saved: its content "
            "does not give its checksum; restore the file from a copy, or save the "
            "model again."
        )

    @pytest.mark.parametrize("wrong", ["NaN", "1e999", "-Infinity"])
    def test_numbers_that_are_not_finite(
        self, scorer: Scorer, path: Path, wrong: str
    ) -> None:
        save_model(scorer, path)
        document = json.loads(path.read_text())
        document["model"]["scales"][0] = float(wrong)
        document["sha256"] = checksum(document["model"])
        path.write_text(json.dumps(document).replace("Infinity", "1e999"))
        with pytest.raises(InputError, match="'scales' is not an array of finite num"):
            load_model(path)

    @pytest.mark.parametrize("key", ["sha256", "model"])
    def test_a_missing_part(
        self, change: Callable[[Change], None], path: Path, key: str
    ) -> None:
        change(lambda document: document.pop(key))
        with pytest.raises(InputError, match="has changed since it was saved"):
            load_model(path)

    def test_layout_does_not_count(self, scorer: Scorer, path: Path) -> None:
        save_model(scorer, path)
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document, indent=2, sort_keys=True))
        assert parts(load_model(path)) == parts(scorer)

    @pytest.mark.parametrize(
        ("edit", "what"),
        [
            (lambda m: m["projection"].pop(), r"'projection' has the shape \(3, 3\)"),
            (lambda m: m["projection"][0].pop(), "'projection' is not an array of fin"),
            (lambda m: m["scales"].append(1.0), r"\(4, 3\) where \(4, 4\) fits"),
            (
                lambda m: m.update(scales=["1"] * 3),
                "'scales' is not an array of finite",
            ),
            (lambda m: m.update(scales=[True] * 3), "'scales' is not an array of fini"),
            (lambda m: m.update(intercept=[1.0]), r"'intercept' has the shape \(1,\)"),
            (lambda m: m.update(intercept=None), "'intercept' is not an array of fin"),
            (lambda m: m["effects"].pop(), "'effects' has 0 arrays where 1 fit"),
            (lambda m: m["effects"][0].pop(), r"'effects' has the shape \(2,\) where"),
            (lambda m: m["category_scales"].pop(), r"'category_scales' "),
            (lambda m: m["features"]["names"].pop(0), "'numbers' are not of columns"),
            (lambda m: m["features"]["names"].pop(), "'categories' are not of columns"),
            (
                lambda m: m["features"]["names"].insert(0, "grade"),
                "'names' are not uni",
            ),
            (lambda m: m["features"]["names"].append([]), "'names' are not unique"),
            (lambda m: m["features"]["numbers"].pop(), "is neither or both of a numb"),
            (
                lambda m: number(m)["knots"].pop(),
                r"'places' has the shape \(2,\) where",
            ),
            (lambda m: number(m)["knots"].reverse(), "'feature 0' do not rise from -1"),
            (
                lambda m: number(m).update(places=[-1.0, 0.9]),
                "do not rise from -1 to 1",
            ),
            (
                lambda m: number(m).update(neutral=1.5),
                "'neutral' of 'feature 0' is not",
            ),
            (lambda m: number(m).pop("missing"), "'missing' is missing or not of the"),
            (
                lambda m: number(m).update(codes=[0, 0]),
                "'codes' of 'feature 0' has a v",
            ),
            (
                lambda m: number(m).update(codes=[-7.0]),
                "'effects' has 1 arrays where 2",
            ),
            (
                lambda m: number(m).update(codes=[0.0], masses=[0.0]),
                "a value of 'feature 0' is both a code and a mass",
            ),
            (
                lambda m: m["features"].update(flags=["grade"]),
                "'flags' are not the col",
            ),
            (lambda m: m["spread"].update(rows=0), "'rows' is not a positive whole"),
            (lambda m: m["features"].pop("named"), "'named' is missing or not of the"),
            (lambda m: m["features"]["categories"][0]["values"].append([]), "category"),
            (lambda m: m["features"]["categories"].append(None), "'name' is missing"),
            (
                lambda m: m.update(features=[]),
                "'features' is missing or not of the type",
            ),
            (lambda m: m["classes"].pop(), "'classes' has 1 labels, not two"),
            (
                lambda m: m.update(classes="ab"),
                "'classes' is missing or not of the type",
            ),
            (lambda m: m["classes"].__setitem__(0, None), "the class label None"),
            (
                lambda m: m["subnetworks"]["kernels"].pop(),
                "'kernels' has 2 arrays where",
            ),
            (
                lambda m: m["subnetworks"]["kernels"][1].pop(),
                r"'kernels' has the shape ",
            ),
            (
                lambda m: m["subnetworks"]["biases"].reverse(),
                r"'biases' has the shape ",
            ),
            (
                lambda m: m["subnetworks"].update(units=[5, 3]),
                "'units' is .* of which the last is 1",
            ),
            (
                lambda m: m["subnetworks"].update(units=[3, 5, 1]),
                "'kernels' has the sha",
            ),
            (
                lambda m: m["subnetworks"].update(units=["?", 1]),
                "'units' is .* not positive whole numbers",
            ),
            (
                lambda m: m["subnetworks"].update(activation="relu"),
                "'relu', not one of",
            ),
            (lambda m: m["spread"].update(bins=19), r"'edges' has the shape \(3, 21\)"),
            (
                lambda m: m["spread"]["heights"].pop(),
                r"'heights' has the shape \(2, 20\)",
            ),
            (
                lambda m: m["spread"]["shares"].append([]),
                "'shares' has 2 arrays where 1",
            ),
            (lambda m: m.pop("spread"), "'spread' is missing or not of the type dict"),
            (lambda m: m.clear(), "'features' is missing"),
        ],
    )
    def test_parts_that_do_not_fit(
        self, change: Callable[[Change], None], path: Path, edit: Change, what: str
    ) -> None:
        def edit_and_sign(document: dict[str, Any]) -> None:
            edit(document["model"])
            document["sha256"] = checksum(document["model"])

        change(edit_and_sign)
        with pytest.raises(
            InputError,
            match=f"holds no whole model, as .*{what}.*; save the model again",
        ):
            load_model(path)

    def test_categorical_columns_in_another_order(
        self, make_scorer: MakeScorer, path: Path
    ) -> None:
        save_model(make_scorer(categories={"a": ("x",), "b": ("y",)}), path)
        document = json.loads(path.read_text())
        document["model"]["features"]["categories"].reverse()
        document["sha256"] = checksum(document["model"])
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match="not of columns in the order of 'names'"):
            load_model(path)


class TestFormat1:
    """A file that Ridgeline 0.1 wrote, and what it said about twelve rows."""

    @pytest.fixture
    def said(self) -> dict[str, Any]:
        """Return rows, decisions, probabilities and contributions."""
        return json.loads((DATA / "model_format_1_scores.json").read_text())

    @pytest.fixture
    def rows(self, said: dict[str, Any]) -> pd.DataFrame:
        """Return the rows as a table."""
        return pd.DataFrame(said["rows"])

    def test_scores_are_the_same(
        self, said: dict[str, Any], rows: pd.DataFrame
    ) -> None:
        loaded = load_model(DATA / "model_format_1.json")
        assert loaded.classes == ("default", "paid")
        close = {"rtol": 0, "atol": 1e-12}
        np.testing.assert_allclose(
            loaded.decision_function(rows), said["decisions"], **close
        )
        np.testing.assert_allclose(
            loaded.predict_proba(rows)[:, 1], said["probabilities"], **close
        )
        np.testing.assert_allclose(
            loaded.contributions(rows), said["contributions"], **close
        )

    def test_it_is_explained(self, said: dict[str, Any], rows: pd.DataFrame) -> None:
        explanation = load_model(DATA / "model_format_1.json").explain()
        frame = explanation.contributions(rows)
        np.testing.assert_allclose(frame["decision"], said["decisions"], atol=1e-12)
        assert set(explanation.feature_names) == {"score", "dti", "branch", "amount"}
        assert {c.name for c in explanation.category_effects} == {"term", "purpose"}
        # How many rows there were is the one thing that it does not tell.
        assert explanation.categories["rows"].isna().all()
        assert explanation.categories["share"].notna().all()

    def test_it_is_saved_as_format_2(self, path: Path, rows: pd.DataFrame) -> None:
        loaded = load_model(DATA / "model_format_1.json")
        save_model(loaded, path)
        assert json.loads(path.read_text())["version"] == 2
        assert parts(load_model(path)) == parts(loaded)
        np.testing.assert_array_equal(
            load_model(path).decision_function(rows), loaded.decision_function(rows)
        )

    @pytest.mark.parametrize(
        ("edit", "what"),
        [
            (lambda f: f["factor"].pop(), "'numbers' is missing"),
            (
                lambda f: f["factor"].__setitem__(0, -1.0),
                "knots of 'score' do not rise",
            ),
            (lambda f: f["centre"].__setitem__(0, 10**400), "'numbers' is missing"),
            (lambda f: f["centre"].__setitem__(0, "625"), "'numbers' is missing"),
            (lambda f: f["factor"].__setitem__(0, 5e-324), "'knots' is not an array"),
            (lambda f: f["factor"].__setitem__(0, None), "'numbers' is missing"),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, path: Path, edit: Change, what: str
    ) -> None:
        document = json.loads((DATA / "model_format_1.json").read_text())
        edit(document["model"]["features"])
        document["sha256"] = checksum(document["model"])
        path.write_text(json.dumps(document))
        with pytest.raises(InputError, match=f"holds no whole model, as .*{what}"):
            load_model(path)


class TestDocuments:
    """A network inside another file, such as a result of the study."""

    def test_same_bits(self, scorer: Scorer, path: Path) -> None:
        document = model_document(scorer)
        assert parts(read_document(document)) == parts(scorer)
        assert parts(read_document(json.loads(json.dumps(document)))) == parts(scorer)
        save_model(scorer, path)
        assert document == json.loads(path.read_text())

    def test_damaged(self, scorer: Scorer) -> None:
        document = model_document(scorer)
        document["model"]["projection"][1][2] += 1e-9
        with pytest.raises(InputError) as caught:
            read_document(document, "The network of S1")
        assert str(caught.value).startswith(
            "The network of S1 has changed since it was saved: its content does not"
        )
        document["model"]["scales"].pop()
        document["sha256"] = checksum(document["model"])
        with pytest.raises(InputError, match=r"The model holds no whole model, as '"):
            read_document(document)
        with pytest.raises(InputError, match="The model has the format version None"):
            read_document({})

    def test_weights_that_are_not_finite(self, scorer: Scorer) -> None:
        broken = dataclasses.replace(scorer, scales=scorer.scales * np.nan)
        with pytest.raises(InputError, match="cannot be saved, as 'scales' is not an"):
            model_document(broken)


class TestScorer:
    """What holds for every network, whatever its weights."""

    @LIGHT
    @given(shape=SHAPES, pruned=st.sets(st.integers(0, 5)))
    def test_contributions_add_up(
        self, make_scorer: MakeScorer, shape: dict[str, Any], pruned: set[int]
    ) -> None:
        scorer = make_scorer(**shape)
        count = len(scorer.scales)
        keep = np.array([j not in pruned for j in range(len(scorer.all_scales))])
        scorer = dataclasses.replace(
            scorer,
            scales=scorer.scales * keep[:count],
            category_scales=scorer.category_scales * keep[count:],
        )
        rows = rows_for(scorer, 30)
        contributions = scorer.contributions(rows)
        assert contributions.shape == (30, len(scorer.component_names))
        assert not contributions[:, ~keep].any()
        np.testing.assert_allclose(
            scorer.intercept + contributions.sum(axis=1),
            scorer.decision_function(rows),
            rtol=0,
            atol=1e-9,
        )

    @pytest.mark.parametrize("size", [2048, 1999])
    def test_blocks_do_not_matter(self, scorer: Scorer, size: int) -> None:
        rows = rows_for(scorer, 5_000)
        blocks = [rows.iloc[start : start + size] for start in range(0, 5_000, size)]
        for score in (scorer.decision_function, scorer.contributions):
            # Sums of products may differ in the last bit with the number of rows.
            np.testing.assert_allclose(
                score(rows),
                np.concatenate([score(block) for block in blocks]),
                rtol=0,
                atol=1e-12,
            )


class TestFormat2:
    """A file with overlap, directions, a pair and gaps, and what it said of rows."""

    @pytest.fixture
    def said(self) -> dict[str, Any]:
        """Return rows, decisions, probabilities and both kinds of contributions."""
        return json.loads((DATA / "model_format_2_scores.json").read_text())

    @pytest.fixture
    def rows(self, said: dict[str, Any]) -> pd.DataFrame:
        """Return the rows as a table."""
        return pd.DataFrame(said["rows"]["data"], columns=said["rows"]["columns"])

    def test_scores_are_the_same(
        self, said: dict[str, Any], rows: pd.DataFrame
    ) -> None:
        loaded = load_model(DATA / "model_format_2.json")
        assert rows.isna().any(axis=None)
        for name, found in {
            "decisions": loaded.decision_function(rows),
            "probabilities": loaded.predict_proba(rows)[:, 1],
            "contributions": loaded.contributions(rows),
            "by_feature": loaded.feature_contributions(rows),
        }.items():
            np.testing.assert_allclose(found, said[name], rtol=0, atol=1e-12)

    def test_it_has_every_kind_of_part(self) -> None:
        explanation = load_model(DATA / "model_format_2.json").explain()
        assert [pair.kind for pair in explanation.pairs] == ["pair"]
        assert explanation.monotone["holds"].all()
        assert set(explanation.monotone["feature"]) == {"income", "dti"}
        assert 0 < explanation.coherence.largest_cosine < 1
