"""The page of drift: one HTML file that needs no other, whoever opens it."""

from html import escape
from io import StringIO

from ridgeline.decisions.drift import DRIFTED, MOVING, Drift, Moved, verdict

__all__ = ["drift_page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.stable { color: #004488; } .moving { color: #7a5a00; font-weight: 600; }
.drifted { color: #a03048; font-weight: 700; }
.bar { background: #bfd0e4; height: .8em; display: inline-block; }
.then { background: #bbb; }
details { margin: .3rem 0; } summary { cursor: pointer; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
"""


def drift_page(drift: Drift) -> str:
    """The whole page."""
    worst = max((one.psi for one in drift.moved), default=0.0)
    lines = [
        "<tr>"
        f"<td>{escape(one.kind)}</td><td>{escape(one.name)}</td>"
        f"<td class=n>{one.psi:.3f}</td><td class=n>{chance:.3f}</td>"
        f"<td class={verdict(one.psi)}>{verdict(one.psi)}</td></tr>"
        for one, chance in zip(drift.moved, drift.table["by_chance"], strict=True)
    ]
    score = drift.moved[0]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Drift against the training rows</title><style>{_STYLE}</style></head><body>
<h1>Drift against the training rows</h1>
<p>{drift.rows:,} rows, of which {drift.refused:,} could not be scored, against
{drift.training_rows:,} training rows. The score is
<span class={verdict(score.psi)}>{verdict(score.psi)}</span> (PSI {score.psi:.3f});
the largest index is {worst:.3f}.</p>
<p>Population stability index (PSI): below {MOVING:.2f} stable, from {MOVING:.2f}
moving, from {DRIFTED:.2f} drifted. 'By chance' is what as many rows of
the same kind give on average.</p>
<figure>{_figure(drift)}</figure>
<table><thead><tr><th>kind</th><th>name</th><th class=n>PSI</th>
<th class=n>by chance</th><th>verdict</th></tr></thead>
<tbody>{"".join(lines)}</tbody></table>
<h2>Shares of rows, then and now</h2>
{"".join(map(_shares, drift.moved))}
</body></html>
"""


def _shares(one: Moved) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td class=n>{then:.1%}</td>"
        f"<td class=n>{now:.1%}</td><td>{_bar(then, 'bar then')}<br>"
        f"{_bar(now, 'bar')}</td></tr>"
        for name, then, now in zip(one.bins, one.then, one.now, strict=True)
    )
    mark = verdict(one.psi)
    return (
        f"<details{' open' if mark != 'stable' else ''}><summary>{escape(one.kind)} "
        f"<b>{escape(one.name)}</b>: PSI {one.psi:.3f}, <span class={mark}>{mark}"
        "</span></summary><table><thead><tr><th>cells</th><th class=n>training</th>"
        f"<th class=n>now</th><th></th></tr></thead><tbody>{rows}</tbody></table>"
        "</details>"
    )


def _bar(share: float, kind: str) -> str:
    return f'<span class="{kind}" style="width:{14 * share:.2f}em"></span>'


def _figure(drift: Drift) -> str:
    """The figure as a part of the page; without matplotlib the table stands alone."""
    try:
        figure = drift.plot()
    except ImportError:
        return ""
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :]
