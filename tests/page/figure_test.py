#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figure of --plot against the report JSON: figure_test.py FIXTURE_PAGE.

Parses the SVG as XML, turns the length of each bar back into nanoseconds or counts, and compares.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = ["gpu_only", "cpu_gpu", "cpu_only", "waiting", "idle", "unknown"]
FIXTURE = sys.argv.pop(1)


class FigureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([FIXTURE, folder], check=True)
            cls.bytes = (pathlib.Path(folder) / "figure.svg").read_bytes()
            cls.report = json.loads((pathlib.Path(folder) / "report.json").read_text())
            subprocess.run([FIXTURE, folder], check=True)
            cls.again = (pathlib.Path(folder) / "figure.svg").read_bytes()
        cls.root = xml.etree.ElementTree.fromstring(cls.bytes)
        cls.rows = cls.report["processes"][0]["operations"]

    def bars(self, kind):
        return [rect for rect in self.root.iter(SVG + "rect") if rect.get("class") == kind]

    def test_every_column_of_every_operation_is_a_bar_of_its_length(self):
        scale = float(self.root.get("data-ns-per-unit"))
        for column in COLUMNS:
            expected = [row[column + "_ns"] for row in self.rows if row[column + "_ns"] > 0]
            bars = self.bars(column)
            self.assertEqual(len(bars), len(expected), column)
            for bar, ns in zip(bars, expected):
                self.assertAlmostEqual(float(bar.get("width")), ns / scale, delta=0.0051)

    def test_the_longest_row_fills_the_axis(self):
        scale = float(self.root.get("data-ns-per-unit"))
        self.assertAlmostEqual(max(row["wall_ns"] for row in self.rows) / scale, 300, places=3)

    def test_transitions_are_bars_of_their_counts(self):
        scale = float(self.root.get("data-count-per-unit"))
        expected = [n for row in self.rows for _, n in sorted(row["transitions"].items())]
        bars = [float(bar.get("width")) for bar in self.bars("transition")]
        self.assertEqual(len(bars), len(expected))
        for width, count in zip(bars, expected):
            self.assertAlmostEqual(width, count / scale, delta=0.0051)

    def test_names_are_text(self):
        titles = [node.text for node in self.root.iter(SVG + "title")]
        self.assertTrue(any("</script><img src=x onerror=" in title for title in titles))
        self.assertEqual([node for node in self.root.iter() if node.tag.endswith(("img", "script"))], [])

    def test_a_simulated_device_is_named(self):
        self.assertIn("PPO - SIMULATED DEVICE", [node.text for node in self.root.iter(SVG + "text")])

    def test_the_same_run_makes_the_same_bytes(self):
        self.assertEqual(self.bytes, self.again)


if __name__ == "__main__":
    unittest.main()
