"""MLflow's own pages in a real browser: the children of a run, side by side."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from example_models import applications, make_scorer
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline, node
from mlflow import MlflowClient
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as when
from selenium.webdriver.support.ui import WebDriverWait

from ridgeline.datasets import XnnModelDataset

PROGRAMS = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
SECONDS = 60  # for a page on a busy machine
SCORES = {
    "xnn.refined": {"auc": 0.8131, "log_loss": 0.2214},
    "rf": {"auc": 0.7972, "log_loss": 0.2338},
    "logr": {"auc": 0.7343, "log_loss": 0.2571},
}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        None in PROGRAMS.values(), reason="chromium or chromedriver is not installed"
    ),
]


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Chrome]:
    """Return a browser without a window and with a profile of its own."""
    options = ChromeOptions()
    options.binary_location = str(PROGRAMS["chromium"])
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--window-size=1600,1200",
        f"--user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(argument)
    # With both programs named, Selenium has nothing to look for on the network.
    service = ChromeService(executable_path=str(PROGRAMS["chromedriver"]))
    driver = Chrome(options, service)
    try:
        yield driver
    finally:
        driver.quit()


def _run_with_children(project, uri: str) -> None:  # noqa: ANN001
    """Run a pipeline that gives three children metrics, and one of them a model."""
    project.settings = {"tracking_uri": uri, "strict": True}
    entries = {
        f"metrics_{place}": MemoryDataset(metadata={"mlflow": {"run": child}})
        for place, child in enumerate(SCORES)
    }
    told = {"run": "xnn.refined", "model": True, "example": "rows"}
    told["register"] = "some-model"
    entries["model"] = XnnModelDataset(
        filepath=str(project.path / "model.json"), metadata={"mlflow": told}
    )
    nodes = [
        node(
            lambda child=child: SCORES[child],
            None,
            f"metrics_{place}",
            name=f"n{place}",
        )
        for place, child in enumerate(SCORES)
    ]
    nodes.append(node(make_scorer, None, "model", name="train"))
    rows = MemoryDataset(applications())
    project.run(Pipeline(nodes), DataCatalog({**entries, "rows": rows}))


def test_children_side_by_side(project, server, browser, tmp_path) -> None:
    _run_with_children(project, server.uri)
    runs = project.runs()
    ids = {run.info.run_name: run.info.run_id for run in runs}
    (parent,) = set(ids) - set(SCORES)
    wait = WebDriverWait(browser, SECONDS)

    def click(by: str, what: str) -> None:
        wait.until(when.element_to_be_clickable((by, what))).click()

    def texts(by: str, what: str) -> list[str]:
        found = wait.until(when.presence_of_all_elements_located((by, what)))
        return [element.get_attribute("textContent").strip() for element in found]

    browser.get(f"{server.uri}/#/experiments/{runs[0].info.experiment_id}/runs")
    click(By.XPATH, "//*[@role='button'][normalize-space()='Model training']")
    # The parent's row opens to those of its children.
    click(By.CSS_SELECTOR, f"[row-id='{ids[parent]}'] [col-id*='Run Name'] button")
    for name in SCORES:
        click(By.CSS_SELECTOR, f"[row-id='{ids[name]}'] .ag-checkbox-input-wrapper")
    click(By.XPATH, "//button[normalize-space()='Compare']")

    names = texts(By.XPATH, "//tr[th[normalize-space()='Run Name:']]/td")
    assert sorted(names) == sorted(SCORES)
    assert texts(By.CSS_SELECTOR, "a[title='Plot chart']") == ["auc", "log_loss"]
    cells = texts(By.CSS_SELECTOR, "[aria-label='grid'] span")
    shown = [text for text in cells if re.fullmatch(r"0\.\d+", text)]
    assert shown == [
        f"{SCORES[name][metric]:.3f}"
        for metric in ("auc", "log_loss")
        for name in names
    ]
    browser.save_screenshot(str(tmp_path / "compare.png"))

    client = MlflowClient(tracking_uri=server.uri)
    version = client.get_model_version_by_alias("some-model", "latest-run")
    assert version.run_id == ids["xnn.refined"]
    assert version.tags["parent_run_id"] == ids[parent]
    (file,) = client.list_logged_model_artifacts(version.tags["model_id"], "artifacts")
    assert file.path == "artifacts/model.json"
