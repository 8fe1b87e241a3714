"""Which version of a registered model is the champion: by a rule, or by hand.

The first version is. A later one takes its place if its losses on the present test rows
are smaller by more than chance, row by row (`ridgeline.evaluation.paired`). A champion
that has seen some of these rows in its own training has an advantage, never the
candidate. Who sets the alias by hand, in MLflow's pages or by its client, decides until
a candidate beats that version.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ridgeline.evaluation.paired import CLEARLY, paired_gain
from ridgeline.xnn.storage import load_model

__all__ = ["CHAMPION", "crown"]

CHAMPION: Final = "champion"
Floats = NDArray[np.float64]


def crown(
    client: Any,
    name: str,
    version: str,
    losses: Callable[[Any], Floats],
    weight: Floats | None = None,
) -> str:
    """Let a new version be the champion if the rule says so.

    Args:
        client: MLflow's.
        name: Of the registered model.
        version: The candidate.
        losses: Of a model, for each of the same rows.
        weight: How much each row counts.

    Returns:
        What was decided, in a sentence, which the version has as a tag too.
    """
    present = _champion(client, name)
    if present is None:
        said = f"Version {version} of {name} is the champion: there was none."
        return _decide(client, name, version, said, crowned=True)
    if str(present.version) == version:
        return f"Version {version} of {name} is the champion already."
    before, after = (
        losses(_model(client, name, each)) for each in (str(present.version), version)
    )
    gain = paired_gain(before, after, weight)
    against = f"version {present.version} on {len(before):,} test rows: its loss is"
    if gain.clear:
        said = (
            f"Version {version} of {name} is the champion, as it beats {against} "
            f"smaller by {gain}, more than {CLEARLY} of them."
        )
    else:
        said = (
            f"Version {present.version} of {name} stays the champion, as version "
            f"{version} does not clearly beat {against} smaller by {gain}, and "
            f"{CLEARLY} of them are asked for."
        )
    return _decide(client, name, version, said, crowned=gain.clear)


def _champion(client: Any, name: str) -> Any:
    from mlflow.exceptions import MlflowException

    try:
        return client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException:
        return None


def _decide(client: Any, name: str, version: str, said: str, *, crowned: bool) -> str:
    if crowned:
        client.set_registered_model_alias(name, CHAMPION, version)
    client.set_model_version_tag(name, version, "champion_rule", said)
    return said


def _model(client: Any, name: str, version: str) -> Any:
    """The network of a version."""
    from mlflow.artifacts import download_artifacts

    source = client.get_model_version(name, version).source
    with TemporaryDirectory(prefix="ridgeline-") as folder:
        # Not `models:/`, which would be looked up at MLflow's global address.
        there = download_artifacts(artifact_uri=source, dst_path=folder)
        (file,) = Path(there).rglob("model.json")
        return load_model(file)
