"""What the console says, as plain text, and what it says at the end of a run."""

import logging
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.io import CatalogProtocol
from kedro.pipeline import Pipeline

from ridgeline.hooks.sentences import printable
from ridgeline.private_names.kedro import local_file
from ridgeline.provenance import from_here, how_to_call

__all__ = ["ConsoleHook", "NextStepsHook"]

_REPORTS = ("model_report", "study_report")

logger = logging.getLogger(__name__)


class ConsoleHook:
    """Lets no text that is logged act on the console.

    Kedro's handler reads square brackets as markup, and a cell such as `[/x]` would end
    the run. logging.yml cannot name a filter of a project: Kedro allows its own alone.
    """

    @hook_impl(tryfirst=True)
    def after_context_created(self) -> None:
        """Give every handler of the console the filter, before any data are read."""
        for handler in logging.getLogger().handlers:
            handler.addFilter(_PLAIN_TEXT)  # a second time changes nothing


class NextStepsHook:
    """Says at the end where the report is and how to look at the lineage."""

    @hook_impl
    def after_pipeline_run(
        self, pipeline: Pipeline, catalog: CatalogProtocol[Any, Any]
    ) -> None:
        """Print a line each; the tracking hook has the third."""
        written = [name for name in _REPORTS if name in pipeline.all_outputs()]
        for name in written:
            path = local_file(catalog.get(name))
            if path is not None:
                logger.info("Report: open %s in a browser", from_here(path))
        if written:
            logger.info("Lineage: %s", how_to_call("kedro viz run"))


class _PlainText(logging.Filter):
    """Takes markup from a record, and what would act on a terminal."""

    def filter(self, record: logging.LogRecord) -> bool:
        if "Use the --async flag" in str(record.msg):
            return False  # Kedro's advice to do what ridgeline.session refuses
        record.markup = False
        record.__dict__.pop("rich_format", None)  # by which Kedro adds markup
        message = record.getMessage()
        if message != printable(message):
            record.msg, record.args = printable(message), None
        return True


_PLAIN_TEXT = _PlainText()
