"""A fitted scikit-learn model as one file without pickle, in the format of skops.

Reading a file builds objects of the types listed here alone, whatever else the file
names, and what it builds is looked at before compiled code follows it.
"""

import zipfile
from pathlib import Path
from typing import Any, Final

from ridgeline.baselines.archive import (
    ForeignTypeError,
    UnsoundError,
    read_archive,
)
from ridgeline.baselines.soundness import check_model
from ridgeline.errors import InputError, RidgelineError
from ridgeline.files import replace_file

__all__ = ["TRUSTED_TYPES", "load_model", "save_model"]

# What the models of `ridgeline.baselines.registry` hold. skops itself trusts every
# estimator of scikit-learn; each of these is one whose arrays are checked, or Python.
TRUSTED_TYPES: Final = (
    "ridgeline.baselines.boosting.LightGBMClassifier",
    "ridgeline.baselines.boosting.LightGBMRegressor",
    "ridgeline.baselines.elm.ELMClassifier",
    "ridgeline.baselines.elm.ELMRegressor",
    "ridgeline.baselines.gaps.CategoryGaps",
    "ridgeline.baselines.gaps.NumberGaps",
    "ridgeline.baselines.targets.ScaledTarget",
    "sklearn.calibration.CalibratedClassifierCV",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.ensemble._forest.RandomForestClassifier",
    "sklearn.ensemble._forest.RandomForestRegressor",
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.linear_model._coordinate_descent.Lasso",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.neural_network._multilayer_perceptron.MLPClassifier",
    "sklearn.neural_network._multilayer_perceptron.MLPRegressor",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.svm._classes.SVC",
    "sklearn.svm._classes.SVR",
    "sklearn.tree._classes.DecisionTreeClassifier",
    "sklearn.tree._classes.DecisionTreeRegressor",
    "sklearn.tree._tree.Tree",
)


def save_model(model: Any, path: str | Path) -> None:
    """Writes a fitted model to a file; a former file stays until all is written.

    Raises:
        InputError: If the model has a type that is not on the list or could not be
            read back, or the folder is missing.
    """
    import skops.io

    # Written through a link, as by any other program, not over it.
    target = Path(path).resolve()
    if not target.parent.is_dir():
        message = f"The folder {str(target.parent)!r} does not exist; create it first."
        raise InputError(message)
    content = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    try:
        _restored(content)
    except ForeignTypeError as foreign:
        message = (
            f"The model cannot be saved, as it holds the type {str(foreign)!r}, which "
            "is not on the list of types that are read back: add it to "
            "ridgeline.baselines.storage.TRUSTED_TYPES if it may be trusted."
        )
        raise InputError(message) from None
    except UnsoundError as unsound:
        message = f"The model cannot be saved, as its file {unsound}; fit it again."
        raise InputError(message) from None
    except Exception as error:
        message = (
            f"The model cannot be saved, as it does not predict when it is read back "
            f"({type(error).__name__}); fit it first."
        )
        raise InputError(message) from error
    replace_file(target, content)


def load_model(path: str | Path) -> Any:
    """Reads a fitted scikit-learn model that `save_model` wrote.

    Raises:
        InputError: If the file is missing, damaged, of something else, or names a type
            that is not on the list.
    """
    name = f"The model file {str(path)!r}"
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        what = (
            "does not exist" if isinstance(error, FileNotFoundError) else "is no file"
        )
        message = f"{name} {what}; pass the path of a file that save_model wrote."
        raise InputError(message) from None
    try:
        return _restored(content)
    except RidgelineError:  # says itself what is missing, such as a library
        raise
    except ForeignTypeError as foreign:
        message = (
            f"{name} names the type {str(foreign)!r}, which Ridgeline does not trust; "
            "read only files that save_model wrote."
        )
        raise InputError(message) from None
    except UnsoundError as unsound:
        message = (
            f"{name} {unsound}; restore the file from a copy, or save the model again."
        )
        raise InputError(message) from None
    except Exception as error:  # a damaged file may fail anywhere inside
        message = (
            f"{name} is not of this format, or was damaged "
            f"({type(error).__name__}); restore it from a copy, or save the model "
            "again."
        )
        raise InputError(message) from error


def _restored(content: bytes) -> Any:
    """The model of a file, which is sure to predict."""
    model = read_archive(content, TRUSTED_TYPES)
    if not hasattr(model, "predict"):
        message = (
            f"holds an object of the type {type(model).__name__}, which does not "
            "predict"
        )
        raise UnsoundError(message)
    check_model(model)
    return model
