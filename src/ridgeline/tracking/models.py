"""A saved model file as an MLflow model that loads without Kedro and Ridgeline."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from ridgeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MODULES", "register_model", "upload_model", "write_model"]

_PACKAGE: Final = Path(__file__).parents[1]
# What models need of this package. The same for all of them: a process that loads two
# takes the package of the first.
MODULES: Final = (
    "__init__.py",
    "errors.py",
    "files.py",
    "decisions/__init__.py",
    "decisions/cells.py",
    "decisions/points.py",
    "decisions/policy.py",
    "decisions/reasons.py",
    "decisions/references.py",
    "decisions/scoring.py",
    "decisions/sentences.py",
    "baselines/__init__.py",
    "baselines/archive.py",
    "baselines/boosted_trees.py",
    "baselines/boosting.py",
    "baselines/elm.py",
    "baselines/gaps.py",
    "baselines/labels.py",
    "baselines/soundness.py",
    "baselines/storage.py",
    "baselines/targets.py",
    "preparation/__init__.py",
    "preparation/content.py",
    "preparation/recipes.py",
    "preparation/steps.py",
    "private_names/__init__.py",
    "private_names/sklearn.py",
    "private_names/skops.py",
    "xnn/__init__.py",
    "xnn/architecture.py",
    "xnn/column_kinds.py",
    "xnn/columns.py",
    "xnn/content.py",
    "xnn/contribution_frames.py",
    "xnn/features.py",
    "xnn/format_1.py",
    "xnn/json_parts.py",
    "xnn/monotone.py",
    "xnn/numeric_column.py",
    "xnn/pair_content.py",
    "xnn/profile.py",
    "xnn/profile_content.py",
    "xnn/response.py",
    "xnn/scaling.py",
    "xnn/scorer.py",
    "xnn/sharing.py",
    "xnn/storage.py",
    "xnn/surfaces.py",
)
# By the ending of the model's file.
_REQUIREMENTS: Final = {
    ".json": ("mlflow", "numpy", "pandas"),
    ".skops": ("mlflow", "numpy", "pandas", "scikit-learn", "skops"),
}
# The newest version of a whole run; people move an alias of their own to what they use.
_ALIAS: Final = "latest-run"


def write_model(
    folder: Path, file: Path | None, example: Any, *, keep_example: bool
) -> None:
    """Write a model in MLflow's format to a folder; MLflow itself is not told.

    Args:
        folder: Where to write; it does not exist yet.
        file: The model, `.json` of an xNN or `.skops` of a scikit-learn pipeline.
        example: A few rows of features, in a data frame or an Ibis table.
        keep_example: Whether the rows go along; their types, the signature, always do.

    Raises:
        InputError: If the file or the rows are not what a model needs.
    """
    if file is None or file.suffix not in _REQUIREMENTS:
        got = "no single local file" if file is None else f"'{file.name}'"
        message = (
            f"got {got} where a model is {' or '.join(_REQUIREMENTS)}; save it as that"
        )
        raise InputError(message)
    rows = _plain_rows(example)
    with warnings.catch_warnings(), TemporaryDirectory(prefix="ridgeline-") as staging:
        # MLflow warns of type hints of its own, and does what pandas 4 will forbid.
        warnings.filterwarnings("ignore", module="mlflow")
        _save(folder, file, rows, Path(staging), keep_example)


def upload_model(
    client: Any,
    run: Any,
    folder: Path,
    *,
    name: str,
    metrics: Iterable[Any],
    tags: Mapping[str, str],
) -> Any:
    """Give a run a model that `write_model` wrote, and return MLflow's entity of it.

    By the client alone: MLflow's own `log_model` goes by a global address. The metrics,
    of the run, are shown with the model.
    """
    from mlflow.entities import LoggedModelOutput, Metric
    from mlflow.models import Model

    logged = client.create_logged_model(
        run.info.experiment_id,
        name=re.sub(r"[/:.%\"']", "-", name),  # what MLflow accepts for a model
        source_run_id=run.info.run_id,
        tags=dict(tags),
        params=run.data.params,
    )
    try:
        meta = Model.load(str(folder))
        meta.run_id, meta.model_id = run.info.run_id, logged.model_id
        meta.model_uuid, meta.artifact_path = logged.model_id, logged.artifact_location
        meta.save(str(folder / "MLmodel"))
        client.log_model_artifacts(logged.model_id, str(folder))
    except Exception:
        client.finalize_logged_model(logged.model_id, "FAILED")
        raise
    client.finalize_logged_model(logged.model_id, "READY")
    client.log_outputs(run.info.run_id, [LoggedModelOutput(logged.model_id, step=0)])
    shown = [
        Metric(m.key, m.value, m.timestamp, m.step, model_id=logged.model_id)
        for m in metrics
    ]
    client.log_batch(run.info.run_id, metrics=shown)
    return logged


def register_model(client: Any, logged: Any, name: str, tags: Mapping[str, str]) -> str:
    """Make a logged model the newest version under a name; return its number."""
    from mlflow.exceptions import MlflowException

    try:
        client.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    # The address `models:/<id>` would be looked up at MLflow's global address.
    created = client.create_model_version(
        name,
        logged.artifact_location,
        run_id=logged.source_run_id,
        tags={**tags, "model_id": logged.model_id},
        model_id=logged.model_id,
    )
    # By this MLflow's pages lead from the model to its version.
    link = json.dumps([{"name": name, "version": created.version}])
    client.set_logged_model_tags(logged.model_id, {"mlflow.modelVersions": link})
    client.set_registered_model_alias(name, _ALIAS, created.version)
    return str(created.version)


def _save(
    folder: Path, file: Path, rows: pd.DataFrame, staging: Path, keep_example: bool
) -> None:
    from mlflow import pyfunc

    from ridgeline.tracking import served_model

    kind = file.suffix
    # A name of our own: MLflow would read the signs in a user's path as an address.
    copy = staging / f"model{kind}"
    shutil.copyfile(file, copy)
    code = staging / _PACKAGE.name
    for module in MODULES:
        (code / module).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_PACKAGE / module, code / module)
    model = served_model.ServedModel()
    model.read(copy)
    pyfunc.save_model(
        folder,
        python_model=served_model.__file__,
        artifacts={"model": str(copy)},
        code_paths=[str(code)],
        # Without this list MLflow finds it out by running the model, in 9 seconds.
        pip_requirements=_requirements(kind, model.model),
        signature=_signature(model, rows),
        input_example=rows if keep_example else None,
    )


def _signature(model: Any, rows: pd.DataFrame) -> Any:
    """What a model takes and answers.

    A network looks at every cell itself, so that whole numbers do where others were
    trained on, and raw rows where it knows their preparation: its columns may be of any
    type, and none is demanded.
    """
    from mlflow.models import ModelSignature, infer_signature
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import AnyType

    from ridgeline.tracking.served_model import PARAMETERS
    from ridgeline.xnn.scorer import Scorer

    answer = model.predict(None, rows)
    kinds = {"f": DataType.double, "i": DataType.long}
    outputs = Schema(
        [
            ColSpec(
                kinds.get(answer[name].dtype.kind, DataType.string),
                name,
                required=not name.startswith("reason_"),
            )
            for name in answer
        ]
    )
    known = infer_signature(rows, params=PARAMETERS)
    if not isinstance(model.model, Scorer):
        return ModelSignature(known.inputs, outputs, known.params)
    preparation = model.model.preparation
    formats = preparation.formats if preparation else ()
    raw = [name for form in formats for name in form.sources]
    names = dict.fromkeys([*rows.columns, *raw])
    any_type = AnyType()  # type: ignore[no-untyped-call]
    inputs = Schema([ColSpec(any_type, name, required=False) for name in names])
    return ModelSignature(inputs, outputs, known.params)


def _requirements(kind: str, model: Any) -> list[str]:
    """The packages that a model needs, as pip reads them."""
    names = list(_REQUIREMENTS[kind])
    if kind == ".skops":
        from sklearn.pipeline import Pipeline

        from ridgeline.baselines.boosting import LightGBMClassifier, LightGBMRegressor
        from ridgeline.baselines.targets import ScaledTarget

        if isinstance(model, ScaledTarget):
            model = model.model
        last = model[-1] if isinstance(model, Pipeline) else model
        if isinstance(last, LightGBMClassifier | LightGBMRegressor):
            names.append("lightgbm")
    return [f"{name}=={version(name)}" for name in names]


def _plain_rows(example: Any) -> pd.DataFrame:
    """The example in the types that MLflow's signatures know."""
    import ibis.expr.types as ir
    import pandas as pd

    rows = example.to_pandas() if isinstance(example, ir.Table) else example
    if not isinstance(rows, pd.DataFrame) or rows.empty:
        message = (
            f"got {type(example).__name__} as the example where a data frame with "
            "a few rows of features is needed"
        )
        raise InputError(message)
    categorical = rows.select_dtypes("category").columns
    return rows.astype(dict.fromkeys(categorical, str)).reset_index(drop=True)
