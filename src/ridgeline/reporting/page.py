"""A report as one HTML file that needs nothing beside itself."""

import base64
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from ridgeline.reporting.words import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["render_page"]

_DOTS_PER_INCH: Final = 200  # sharp in print


def render_page(
    package: str,
    name: str,
    *,
    title: str,
    figures: "Mapping[str, Figure | bytes]",
    reproduce: Mapping[str, str],
    **values: Any,
) -> str:
    """Renders a template of a package that builds on the templates here.

    Args:
        package: Where the template is, in a folder `templates`.
        name: Of the template. It may extend `page.html` and use the macro `picture`.
        figures: By name, drawn or as PNG; the page holds them itself.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(package), PackageLoader("ridgeline.reporting")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    pictures = {name: _address(figure) for name, figure in figures.items()}
    return environment.get_template(name).render(
        values, title=title, figures=pictures, reproduce=reproduce
    )


def _address(figure: "Figure | bytes") -> str:
    """An address that holds the picture itself."""
    picture = figure if isinstance(figure, bytes) else _png(figure)
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _png(figure: "Figure") -> bytes:
    buffer = BytesIO()
    # Without the name and version of the program the bytes are the same each time.
    figure.savefig(
        buffer, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None}
    )
    return buffer.getvalue()
