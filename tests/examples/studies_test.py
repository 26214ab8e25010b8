# SPDX-License-Identifier: Apache-2.0
"""Studies: committed pages have the figures that lie beside them, and the small version of each study goes from its
programs to its page. Environment of what records: GPUBOUND_COMMAND, and the package on PYTHONPATH."""
import contextlib
import copy
import errno
import importlib
import importlib.util
import io
import json
import math
import multiprocessing
import pathlib
import re
import socket
import sqlite3
import statistics
import sys
import tempfile
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "studies"
sys.path.insert(0, str(ROOT / "examples" / "studies"))
sys.path.insert(0, str(ROOT / "examples" / "studies" / "programs"))
links = importlib.import_module("links")

NAMES = ("on_off_policy", "framework_choice", "time_to_result", "temporal_queries", "slow_networks", "vectorisation",
         "xla_fusion")
ON_A_CPU = ("framework_choice", "vectorisation", "xla_fusion")
SIMULATED = ("time_to_result", "temporal_queries")
READS_TABLES = all(importlib.util.find_spec(name) for name in ("polars", "duckdb", "pyarrow"))


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
                        if key in ("total_ns", "reached_ns", "corrected_ns", "iteration_ns"):
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

    def test_a_page_of_figures_of_a_cpu_says_so_wherever_figures_stand(self):
        for name in ON_A_CPU:
            page = (PAGES / f"{name}.md").read_text()
            self.assertIn("**CPU**", "\n".join(page.splitlines()[:6]))
            self.assertIn("CPU", (PAGES / f"{name}.svg").read_text())
            headings = [part for part in page.split("\n## ")[1:] if "\n|" in part]
            self.assertGreater(len(headings), 3)
            for part in headings:
                self.assertIn("(CPU)", part.splitlines()[0])

    def test_the_page_on_frameworks_says_by_its_figures_which_sentence_is_true(self):
        import framework_choice

        figures = figures_of(PAGES, "framework_choice")
        for before, after in framework_choice.CHANGES:  # two that are the same: nothing is sure of them
            one, two = f"{before} narrow", f"{after} narrow"
            same = {**figures, "networks": {"narrow": "64,64"},
                    "runs": {one: figures["runs"][one], two: figures["runs"][one]}}
            self.assertIn("In 0 of them it is sure", framework_choice.reason(same))
            longer = copy.deepcopy(figures["runs"][one])
            for run in longer:
                for layers in run["cells"].values():
                    layers["python"] = layers.get("python", 0) + 100 * run["total_ns"]
                run["calls"]["update"] = run["calls"].get("update", 0) + 1
            text = framework_choice.reason({**same, "runs": {one: figures["runs"][one], two: longer}})
            self.assertIn("In 1 of these 1 it is the one with fewer calls", text)
            self.assertIn("lies in the layer Python (1).", text)
        left_out = {**figures, "left_out": {"tf.function": "tensorflow"},
                    "runs": {name: runs for name, runs in figures["runs"].items() if "tf.function" not in name}}
        page = framework_choice.page(left_out)
        self.assertIn("**Left out**", page)
        self.assertNotIn("| one file, tf.function", page)

    def test_two_commands_repeat_a_study_and_stand_on_its_page(self):
        for module, _ in self.each():
            page = (PAGES / f"{module.NAME}.md").read_text()
            self.assertEqual(re.findall(r"(?m)^    (.*)$", page), [
                "pip install . -r examples/studies/requirements.txt", f"python examples/studies/{module.NAME}.py"])

    def test_pages_of_the_simulated_device_say_so_wherever_figures_stand(self):
        for name in SIMULATED:
            page = (PAGES / f"{name}.md").read_text()
            self.assertIn("SIMULATED DEVICE", "\n".join(page.splitlines()[:4]))
            self.assertIn("SIMULATED DEVICE", (PAGES / f"{name}.svg").read_text())
            headings = [part for part in page.split("\n## ")[1:] if "\n|" in part]
            self.assertGreater(len(headings), 3)
            for part in headings:
                self.assertIn("SIMULATED DEVICE", part.splitlines()[0])


MS = 1_000_000


class MadeRun:
    """Tables that are made up, as gpubound.open() gives those of a run: of a learner, process 1, and an actor, 2."""

    TABLES = {
        "counter": (("process", "name"), [(2, "role:rollout"), (1, "role:train"), (1, "env_steps")]),
        "scope": (("process", "kind", "name", "begin_ns", "end_ns"), [
            (process, kind, name, begin * MS, end * MS) for process, kind, name, begin, end in (
                (1, "operation", "weight_sync", 7000, 7050), (1, "operation", "update", 7150, 7350),
                (1, "layer", "2", 7350, 7400), (1, "operation", "weight_sync", 7400, 7450),
                (1, "operation", "update", 7500, 7550), (1, "operation", "within", 7160, 7170),
                (1, "operation", "update", 7900, 7950), (1, "operation", "weight_sync", 8000, 8010),
                (2, "operation", "simulation", 7003, 8153), (2, "operation", "simulation", 8153, 8153))]),
        "gpu": (("process", "begin_ns", "end_ns"), [
            (1, 7340 * MS, 7380 * MS), (1, 7600 * MS, 7610 * MS), (2, 7610 * MS, 7900 * MS)]),
        "step": (("process", "time_ns", "number"), [
            (process, time * MS, number) for process, time, number in (
                (1, 7050, 4), (1, 7300, 5), (1, 7400, 6), (2, 7410, 0), (1, 7860, 7), (1, 8100, 8))]),
        "process_tree": (("process", "time_ns", "run_delay_ns"), [
            (process, time * MS, delay * MS) for process, time, delay in (
                (1, 7000, 10), (1, 7200, 40), (2, 7250, 999), (1, 7400, 60), (1, 7700, 300), (1, 7900, 310))])}

    def __init__(self):
        self.database = sqlite3.connect(":memory:")
        self.database.create_function("sqrt", 1, math.sqrt)
        for name, (columns, rows) in self.TABLES.items():
            self.database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            self.database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)

    def sql(self, query):
        rows = self.database.execute(query).fetchall()
        return types.SimpleNamespace(values=lambda: dict(enumerate(map(list, zip(*rows)))))

    def table(self, name, columns):
        import polars
        import pyarrow

        all_columns, rows = self.TABLES[name]
        read = {column: [row[all_columns.index(column)] for row in rows] for column in columns}
        return types.SimpleNamespace(polars=lambda: polars.DataFrame(read), arrow=lambda: pyarrow.table(read))


@unittest.skipUnless(READS_TABLES, "polars, duckdb and pyarrow are not all installed")
class WaysTest(unittest.TestCase):
    """Questions, each in its three ways, of made tables, whose answers are worked out here in another way."""

    def answers(self, question):
        import temporal_ways

        for way, make in temporal_ways.WAYS.items():
            asked = make(MadeRun())
            asked.read(question)
            yield way, asked.ask(question)

    def test_windows_hold_what_of_each_operation_lies_in_their_second(self):
        scopes = [(name, begin - 7000 * MS, end - 7000 * MS)
                  for _, kind, name, begin, end in MadeRun.TABLES["scope"][1] if kind == "operation"]
        expected = [(tenth, name, sum(max(0, min(end, (tenth + 1) * 100 * MS) - max(begin, (tenth - 9) * 100 * MS))
                                      for other, begin, end in scopes if other == name))
                    for tenth in range(21) for name in sorted({scope[0] for scope in scopes})]
        for way, found in self.answers("windows"):
            self.assertEqual(found, expected, way)

    def test_a_starvation_ends_with_an_operation_of_the_learner_or_work_of_its_device(self):
        for way, found in self.answers("starvation"):
            self.assertEqual(found, [(1, 7050 * MS, 100 * MS), (2, 7610 * MS, 290 * MS)], way)

    def test_delays_lie_between_samples_and_iterations_after_the_last_one_are_left_out(self):
        lengths, delays = [250, 100, 460], [50 - 17.5, 60 - 50, 308 - 60]
        correlation = statistics.correlation(lengths, delays)
        for way, found in self.answers("correlation"):
            self.assertEqual([row[:2] for row in found], [(number, length * MS) for number, length in
                                                          zip((5, 6, 7), lengths)], way)
            for row, delay in zip(found, delays):
                self.assertAlmostEqual(row[2], delay * MS, delta=1, msg=way)
                self.assertAlmostEqual(row[3], correlation, places=9, msg=way)


def echo(rank, exchange, messages, ready, results):
    """Rank 0 sends back what comes, and rank 1 says how long that took, and who else can be reached."""
    links.enter(rank, exchange.end_of(rank))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind((links.address(rank), 5000))
        if rank == 0:
            ready.release()
        else:
            ready.acquire()
        for _ in range(messages):
            if rank == 0:
                own.sendto(*own.recvfrom(100))
            else:
                begin = time.monotonic_ns()
                own.sendto(b"?", (links.address(0), 5000))
                own.settimeout(0.5 if messages > 1 else None)
                try:
                    own.recv(100)
                    results.put(time.monotonic_ns() - begin)
                except socket.timeout:
                    results.put(None)
    if rank == 1:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            try:
                results.put(other.connect(("192.0.2.1", 5000)))
            except OSError as error:
                results.put(error.errno)


@unittest.skipIf(links.missing(), links.missing())
class LinksTest(unittest.TestCase):
    """A network of namespaces."""

    def of(self, exchange, messages):
        """What rank 1 says of each message, and of an address that is no link's."""
        context = multiprocessing.get_context("fork")
        ready, results = context.Semaphore(0), context.SimpleQueue()
        processes = [context.Process(target=echo, args=(rank, exchange, messages, ready, results)) for rank in range(2)]
        for process in processes:
            process.start()
        exchange.carry([processes[1].sentinel])
        processes[0].kill()
        for process in processes:
            process.join()
        return [results.get() for _ in range(messages + 1)]

    def test_a_message_takes_the_delay_of_both_links_and_reaches_nobody_else(self):
        exchange = links.Exchange([2 * MS, 5 * MS])
        took_ns, refused = self.of(exchange, 1)
        self.assertGreaterEqual(took_ns, 2 * 7 * MS)
        self.assertEqual(refused, errno.ENETUNREACH)
        self.assertEqual({name: exchange.counted()[name] for name in ("packets", "lost", "bytes")},
                         {"packets": 2, "lost": 0, "bytes": 2 * 29})  # headers of IP and UDP, and one byte

    def test_a_link_carries_so_many_bytes_a_second_in_each_direction(self):
        took_ns, _ = self.of(links.Exchange([0, 0], bytes_per_s=1000), 1)
        self.assertGreaterEqual(took_ns, 4 * 29 * MS)

    def test_what_is_lost_does_not_come(self):
        exchange = links.Exchange([0, 0], loss=1)
        self.assertEqual(self.of(exchange, 2)[:2], [None, None])
        self.assertEqual(exchange.counted()["lost"], 2)

    def test_a_link_that_is_cut_carries_nothing(self):
        exchange = links.Exchange([0, 0])
        exchange.cut.add(0)
        self.assertEqual(self.of(exchange, 2)[:2], [None, None])
        self.assertEqual(exchange.counted()["lost"], 2)


class WaitsByClocksTest(unittest.TestCase):
    """Who waits for whom, of times that are made up."""

    def test_a_rank_waits_until_the_last_other_one_comes_if_that_is_before_it_leaves(self):
        import slow_networks

        everybody, pair = [0, 1, 2], [0, 1]
        # When it came, began to wait, and left.
        ranks = [{"averages": [[0, everybody, 90, 100, 300], [0, everybody, 400, 400, 500], [1, pair, 600, 605, 700]]},
                 {"averages": [[0, everybody, 90, 110, 310], [0, everybody, 450, 455, 500], [1, pair, 610, 615, 700]]},
                 {"averages": [[0, everybody, 250, 260, 320], [0, everybody, 510, 515, 600]]}]
        self.assertEqual(slow_networks.waits_by_clocks(ranks), [{2: 150, 1: 50 + 5}, {2: 140}, {}])

    def test_a_worker_waits_for_the_server_until_that_sends_its_answer(self):
        import slow_networks

        ranks = [{"sends": [[2, 150], [1, 130], [1, 190]]}, {"exchanges": [[90, 110, 140], [150, 160, 200]]},
                 {"exchanges": [[90, 120, 170]]}]
        self.assertEqual(slow_networks.waits_by_clocks(ranks), [{}, {0: 20 + 30}, {0: 30}])


class BendTest(unittest.TestCase):
    """Where a curve bends and why, of figures that are made up."""

    NAMES = {"environments": "torch:cartpole:4:{0}:1:1", "fused": "scan:cartpole:4:16:{0}:{0}",
             "floats": "torch:traffic:{0}:4:1:1"}

    def bend(self, *steps, axis="environments"):
        """Of a curve of 1, 16, 256 ..., by (calls, Python in the simulator, around it), in us."""
        import vectorisation

        names = [self.NAMES[axis].format(16 ** place) for place in range(len(steps))]
        runs = {}
        for name, (calls, python, around) in zip(names, steps):
            of = vectorisation.parsed(name)
            total = 1000 * of["steps"] * (calls + python + around)
            runs[name] = [{"env_steps": of["steps"] * of["environments"], "iteration_ns": total, "shortest": {
                "total_ns": total, "simulation_ns": 1000 * of["steps"] * (calls + python),
                "backend_ns": 1000 * of["steps"] * calls, "plays": 1, "calls": 38 * of["steps"]}}]
        return vectorisation.bend({"runs": runs}, names, axis)

    def test_a_curve_whose_steps_take_no_longer_has_no_bend(self):
        self.assertIsNone(self.bend((10, 5, 1), (10, 5, 1), (11, 5, 1)))

    def test_a_curve_bends_where_throughput_first_gains_less_than_half_for_what_grew_most(self):
        found = self.bend((10, 5, 1), (15, 5, 1), (150, 20, 1), (3000, 20, 1))
        self.assertEqual((found["from"], found["to"], found["cause"], found["calls"]), (16, 256, "calls", [38, 38]))
        self.assertAlmostEqual(found["gain"], 16 * 21 / 171)
        self.assertAlmostEqual(found["share"], 135 / 150)
        self.assertEqual(self.bend((10, 5, 1), (15, 500, 1))["cause"], "python")

    def test_of_fused_steps_what_is_left_is_the_cause(self):
        found = self.bend((8, 1, 3), (6, 0.5, 0.1), axis="fused")
        self.assertEqual((found["from"], found["to"], found["cause"]), (1, 16, "calls"))
        self.assertAlmostEqual(found["share"], 6 / 6.6)

    def test_over_floats_a_curve_bends_where_throughput_halves(self):
        found = self.bend((4, 5, 1), (9, 5, 1), (30, 15, 1), axis="floats")
        self.assertEqual((found["from"], found["to"], found["cause"]), (16, 256, "calls"))
        self.assertAlmostEqual(found["gain"], 15 / 46)


class HloTest(unittest.TestCase):
    """What is executed of a module of HLO, and how often, of one that is made up: a loop of 5 passes, each of which has
    a kernel of two scopes, a copy, a kernel of two results, and a call of a small computation with its own loop."""

    TEXT = """HloModule jit_simulate, is_scheduled=true

%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %sine.1 = f32[4]{0} sine(%p), metadata={op_name="jit(simulate)/while/body/closed_call/physics/sin"}
  ROOT %select.1 = f32[4]{0} select(%sine.1), metadata={op_name="jit(simulate)/while/body/closed_call/reset/where"}
}

%two (p.1: f32[4]) -> (f32[4], s32[]) {
  %p.1 = f32[4]{0} parameter(0)
  %negate.1 = f32[4]{0} negate(%p.1), metadata={op_name="jit(simulate)/while/body/closed_call/draw/neg"}
  ROOT %tuple.1 = (f32[4]{0}, s32[]) tuple(%negate.1, %negate.1)
}

%inner (p.3: (s32[], /*index=1*/f32[4])) -> (s32[], /*index=1*/f32[4]) {
  %p.3 = (s32[], /*index=1*/f32[4]{0}) parameter(0)
  ROOT %add.1 = (s32[], /*index=1*/f32[4]{0}) add(%p.3)
}

%small (p.2: f32[4]) -> f32[4] {
  %p.2 = f32[4]{0} parameter(0)
  ROOT %while.2 = (s32[], /*index=1*/f32[4]{0}) while(%p.2), condition=%condition, body=%inner
}

%body (t: (s32[], /*index=1*/f32[4])) -> (s32[], /*index=1*/f32[4]) {
  %t = (s32[], /*index=1*/f32[4]{0}) parameter(0)
  %x = f32[4]{0} get-tuple-element(%t), index=1
  %copy.1 = f32[4]{0} copy(%x)
  %select_fusion = f32[4]{0} fusion(%copy.1), kind=kLoop, calls=%fused, metadata={op_name="jit(simulate)/while"}
  %pair = (f32[4]{0}, s32[]) fusion(%select_fusion), kind=kLoop, calls=%two
  %call.1 = f32[4]{0} call(%x), to_apply=%small, frontend_attributes={xla_cpu_small_call="true"}
  ROOT %tuple.2 = (s32[], /*index=1*/f32[4]{0}) tuple(%x, %call.1)
}

%condition (t.1: (s32[], /*index=1*/f32[4])) -> pred[] {
  %t.1 = (s32[], /*index=1*/f32[4]{0}) parameter(0)
  ROOT %less = pred[] compare(%t.1), direction=LT
}

ENTRY %main (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0)
  %copy.2 = f32[4]{0} copy(%x.1)
  %tuple.3 = (s32[], /*index=1*/f32[4]{0}) tuple(%copy.2, %copy.2)
  %while.1 = (s32[], /*index=1*/f32[4]{0}) while(%tuple.3), condition=%condition, body=%body, backend_config={TRIPS}
  ROOT %bitcast.1 = f32[4]{0} bitcast(%while.1)
}
"""
    TRIPS = '"known_trip_count":{"n":"5"}'

    def compiled(self, name, text):
        import xla_fusion

        return xla_fusion.compiled(name, {"hlo": text, "costs": {"flops": 320}})

    def test_kernels_and_copies_are_those_of_a_step(self):
        found = self.compiled("scan:4:5", self.TEXT.replace("TRIPS", self.TRIPS))
        # In 5 steps: three kernels for each pass and 6 conditions, a copy for each pass and that of the entry.
        self.assertEqual(found, {"kernels": 21 / 5, "copies": 6 / 5, "fused": (5 + 5) / 5, "across": 1,
                                 "of_several_results": 1, "flops": 80})

    def test_costs_are_of_one_of_the_steps_that_a_pass_of_the_loop_has(self):
        self.assertEqual(self.compiled("unroll:4:50", self.TEXT.replace("TRIPS", self.TRIPS))["flops"], 8)

    def test_a_loop_of_unknown_length_or_work_that_is_divided_between_threads_fails_the_study(self):
        import study

        divided = self.TEXT.replace("TRIPS", self.TRIPS).replace(
            "calls=%fused", 'calls=%fused, backend_config={"outer_dimension_partitions":["2"]}')
        for text in (self.TEXT, divided):
            with self.assertRaises(study.Failed):
                self.compiled("scan:4:5", text)


class FusionPageTest(unittest.TestCase):
    """Which sentence is true depends on the figures."""

    def page(self, variant, times):
        """Of the committed figures, but with one variant so many times as fast."""
        import xla_fusion

        figures = figures_of(PAGES, "xla_fusion")
        for name, runs in figures["runs"].items():
            for run in runs if name.split(":")[0] == variant else ():
                run["iteration_ns"] /= times
        return " ".join(xla_fusion.page(figures).split())

    def test_fusion_is_the_cause_only_where_the_same_loop_is_faster_without_it(self):
        self.assertIn("So fusion is what makes the unrolled loop slow", self.page("unroll", 1))
        for variant, times in (("unroll", 1000), ("unroll_unfused", 1e-3)):
            self.assertIn("do not show that fusion makes the unrolled loop slow", self.page(variant, times))

    def test_the_fastest_variant_is_that_of_the_figures(self):
        for variant, name in (("unfused", "no fusion"), ("generator", "XLA's generator")):
            self.assertRegex(self.page(variant, 1000), f'The fastest at 2,048 is "[^"]*{name}"')


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


def check_own_clocks(test, figures):
    """What gpubound says of each part is what the program's own clocks say."""
    for name, runs in figures["runs"].items():
        with test.subTest(name):
            # The two are read one after the other; a core that is lost between them makes one repetition differ.
            for key in ("iteration_ns", "steps_per_second"):
                test.assertLess(min(abs(run[key] / run[f"own_{key}"] - 1) for run in runs), 0.05, runs)
            for run in runs:
                test.assertGreater(run["iterations"], 2)
                test.assertLessEqual(run["simulation_ns"], run["own_simulation_ns"])
                test.assertLessEqual(run["shortest"]["backend_ns"], run["shortest"]["simulation_ns"])
                test.assertLessEqual(run["shortest"]["simulation_ns"], run["shortest"]["total_ns"])


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

    @unittest.skipUnless(READS_TABLES, "polars, duckdb and pyarrow are not all installed")
    def test_temporal_queries_go_from_runs_to_the_page(self):
        page, figures = self.page_of("temporal_queries")
        clocks_apart_ns = MS
        for size, of in figures["answers"].items():
            with self.subTest(size):
                self.assertEqual(figures["runs"][size][0]["device_kind"], "simulated")
                self.assertEqual(of["rows"]["starvation"], len(of["starvation"]["own_ns"]))
                # The program reads its clocks outside of operations.
                for found, own in zip(of["starvation"]["ns"], of["starvation"]["own_ns"]):
                    self.assertGreater(found, own - clocks_apart_ns)
                clocked = {name: made for name, made in of["windows"].items() if made["own_ns"] is not None}
                self.assertEqual(set(clocked), {"inference", "simulation", "update", "weight_sync"})
                for made in clocked.values():
                    self.assertGreater(made["total_ns"], 0)
                    self.assertLess(made["total_ns"], made["own_ns"] + clocks_apart_ns)
                self.assertGreater(of["correlation"]["sampled"], 2)
        self.assertIn("*starvation*", page)

    def test_a_simulator_in_python_has_the_throughput_and_times_of_its_own_clocks(self):
        import parts
        import study
        import vectorisation

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        recorder = study.Recorder(pathlib.Path(folder.name))
        names = [vectorisation.part("loop", 1), vectorisation.part("loop", 16), vectorisation.traffic("loop", 4)]
        with contextlib.redirect_stderr(io.StringIO()):
            recorder.record_all({"loops": vectorisation.program(recorder, "loops", 2, 0.01, names)}, calibrates=False)
        figures = parts.read_parts(recorder, "loops")
        self.assertEqual(set(figures["runs"]), set(names))
        check_own_clocks(self, figures)
        for name, runs in figures["runs"].items():
            for run in runs:
                self.assertEqual(run["shortest"]["plays"], vectorisation.parsed(name)["steps"])
                self.assertEqual(run["shortest"]["calls"], 0)

    def test_ways_that_differ_fail_the_study(self):
        import study
        import temporal_queries

        temporal_queries.check_same("", [(1, "a", 0.1 + 0.2)], [[1, "a", 0.3]])
        for other in ([(1, "a", 0.3)] * 2, [(2, "a", 0.3)], [(1, "b", 0.3)], [(1, "a", 0.3001)], [(1, "a")]):
            with self.assertRaises(study.Failed):
                temporal_queries.check_same("", other, [(1, "a", 0.3)])


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

    def test_a_framework_is_chosen_from_runs_to_the_page(self):
        import framework_choice as module

        page, figures = self.page_of("framework_choice")
        self.assertEqual(set(figures["runs"]) | {f"{variant} narrow" for variant in figures["left_out"]},
                         {f"{variant} narrow" for variant in module.VARIANTS})
        for name, (run,) in figures["runs"].items():
            with self.subTest(name):
                # Of the last iteration gpubound sees no end, the first one began before the phase.
                self.assertGreaterEqual(run["iterations_found"], run["iterations"] - 1)
                self.assertLess(abs(module.against_own(run, None) - 1), 0.2)
                for part in module.PARTS:  # JAX waits for an action in no operation, libraries wrap environments
                    found = module.against_own(run, part)
                    self.assertGreater(found, 0.05 if part == "inference" else 0.5, run["cells"])
                    self.assertLess(found, 3 if part == "simulation" else 1.5, run["cells"])
                for part in ("inference", "update"):
                    self.assertGreater(module.calls_of(run, part), 0)
                self.assertEqual(sum(map(sum, (of.values() for of in run["cells"].values()))), run["total_ns"])
        calls = {name.split(" ")[0]: module.calls_of(run) for name, (run,) in figures["runs"].items()}
        self.assertLess(max(calls[name] for name in ("jax", "tf.function")), 6)
        self.assertLess(calls.get("torch.compile", 0), 30)  # what a graph calls is a part of its call
        self.assertLess(calls["torch"], calls["tensorflow"])
        self.assertLess(module.apart(figures, [name for name in calls if name not in module.LIBRARIES]), 1e-3)
        self.assertIn("**CPU**", page)

    @unittest.skipIf(links.missing(), links.missing())
    def test_slow_networks_go_from_runs_to_the_page(self):
        import slow_networks

        page, figures = self.page_of("slow_networks")
        for name, (run,) in figures["runs"].items():
            with self.subTest(name):
                self.assertEqual(len(run["workers"]), slow_networks.WORKERS)
                # Between what gpubound records and the program's own clock a thread may lose its core.
                self.assertLess(slow_networks.apart(run), 0.2)
                for worker in run["workers"]:
                    self.assertLess(worker["total_ns"], worker["own"]["total_ns"] * 1.1)
        (late,), (near,), (delayed,) = (figures["runs"][name] for name in ("late worker", "near", "delay 80 ms"))
        self.assertEqual(slow_networks.latest(late)[0], str(slow_networks.LATE))
        self.assertEqual(near["network"]["lost"], 0)
        short_ms = slow_networks.AVERAGED["delay 80 ms"]["delay_ms"] / slow_networks.SHORTER
        for worker in delayed["workers"]:  # a mean of four takes two messages, one after the other, at least
            self.assertGreater(worker["average_ns"], 2 * short_ms * MS * worker["iterations"])
        for name in slow_networks.SERVED:
            (run,) = figures["runs"][name]
            self.assertEqual(run["staleness"]["behind"], run["staleness"]["own"]["behind"])
            self.assertEqual(sum(run["staleness"]["behind"].values()),
                             slow_networks.WORKERS * slow_networks.SMALL_ITERATIONS["served"])
            self.assertAlmostEqual(run["staleness"]["gap"], run["staleness"]["own"]["gap"], places=12)
        self.assertIn("server, dana", page)

    def test_vectorisation_goes_from_runs_to_the_page(self):
        import vectorisation

        page, figures = self.page_of("vectorisation")
        check_own_clocks(self, figures)
        calls = {name: vectorisation.calls_of(runs[0], name) for name, runs in figures["runs"].items()}
        for name, runs in figures["runs"].items():
            of = vectorisation.parsed(name)
            with self.subTest(name):
                for run in runs:
                    self.assertEqual(vectorisation.calls_of(run, name), calls[name])
                if of["variant"] in ("jax", "scan", "blocks"):  # one for all fused steps
                    self.assertAlmostEqual(calls[name], 1 / of["fused"])
                elif of["variant"] == "torch":
                    self.assertGreater(calls[name], 20)
                else:
                    self.assertEqual(calls[name], 0)
        # The variants are the same simulator.
        for name, state in figures["states"].items():
            same = [other for other in figures["states"]
                    if name.split(":")[1:3] + name.split(":")[5:] == other.split(":")[1:3] + other.split(":")[5:]]
            for other in same:
                for one, two in zip(state, figures["states"][other]):
                    self.assertAlmostEqual(one, two, places=4, msg=f"{name} and {other}")
        self.assertEqual({change: of["status"] for change, of in figures["refused"].items()}, {
            "--vectorise 16": 2, "--fuse simulation": 0, "--graph-capture simulation": 0})
        self.assertEqual(set(figures["unrecorded_ns"]), set(vectorisation.unrecorded_parts(True)))
        for row in figures["what_ifs"]:
            self.assertLess(row["predicted"]["all"][0], row["predicted"]["python"][0])
        self.assertIn("**CPU**", page)

    def test_xla_fusion_goes_from_runs_to_the_page(self):
        import xla_fusion

        page, figures = self.page_of("xla_fusion")
        check_own_clocks(self, figures)
        self.assertEqual(figures["said"]["calls"], ["simulate"])
        self.assertEqual(figures["said"]["scopes"], 0)
        for size, names in figures["sizes"].items():
            of = {name.split(":")[0]: name for name in names}
            made = {variant: figures["compiled"][name] for variant, name in of.items()}
            with self.subTest(size):
                for variant, name in of.items():
                    steps = int(name.split(":")[2])
                    for run in figures["runs"][name]:
                        self.assertAlmostEqual(xla_fusion.calls_of(run, name), 1 if variant == "call" else 1 / steps)
                    # All are the same simulator; another generator lets poles start elsewhere.
                    same = all(abs(one - two) < 1e-4 for one, two in zip(figures["states"][name],
                                                                         figures["states"][of["scan"]]))
                    self.assertEqual(same, variant != "generator", name)
                # Costs are of a step: a loop's body counts once, and an unrolled one has ten.
                for one, two in (("call", "scan"), ("unfused", "unroll_unfused")):
                    self.assertAlmostEqual(made[one]["flops"], made[two]["flops"], delta=1)
                for variant in ("unfused", "unroll_unfused"):
                    self.assertEqual(made[variant]["fused"], 0)
                    self.assertEqual(made[variant]["transcendentals"], xla_fusion.EQUATIONS)
                self.assertGreater(made["separate"]["across"], 1)
                self.assertLess(made["beforehand"]["kernels"], made["scan"]["kernels"])
        self.assertIn("**CPU**", page)


if __name__ == "__main__":
    unittest.main()
