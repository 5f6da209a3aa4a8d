# SPDX-License-Identifier: Apache-2.0
"""The dashboard in Chromium: every page, on a screen and on a phone, in light and dark, by keyboard, live.

Screenshots and figures go below build/.../test-output/dashboard. Needs node, chromium, and playwright-core and
axe-core below FIRN_NODE_MODULES; skipped where they are not there.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.program import BINARY

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(BINARY).resolve().parent
CACHE = Path(os.environ.get("FIRN_CACHE", Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "firn"))
MODULES = Path(os.environ.get("FIRN_NODE_MODULES", CACHE / "node/node_modules"))
OUTPUT = BUILD / "test-output/dashboard"
CHROMIUM = os.environ.get("FIRN_CHROMIUM") or shutil.which("chromium")

SCENARIOS = ["first_paint", "fleet_page", "fleet_on_a_phone", "many_tables", "table_page", "analysis_of_a_table", "heat_map_by_keyboard",
             "queue_page", "jobs_page", "decisions_page", "requests_page", "policies_page", "pause_and_resume",
             "keyboard", "live", "hostile_names", "trouble_in_words", "empty_fleet", "token", "nothing_of_others"]

missing = [name for name, there in [("node", shutil.which("node")), ("chromium", CHROMIUM),
                                    ("playwright-core", (MODULES / "playwright-core").is_dir()),
                                    ("axe-core", (MODULES / "axe-core").is_dir()),
                                    ("serve_fleet", (BUILD / "serve_fleet").is_file())] if not there]
pytestmark = pytest.mark.skipif(bool(missing), reason="not installed: " + ", ".join(missing))


@pytest.fixture(scope="module")
def results():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    command = ["node", str(ROOT / "tests/web/dashboard.mjs"), str(BUILD / "serve_fleet"), str(OUTPUT)]
    environment = dict(os.environ, FIRN_NODE_MODULES=str(MODULES), FIRN_CHROMIUM=str(CHROMIUM))
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0 and lines, done.stdout[-2000:] + done.stderr[-2000:]
    return {line["scenario"]: line for line in lines}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(results, scenario):
    result = results[scenario]
    assert result["ok"], result["error"]


def test_figures(results):
    assert set(results) == set(SCENARIOS)
    figures = {k: v for r in results.values() for k, v in r["figures"].items()}
    (OUTPUT / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print("dashboard:", json.dumps(figures))
    assert figures["first_paint_ms"] < 1000
    assert figures["first_rows_of_10000_tables_ms"] < 1500
    assert figures["search_in_10000_tables_ms"] < 800
    assert figures["page_of_10000_tables_ms"] < 800
    for name in ["fleet", "fleet-dark", "fleet-phone", "fleet-phone-dark", "table", "table-dark", "table-phone", "queue", "jobs",
                 "decisions", "requests", "policies", "empty", "trouble", "sign-in"]:
        assert (OUTPUT / f"{name}.png").stat().st_size > 5_000, name
