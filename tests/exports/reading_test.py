#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs read by gpubound.open(): what Arrow, DuckDB and plain Python get of them is what the command says.
reading_test.py GPUBOUND EXAMPLE_RUN DATA, with the package on PYTHONPATH."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import duckdb
import pyarrow

import gpubound as package
from exports_fixture import DATA, EXAMPLE_RUN, Exports, GPUBOUND, gpubound, main
from hosts_test import Hosts

BERT = DATA / "kineto" / "h100_bert_small.json.gz"
MADE = ("host", "rank", "run_begin_ns", "run_end_ns", "run_time_ns")
# Reads the run that records it, and says which locks of its recorder are left.
SELF_READER = """
import json, os, time
import gpubound

def locks():
    with open("/proc/locks") as lines:
        return sum(f" {os.getpid()} " in line for line in lines)

for i in range(15):
    with gpubound.operation("simulation"):
        time.sleep(0.1)
    gpubound.step()
before = locks()
run = gpubound.open(os.environ["GPUBOUND_RUN"])
rows = run.operations.rows()
del run
print(json.dumps({"rows": rows, "before": before, "after": locks()}))
"""
# Reaches a return of 3, sooner or later.
LEARNING = """
import os, time
import gpubound

for i in range(int(os.environ["SEED"]) + 4):
    with gpubound.operation("update"):
        time.sleep(0.01)
    gpubound.metric("return", i)
    gpubound.step()
"""
# Figures of itself, as dashboards get them.
FOLLOWED = """
import json, time
import gpubound
from gpubound.integrations import _follower

_follower.start(0.5)
figures, until = {}, time.monotonic() + 100
while not figures.get("gpubound/env_steps_per_s") and time.monotonic() < until:
    with gpubound.operation("simulation"):
        time.sleep(0.05)
    gpubound.step(env_steps=4)
    figures = _follower.newest() or figures
print(json.dumps(figures))
"""
# What %load_ext and %%gpubound do, in a program that stands for the notebook's shell.
CELLS = """
import time, types
import gpubound

def register(function, kind, name):
    magics[kind, name] = function

def run_cell(cell):
    exec(cell, {})
    return types.SimpleNamespace(success=True)

magics = {}
shell = types.SimpleNamespace(register_magic_function=register, run_cell=run_cell, user_ns={})
before = gpubound.operation("simulation")
gpubound.load_ipython_extension(shell)
cell = "import gpubound, time\\nwith gpubound.operation('simulation'):\\n    time.sleep(0.2)"
run_cell(cell)
run = magics["cell", "gpubound"]("mine", cell)
assert shell.user_ns["mine"] is run
rows = {row["operation"]: row for row in run.operations}
assert rows["simulation"]["count"] == 1, rows
assert 1.9e8 < rows["simulation"]["wall_ns"] < 9e8, rows
assert run.data_quality.is_complete, run.data_quality
print("ok")
"""
# The same with work of a GPU, in a program that loads CUDA when it is recorded already.
GPU_CELLS = CELLS.split("before =", 1)[0] + """
import ctypes

class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]

def launch():
    one = Dim3(1, 1, 1)
    runtime.cudaLaunchKernel(ctypes.byref(function), one, one, None, ctypes.c_size_t(0), None)
    runtime.cudaDeviceSynchronize()

gpubound.load_ipython_extension(shell)
runtime, function = ctypes.CDLL("libcudart.so.13"), ctypes.create_string_buffer(b"work")
runtime.gpubound_sim_register_kernel(function, function, None, None, 0, 32, 0)
import builtins
builtins.launch = launch
cell = "import gpubound\\nfor _ in range(50):\\n    with gpubound.operation('work'):\\n        launch()"
run_cell(cell)
for _ in range(2):
    [row] = [row for row in magics["cell", "gpubound"]("mine", cell).operations if row["operation"] == "work"]
    assert (row["count"], row["unknown_ns"]) == (50, 0) and row["gpu_busy_ns"] > 0, row
print("ok")
"""


def command_json(*words):
    return json.loads(gpubound(*words).stdout)


class ReadingTest(Exports):
    session = Hosts.session
    two_hosts = Hosts.two_hosts

    def python(self, program, *words, **variables):
        done = subprocess.run([*words, sys.executable, "-c", program], capture_output=True, text=True, check=False,
                              env={**os.environ, **variables}, cwd=self.folder.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_table_has_the_rows_that_sql_has(self):
        for path in self.runs():
            run = package.open(path)
            for name in run.tables():
                with self.subTest(run=path, table=name):
                    expected = command_json("sql", path, f"select * from {name}", "--json")
                    table = run.table(name).arrow()
                    got = [{key: value for key, value in row.items() if key in row and (
                        key not in MADE or expected and key in expected[0])} for row in table.to_pylist()]
                    self.assertEqual(got, expected)
                    self.assertEqual(run.table(name).rows(), table.to_pylist())

    def test_duckdb_reads_a_table_as_it_is(self):
        gpu = package.open(self.imported(BERT)).table("gpu")  # noqa: F841  # the query names it
        found = duckdb.sql("select class, count(*), sum(duration_ns)::bigint from gpu group by 1 order by 1")
        self.assertEqual(found.fetchall(), [("compute", 60, 307197), ("copy", 1, 2240)])

    def test_texts_of_long_tables_are_dictionaries_and_those_of_short_ones_are_not(self):
        run = package.open(self.imported(BERT))
        self.assertTrue(pyarrow.types.is_dictionary(run.table("gpu").arrow().schema.field("name").type))
        self.assertTrue(pyarrow.types.is_large_string(run.kernels.arrow().schema.field("name").type))

    def test_a_table_longer_than_a_batch_is_read_whole_and_as_often_as_one_likes(self):
        path = self.path("long.gpubound")
        subprocess.run([EXAMPLE_RUN, path, "long"], check=True)
        table = package.open(path).table("gpu")
        first = table.arrow()
        self.assertGreater(first.column("begin_ns").num_chunks, 2)
        self.assertEqual(first.num_rows, command_json("sql", path, "select count(*) as n from gpu", "--json")[0]["n"])
        self.assertTrue(first.equals(table.arrow()))
        first.validate(full=True)

    def test_some_columns_come_in_the_order_asked_for(self):
        table = package.open(self.example).table("gpu", ["duration_ns", "rank", "name"])
        self.assertEqual(table.columns, ["duration_ns", "rank", "name"])
        self.assertEqual(table.arrow().column_names, ["duration_ns", "rank", "name"])

    def test_times_of_several_hosts_are_on_one_clock(self):
        run = package.open(self.two_hosts())
        rows = run.table("gpu").rows()
        self.assertEqual([row["host"] for row in rows], ["a", "b"])
        self.assertEqual(rows[0]["begin_ns"], rows[1]["begin_ns"])
        self.assertEqual(rows[1]["run_begin_ns"] - rows[0]["run_begin_ns"], 100_000)

    def test_a_stream_that_is_left_halfway_does_no_harm(self):
        run = package.open(self.example)
        reader = pyarrow.RecordBatchReader.from_stream(run.table("scope"))
        reader.read_next_batch()
        other = run.operations.arrow()
        del reader, run
        self.assertGreater(other.num_rows, 0)

    def test_several_threads_read_one_run(self):
        run = package.open(self.imported(BERT))
        expected = run.table("scope").rows()
        got = []

        def read():
            for _ in range(10):
                got.append(run.table("scope").arrow().to_pylist() == expected)
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(got, [True] * 40)

    def test_a_query_has_columns_of_one_type(self):
        run = package.open(self.example)
        found = run.sql("select 1; select 1 as a, 'x' as b, null as c, 2 as d, x'0AFF' as e "
                        "union all select null, 3, null, 0.5, 1.5").arrow()
        self.assertEqual([str(field.type) for field in found.schema],
                         ["int64", "large_string", "int64", "double", "large_string"])
        self.assertEqual(found.to_pylist()[0], {"a": 1, "b": "x", "c": None, "d": 2.0, "e": "0AFF"})
        self.assertEqual(found.to_pylist()[1]["b"], "3")
        self.assertEqual(run.sql("select name from gpu where 0").rows(), [])

    def test_report_comparison_and_prediction_are_those_of_the_command(self):
        path = self.imported(BERT)
        run = package.open(path)
        self.assertEqual(run.report(), command_json("report", path, "--json"))
        self.assertEqual(run.report(replay=False)["processes"][0]["operations"],
                         command_json("report", path, "--json", "--no-replay")["processes"][0]["operations"])
        self.assertEqual(run.summary(), command_json("report", path, "--json", "--summary"))
        self.assertEqual(run.whatif("layer=python:0.5"),
                         command_json("whatif", path, "--scale", "layer=python:0.5", "--json"))
        other = self.imported(DATA / "kineto" / "h100_qwen_chat.json.gz")
        self.assertEqual(run.compare(package.open(other)), command_json("compare", path, other, "--json"))

    def test_times_to_a_result_are_those_of_the_command(self):
        learned = []
        for seed in ("1", "2", "3", "4"):
            learned.append(self.path(f"learned{seed}.gpubound"))
            self.python(LEARNING, GPUBOUND, "run", "-q", "-o", learned[-1], "--", SEED=seed)
        asked = ("--target", "return>=3 over 2", "--target", "return>=99")
        targets = asked[1::2]
        run, *others = map(package.open, learned)
        report = run.report(targets=targets)
        self.assertEqual(report, command_json("report", learned[0], "--json", *asked))
        reached, missed = report["run"]["training"]["targets"]
        self.assertGreater(reached["reached_ns"], 0)
        self.assertIsNone(missed["reached_ns"])
        self.assertNotIn("targets", str(run.report()["run"]["training"] or ""))
        compared = package.runs.compare({"A": [run, others[0]], "B": others[1:]}, targets=targets[:1])
        self.assertEqual(compared, command_json("compare", *asked[:2], "--json", *learned[:2], "--", *learned[2:]))
        self.assertEqual(compared["figures"][0]["figure"], "time_to_target")
        self.assertEqual(run.compare(others[0], targets=targets[:1])["figures"][0]["name"], targets[0])

    def test_data_quality_says_what_is_missing(self):
        whole = package.open(self.imported(BERT)).data_quality
        self.assertTrue(whole.is_complete)
        self.assertEqual((whole.problems, whole.ledger.rows()), ([], []))
        damaged = package.open(self.damaged()).data_quality
        self.assertFalse(damaged.is_complete)
        self.assertIn("data_loss", [row["severity"] for row in damaged.ledger])
        thinned = package.open(self.thinned()).data_quality
        self.assertIn("compacted", " ".join(thinned.problems))

    def test_what_cannot_be_read_says_so_and_what_is_mistyped_is_named(self):
        with self.assertRaisesRegex(package.RunError, "found nothing there"):
            package.open(self.path("nowhere"))
        run = package.open(self.example)
        for wrong, words in ((lambda: run.table("gpus"), "Did you mean 'gpu'"),
                             (lambda: run.table("gpu", ["names"]), "Did you mean 'name'"),
                             (lambda: run.sql("select absent from gpu"), "no such column"),
                             (lambda: run.sql("delete from gpu"), "may not be modified"),
                             (lambda: run.whatif("operation=nothing:0.5"), "no such operation"),
                             (lambda: run.whatif("nonsense"), "expected PART=NAME:FACTOR"),
                             (lambda: run.whatif(gpu="A1000"), "Did you mean 'A100'?"),
                             (lambda: run.whatif(vectorise=0), "expected 1 to 1000000 for vectorise"),
                             (lambda: run.whatif(copies=65), "0 to 64 for copies"),
                             (lambda: run.whatif(move_gpus="rollout:1"), "expected FROM:TO:K"),
                             (lambda: run.whatif(move_gpus="rollout:train:1"), "no roles in the run"),
                             (lambda: run.report(targets=["return>450"]), "expected >= or <="),
                             (lambda: run.compare(run, targets=["return"]), "expected a metric and a comparison"),
                             (lambda: run.compare(), "got none")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                wrong()

    def test_no_other_package_is_needed_and_recording_loads_none_of_it(self):
        self.assertEqual(self.python("import gpubound, sys\nprint('gpubound._reader' in sys.modules)\n"
                                     f"run = gpubound.open({self.example!r})\nrun.operations.values()\n"
                                     "print({'pyarrow', 'numpy', 'pandas'} & set(sys.modules))"), "False\nset()\n")

    def test_a_program_may_read_the_run_that_records_it(self):
        path = self.path("own.gpubound")
        said = json.loads(self.python(SELF_READER, GPUBOUND, "run", "-q", "-o", path, "--", RANK="3", WORLD_SIZE="4"))
        rows = {row["operation"]: row for row in said["rows"]}
        self.assertGreater(rows["simulation"]["wall_ns"], 5e8)
        self.assertEqual(rows["simulation"]["rank"], 3)
        self.assertGreater(said["before"], 0)
        self.assertEqual(said["after"], said["before"])
        self.assertEqual({row["count"] for row in package.open(path).operations if row["operation"] == "simulation"},
                         {15})

    def test_a_program_gets_figures_of_itself_while_it_runs_from_a_process_that_ends_with_it(self):
        path = self.path("followed.gpubound")
        figures = json.loads(self.python(FOLLOWED, GPUBOUND, "run", "-q", "-o", path, "--"))
        self.assertGreater(figures["gpubound/simulation/wall_s"], 0.05)
        self.assertGreater(figures["gpubound/env_steps_per_s"], 1)
        self.assertGreater(figures["gpubound/iteration_median_s"], 0.04)
        self.assertEqual(len(package.open(path).table("process").rows()), 1)

        def followers():
            for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):  # it has ended
                    if b"integrations._follower" in line.read_bytes() and path.encode() in line.read_bytes():
                        yield line
        until = time.monotonic() + 60
        while list(followers()) and time.monotonic() < until:
            time.sleep(0.1)
        self.assertEqual(list(followers()), [])

    def test_a_program_may_begin_to_be_recorded_and_have_a_part_of_it_shown(self):
        self.assertEqual(self.python(CELLS), "ok\n")

    def test_gpu_work_of_a_cell_is_recorded_too(self):
        self.assertEqual(self.python(GPU_CELLS, LD_LIBRARY_PATH=os.environ["GPUBOUND_TEST_SIM_DIR"]), "ok\n")

    def test_a_run_of_one_role_has_the_table_of_roles_without_rows(self):
        roles = package.open(self.example).roles
        self.assertEqual(roles.columns, ["role", "processes", "ns", "active_ns", "held_ns", "busy_ns", "idle_ns",
                                         "unknown_ns", "bubble_ratio"])
        self.assertEqual(roles.rows(), [])

    def test_a_run_shows_itself_in_a_notebook(self):
        shown = package.open(self.imported(BERT))._repr_html_()
        for said in ("Launch-bound: the GPU is idle 89 %", "7.0 %", "Mean iteration, 4.43 ms", "48 % (47 to 49)"):
            self.assertIn(said, shown)
        self.assertIn("&quot;'&lt;b&gt;", package.open(self.example).sql(
            "select name from scope where name like '%<b>%'")._repr_html_().replace("&#x27;", "'"))

    def test_parts_have_what_needs_no_events(self):
        part = self.path("example.part")
        gpubound("part", self.example, "-o", part)
        run, whole = package.open(part), package.open(self.example)
        self.assertEqual(run.report(), command_json("report", part, "--json"))
        self.assertEqual(run.summary()["run"]["data_quality"], whole.summary()["run"]["data_quality"])
        self.assertEqual(run.compare(whole), command_json("compare", part, self.example, "--json"))
        self.assertEqual(run.data_quality.verdict, whole.data_quality.verdict)
        self.assertEqual(run.data_quality.ledger, whole.report()["ledger"])
        self.assertIn(run.summary()["diagnosis"][0]["finding"][:20], run._repr_html_())
        for table in (lambda: run.operations, lambda: run.sql("select 1")):
            with self.assertRaisesRegex(package.RunError, "found parts of a run, .* report"):
                table()

    def test_paths_may_be_objects(self):
        self.assertEqual(package.open(pathlib.Path(self.example)).path, self.example)


del Hosts  # its own tests run elsewhere


if __name__ == "__main__":
    main()
