# SPDX-License-Identifier: Apache-2.0
"""gpubound in a notebook: `%%gpubound`, what a run shows of itself, plots, and tables as pandas and polars take
them, in a kernel of Jupyter. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PACKAGE, GPUBOUND_TEST_DATA."""
import base64
import html.parser
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import nbclient
import nbformat

PROFILED = """%%gpubound
import time
for _ in range(20):
    with gpubound.operation("simulation"):
        time.sleep(0.02)
    gpubound.step(env_steps=8)
answer = 42"""


class Page(html.parser.HTMLParser):
    """What a page says, and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.words, self.open, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


class NotebookTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def execute(self, *sources, allow_errors=False):
        """Outputs of each cell, as {type or stream: content}."""
        notebook = nbformat.v4.new_notebook()
        notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
        environment = {**os.environ, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]}
        client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=allow_errors,
                                         resources={"metadata": {"path": str(self.folder)}})
        client.execute(env=environment)
        cells = []
        for cell in notebook.cells:
            outputs = {}
            for output in cell.outputs:
                if output.output_type == "stream":
                    outputs[output.name] = outputs.get(output.name, "") + output.text
                elif output.output_type == "error":
                    outputs["error"] = f"{output.ename}: {output.evalue}"
                else:
                    outputs.update(output.data)
            cells.append(outputs)
        return cells

    def bert(self):
        run = self.folder / "bert.gpubound"
        subprocess.run([os.environ["GPUBOUND_TEST_COMMAND"], "import", "-q",
                        os.environ["GPUBOUND_TEST_DATA"] + "/kineto/h100_bert_small.json.gz", "-o", run], check=True)
        return run

    def test_a_cell_is_profiled_in_place_and_alone(self):
        _, _, shown, names, second, of_second = self.execute(
            "%load_ext gpubound\nimport gpubound, time",
            "with gpubound.operation('earlier'):\n    time.sleep(0.5)",
            PROFILED,
            "report = gpubound_run.report()\n"
            "print(answer, sorted(row['operation'] for row in gpubound_run.operations),"
            " len(gpubound_run.iterations.rows()), report['run']['wall_ns'] / 1e9, report['run']['verdict'])",
            "%%gpubound later\nwith gpubound.operation('inference'):\n    time.sleep(0.3)",
            "print({row['operation'] for row in later.operations})")
        self.assertIn("simulation takes", " ".join(Page(shown["text/html"]).words))
        answer, rest = names["stdout"].split(" ", 1)
        self.assertEqual(answer, "42")
        said = re.fullmatch(r"(\[.*?\]) (\d+) ([\d.]+) (.*)\n", rest)
        self.assertEqual(said[1], "['(no operation)', 'simulation']")
        self.assertEqual(said[2], "19")  # the first begins with the first step()
        self.assertGreater(float(said[3]), 0.4)
        self.assertLess(float(said[3]), 5)
        self.assertEqual(said[4], "complete: nothing was lost.")
        self.assertIn("inference takes", second["text/html"])
        self.assertIn("inference", of_second["stdout"])
        self.assertNotIn("simulation", of_second["stdout"])

    def test_a_cell_that_fails_shows_its_error_and_no_profile(self):
        _, failed = self.execute("%load_ext gpubound", "%%gpubound\n1 / 0", allow_errors=True)
        self.assertNotIn("text/html", failed)
        self.assertIn("ZeroDivisionError", " ".join(map(str, failed.values())))

    def test_a_run_shows_verdict_figures_iteration_and_savings_without_network(self):
        [shown] = self.execute(f"import gpubound\ngpubound.open({str(self.bert())!r})")
        page = Page(shown["text/html"])
        words = " ".join(page.words)
        for said in ("Launch-bound: the GPU is idle 89 % of the loop's time", "Try: Launch less often",
                     "Gain: Twice as fast, the CPU code of BertLMHeadModel would save 43 %", "7.0 %",
                     "GPU busy", "100 %", "nvidia-smi", "4.43 ms", "Mean iteration", "BertLMHeadModel",
                     "If this were twice as fast", "43 % (42 to 44)", "complete: nothing was lost."):
            self.assertIn(said, words)
        self.assertEqual((page.links, page.open), ([], []))
        self.assertNotRegex(shown["text/html"], r"https?:|<script|url\(")
        # Neither text nor ground has a colour of its own, which a dark or a light notebook would swallow.
        style = re.search("<style>(.*?)</style>", shown["text/html"])[1]
        self.assertEqual(set(re.findall(r"[;{]color:(\w+)", style)), {"inherit"})
        self.assertEqual(set(re.findall(r"background:(\w+)", style)), {"none"})

    def test_plots_are_drawn_and_those_of_nothing_say_so(self):
        cells = self.execute(
            f"%matplotlib inline\nimport gpubound\nrun = gpubound.open({str(self.bert())!r})",
            *(f"run.plot({kind!r})" for kind in ("breakdown", "iterations", "timeline")),
            "run.plot('ranks')", "run.plot('nothing')",
            "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\nassert run.plot(axes=axes) is axes\n"
            "print([text.get_text() for text in axes.get_yticklabels()])", allow_errors=True)
        for cell in cells[1:4]:
            self.assertGreater(len(base64.b64decode(cell["image/png"])), 2000)
        self.assertIn("ValueError: the run has no ranks to plot", cells[4]["error"])
        self.assertIn("ValueError: plot() knows no 'nothing'", cells[5]["error"])
        self.assertIn("['(no operation)', 'BertLMHeadModel']", cells[6]["stdout"])

    def test_pandas_and_polars_take_every_table(self):
        [_, sizes, sums] = self.execute(
            f"import gpubound\nrun = gpubound.open({str(self.bert())!r})",
            "for name in run.tables():\n    table = run.table(name)\n    size = len(table.rows()), len(table.columns)\n"
            "    assert table.pandas().shape == table.polars().shape == size, name\nprint('all')",
            "gpu = run.table('gpu')\nprint(gpu.pandas()['duration_ns'].sum(), gpu.polars()['duration_ns'].sum(),"
            " sum(row['duration_ns'] for row in gpu), gpu.polars()['name'].dtype, len(gpu._repr_html_()) > 1000)")
        self.assertEqual(sizes["stdout"], "all\n")
        self.assertEqual(sums["stdout"], "309437 309437 309437 Categorical True\n")


if __name__ == "__main__":
    unittest.main()
