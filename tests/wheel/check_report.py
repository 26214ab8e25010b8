# SPDX-License-Identifier: Apache-2.0
"""Whether a report is that of train.py: check_report.py REPORT.json PAGE.html"""
import json
import pathlib
import sys

from train import HORIZON, UPDATES

report = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
counts = {row["operation"]: row["count"] for row in report["processes"][0]["operations"]}
expected = {"simulation": UPDATES * HORIZON, "inference": UPDATES * HORIZON, "backpropagation": UPDATES}
found = {name: counts.get(name) for name in expected}
if found != expected:
    sys.exit(f"{sys.argv[1]} has operations {found}, expected {expected}")
if not report["run"]["verdict"].startswith("complete"):
    sys.exit(f"{sys.argv[1]} is of a run that is {report['run']['verdict']}, expected complete")
page = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
if "simulation" not in page or "<script" not in page:
    sys.exit(f"{sys.argv[2]} is not the page of the run")
