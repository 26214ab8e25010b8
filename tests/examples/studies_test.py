# SPDX-License-Identifier: Apache-2.0
"""Studies: committed pages have the figures that lie beside them, and the small version of each study goes from its
programs to its page. Environment of what records: GPUBOUND_COMMAND, and the package on PYTHONPATH."""
import contextlib
import copy
import importlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "studies"
sys.path.insert(0, str(ROOT / "examples" / "studies"))
NAMES = ("on_off_policy", "time_to_result")


def figures_of(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


def numbers_of(page):
    return re.findall(r"\d[\d.,]*", page)


class PagesTest(unittest.TestCase):
    """Needs nothing but Python."""

    def each(self):
        for name in NAMES:
            yield importlib.import_module(name), figures_of(PAGES, name)

    def test_each_page_is_what_its_script_makes_of_its_figures(self):
        for module, figures in self.each():
            self.assertEqual((PAGES / f"{module.NAME}.md").read_text(), module.page(figures))

    def test_a_page_changes_with_its_figures(self):
        for module, figures in self.each():
            other = copy.deepcopy(figures)
            for runs in other["runs"].values():
                for run in runs:
                    for key in run:
                        if key in ("total_ns", "reached_ns", "corrected_ns"):
                            run[key] = run[key] and (run[key] * 3 if isinstance(run[key], int) else
                                                     [3 * value for value in run[key]])
            self.assertNotEqual(numbers_of(module.page(figures)), numbers_of(module.page(other)))

    def test_figures_are_of_whole_studies(self):
        for module, figures in self.each():
            self.assertFalse(figures["small"])
            for runs in figures["runs"].values():
                self.assertEqual(len(runs), module.SEEDS)
                for run in runs:
                    self.assertRegex(run["verdict"], "^complete")

    def test_two_commands_repeat_a_study_and_stand_on_its_page(self):
        for module, _ in self.each():
            page = (PAGES / f"{module.NAME}.md").read_text()
            self.assertEqual(re.findall(r"(?m)^    (.*)$", page), [
                "pip install . -r examples/studies/requirements.txt", f"python examples/studies/{module.NAME}.py"])

    def test_pages_of_the_simulated_device_say_so_wherever_figures_stand(self):
        page = (PAGES / "time_to_result.md").read_text()
        self.assertIn("SIMULATED DEVICE", "\n".join(page.splitlines()[:4]))
        self.assertIn("SIMULATED DEVICE", (PAGES / "time_to_result.svg").read_text())
        headings = [part for part in page.split("\n## ")[1:] if "\n|" in part]
        self.assertGreater(len(headings), 3)
        for part in headings:
            self.assertIn("SIMULATED DEVICE", part.splitlines()[0])


class StudyTest(unittest.TestCase):
    draws = False  # by matplotlib

    def page_of(self, name):
        """The page of the small version of a study, and its figures."""
        import study

        module = importlib.import_module(name)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        place = pathlib.Path(folder.name)
        said = io.StringIO()
        if not self.draws:
            self.addCleanup(setattr, study, "draw", study.draw)
            study.draw = lambda painter, figures, where: where.write_text("not drawn")
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            status = study.run_study(module, ["--small", "--runs", str(place / "runs"), "--docs", str(place)])
        self.assertEqual(status, 0, said.getvalue())
        figures = figures_of(place, name)
        self.assertTrue(figures["small"])
        # Once more: nothing is recorded anew.
        before = sorted(path.stat().st_mtime_ns for path in (place / "runs").glob("*.gpubound/*"))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(study.run_study(module, ["--page", "--docs", str(place)]), 0)
        self.assertEqual(sorted(path.stat().st_mtime_ns for path in (place / "runs").glob("*.gpubound/*")), before)
        return (place / f"{name}.md").read_text(), figures


class SmallTest(StudyTest):
    def test_time_to_a_result_goes_from_runs_to_the_page(self):
        page, figures = self.page_of("time_to_result")
        for runs in figures["runs"].values():
            self.assertEqual(len(runs), 3)
            for run in runs:
                self.assertEqual(run["device_kind"], "simulated")
                self.assertGreater(run["reached_ns"], 0)
                self.assertEqual(sum(part["wall_ns"] for part in run["parts"]), run["parts_ns"])
        self.assertEqual({row["B"]["time_to_target"]["low"] is not None for row in figures["growing"]["2"]}, {True})
        self.assertIn("3 of 3", page)


class FrameworksTest(StudyTest):
    draws = True

    def test_on_and_off_policy_goes_from_runs_to_the_page(self):
        page, figures = self.page_of("on_off_policy")
        for algorithm, runs in figures["runs"].items():
            for run in runs:
                with self.subTest(algorithm):
                    self.assertEqual(sum(run["parts"].values()), run["total_ns"])
                    for part in ("simulation", "inference", "update"):
                        self.assertGreater(run["parts"][part], 0, run["operations"])
                    self.assertLess(run["parts"]["other"], 0.5 * run["total_ns"], run["operations"])
        self.assertIn("PPO (on-policy)", page)


if __name__ == "__main__":
    unittest.main()
