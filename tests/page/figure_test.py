#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figure of --plot against the report JSON: figure_test.py FIXTURE_PAGE.

Parses the SVG as XML, turns the length of each bar back into nanoseconds or counts, and compares. The PDF
is opened with poppler (Debian's package poppler-utils): its words and colours are those of the SVG.
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
COLUMNS = ["gpu_only", "cpu_gpu", "cpu_only", "waiting", "idle", "unknown"]
FILLS = {"gpu_only": "#0072B2", "cpu_only": "#E69F00", "idle": "#C9CDD3"}  # those without a pattern
SCALE = 4  # pixels of a point
FIXTURE = sys.argv.pop(1)


def poppler(*command):
    """Runs a reader, which has nothing to complain about. Returns what it prints."""
    done = subprocess.run(command, check=True, capture_output=True)
    assert done.stderr == b"", done.stderr
    return done.stdout


class FigureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([FIXTURE, folder], check=True)
            cls.bytes = (pathlib.Path(folder) / "figure.svg").read_bytes()
            cls.report = json.loads((pathlib.Path(folder) / "report.json").read_text())
            pdf = pathlib.Path(folder) / "figure.pdf"
            cls.pdf = pdf.read_bytes()
            cls.pdf_facts = poppler("pdfinfo", pdf).decode()
            cls.pdf_words = poppler("pdftotext", "-bbox", pdf, "-").decode()
            cls.picture = poppler("pdftoppm", "-r", str(72 * SCALE), "-singlefile", pdf)
            subprocess.run([FIXTURE, folder], check=True)
            cls.again = (pathlib.Path(folder) / "figure.svg").read_bytes()
            cls.pdf_again = pdf.read_bytes()
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
        self.assertEqual(self.pdf, self.pdf_again)

    def pixel(self, x, y):
        """The colour of the PDF at a place of the SVG."""
        head, width = re.match(rb"P6\s(\d+) \d+\s255\s", self.picture).group(0, 1)
        at = len(head) + 3 * (round(y * SCALE) * int(width) + round(x * SCALE))
        return "#" + self.picture[at:at + 3].hex().upper()

    def test_the_pdf_is_a_page_as_large_as_the_svg(self):
        self.assertIn("Pages:           1\n", self.pdf_facts)
        size = re.search(r"Page size: +([\d.]+) x ([\d.]+) pts", self.pdf_facts)
        for found, name in zip(size.groups(), ("width", "height")):
            self.assertAlmostEqual(float(found), float(self.root.get(name)), delta=0.5)

    def test_the_pdf_has_the_words_of_the_svg_where_that_has_them(self):
        words = [(html.unescape(word), float(left), float(right), float(bottom)) for left, right, bottom, word
                 in re.findall(r'<word xMin="(.*?)" yMin=".*?" xMax="(.*?)" yMax="(.*?)">(.*?)</word>',
                               self.pdf_words)]
        texts = [node for node in self.root.iter(SVG + "text")]
        self.assertEqual(sorted(word for word, *_ in words),
                         sorted(word for node in texts for word in node.text.split()))
        for node in texts:
            near = [word for word in words if abs(word[3] - float(node.get("y"))) < 5]
            x = float(node.get("x"))
            if node.get("text-anchor") == "start":  # to a thousandth of the size, as the reader measures it
                self.assertLess(min(abs(left - x) for _, left, _, _ in near), 0.02, node.text)
            elif node.get("text-anchor") == "end":
                self.assertLess(min(abs(right - x) for _, _, right, _ in near), 0.02, node.text)

    def test_the_pdf_has_the_colours_of_the_svg(self):
        for column, fill in FILLS.items():
            bars = self.bars(column)
            self.assertTrue(bars, column)
            for bar in bars:
                x, y, width, height = (float(bar.get(key)) for key in ("x", "y", "width", "height"))
                if width > 1:
                    self.assertEqual(self.pixel(x + width / 2, y + height / 2), fill)

    def test_the_pdf_has_patterns_where_the_svg_has_them(self):
        bar = max(self.bars("waiting"), key=lambda rect: float(rect.get("width")))
        x, y, width, height = (float(bar.get(key)) for key in ("x", "y", "width", "height"))
        seen = {self.pixel(x + width * i / 200, y + height * k / 12) for i in range(2, 198) for k in range(2, 11)}
        self.assertIn("#CC79A7", seen)
        self.assertTrue(len(seen) > 3 and "#FFFFFF" not in seen, seen)


if __name__ == "__main__":
    unittest.main()
