#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The oracle itself: that it notices a difference, and does not pass what is not there."""
import io
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import brute_force
import import_oracle

CASES = pathlib.Path(__file__).resolve().parents[1] / "data/import"
GPUBOUND = sys.argv.pop(1)


def quietly(check, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return check(*arguments)


class OracleTest(unittest.TestCase):
    def changed(self, change):
        """Whether the oracle accepts the case of nested operations after |change| of its document."""
        document = json.loads((CASES / "nested_operations.json").read_text())
        change(document)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "changed.json"
            file.write_text(json.dumps(document))
            return quietly(import_oracle.check, GPUBOUND, file)

    def test_accepts_what_is_right(self):
        self.assertTrue(self.changed(lambda document: None))

    def test_notices_a_nanosecond(self):
        def change(document):
            document["expected"]["cells"]["1"][0][3] += 1
        self.assertFalse(self.changed(change))

    def test_notices_a_cell_that_is_missing(self):
        self.assertFalse(self.changed(lambda d: d["expected"]["cells"]["1"].pop()))

    def test_notices_a_ledger_that_should_not_be_empty(self):
        def change(document):
            document["expected"]["ledger"] = {"kernels_without_launch": 1}
        self.assertFalse(self.changed(change))

    def test_notices_another_wall_time(self):
        self.assertFalse(self.changed(lambda d: d["expected"].update(wall_ns=1)))

    def test_notices_a_device_that_should_be_busy(self):
        self.assertFalse(self.changed(lambda d: d["expected"].update(devices={"9": 1})))

    def test_notices_a_report_of_another_trace(self):
        processes = import_oracle.read(CASES / "nested_operations.json").processes
        comparison = import_oracle.Comparison()
        reported = import_oracle.report_of(GPUBOUND, CASES / "hip_names.json")["processes"][0]
        import_oracle.compare_process(brute_force.Evaluation(processes[0]), reported, comparison)
        self.assertGreater(len(comparison.differences), 5)

    def test_a_file_that_is_not_there_fails_by_name(self):
        result = subprocess.run([sys.executable, import_oracle.__file__, GPUBOUND, "/nonexistent.json"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent.json", result.stderr)


if __name__ == "__main__":
    unittest.main()
