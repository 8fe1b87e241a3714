"""The picture of a search: error against simplicity."""

from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from ridgeline import drawing

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["plot_candidates"]

_WIDTH: Final = 5.25  # inches


def plot_candidates(results: "pd.DataFrame", *, classify: bool) -> Figure:
    """Draws the validation loss of candidates against their terms.

    Args:
        results: `results_` of an estimator that chose by itself.
        classify: Whether the loss is a cross-entropy.
    """
    figure = drawing.new_figure(_WIDTH, 2.9)
    axes = figure.add_subplot(label="candidates")
    terms, loss = results["terms"], results["validation_loss"]
    best, chosen = results.iloc[0], results[results["chosen"]].iloc[0]
    near = loss - loss.min() <= results["standard_error"]
    for chosen_by, colour, label in (
        (near, drawing.UP, "within one standard error of the best"),
        (~near, "#999999", "others"),
    ):
        axes.errorbar(
            terms[chosen_by],
            loss[chosen_by],
            results["standard_error"][chosen_by],
            fmt="o",
            color=colour,
            markersize=4,
            elinewidth=0.8,
            label=label,
        )
    axes.plot(
        chosen["terms"],
        chosen["validation_loss"],
        "o",
        markerfacecolor="none",
        markeredgecolor=drawing.DOWN,
        markersize=10,
        markeredgewidth=1.6,
        label=f"chosen: {chosen['components']:g} components",
    )
    axes.axhline(best["validation_loss"], **drawing.RULE)
    # Candidates that failed to learn would flatten the others.
    worst = float(loss.quantile(0.9))
    reach = worst - float(best["validation_loss"]) or 1.0
    axes.set_ylim(best["validation_loss"] - 0.15 * reach, worst + 0.15 * reach)
    hidden = int((loss > worst + 0.15 * reach).sum())
    lie = "1 candidate lies" if hidden == 1 else f"{hidden} candidates lie"
    note = f" ({lie} above)" if hidden else ""
    what = "cross-entropy" if classify else "squared error"
    label = f"terms: features of each component in use, added up{note}"
    axes.set_xlabel(label, fontsize=drawing.TEXT)
    axes.set_ylabel(f"validation loss ({what})", fontsize=drawing.TEXT)
    axes.legend(fontsize=drawing.SMALL, frameon=False)
    drawing.clean(axes)
    return figure
