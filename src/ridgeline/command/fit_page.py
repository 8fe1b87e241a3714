"""The report of a fit: one HTML file that needs no other."""

from html import escape
from io import StringIO
from typing import Any

__all__ = ["fit_page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ddd; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
"""


def fit_page(model: Any, *, target: str, file: str) -> str:
    """The whole page.

    Args:
        model: A fitted estimator that has searched.
        target: The name of what it predicts.
        file: The name of the table.
    """
    explanation = model.explain()
    scorer = model.scorer_
    classes = scorer.classes
    what = (
        f"log-odds of {classes[1]!r} against {classes[0]!r}" if classes else "its value"
    )
    loss = "cross-entropy" if classes else "squared error"
    rows = scorer.profile.rows
    warnings = "".join(f"<li>{escape(text)}</li>" for text in explanation.warnings)
    title = f"Model of {target}"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p>Fitted to {rows:,} rows of {escape(file)}; the decision is {escape(what)}.
{len(model.results_)} candidates were tried, and validation rows chose: their
{loss} is {model.validation_loss_:.4g}.</p>
<h2>What the decision is made of</h2>
{_table(explanation.importance)}
{_svg(explanation.plot())}
<h2>What may not be read from it</h2>
{f"<ul>{warnings}</ul>" if warnings else "<p>Nothing of note.</p>"}
<h2>Candidates</h2>
{_svg(model.plot_candidates())}
{_table(model.results_)}
</body></html>
"""


def _table(frame: Any) -> str:
    head = "".join(f"<th>{escape(str(name))}</th>" for name in frame.columns)
    body = "".join(
        "<tr>" + "".join(map(_cell, row)) + "</tr>"
        for row in frame.itertuples(index=False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td class=n>{value:.4g}</td>"
    return f"<td>{escape(str(value))}</td>"


def _svg(figure: Any) -> str:
    """A figure as a part of the page."""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return f"<figure>{drawn[drawn.index('<svg') :]}</figure>"
