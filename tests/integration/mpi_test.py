# SPDX-License-Identifier: Apache-2.0
"""Ranks of MPI are one run, however the job is started, and what they wait for is known, against clocks of the
program itself. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_MPI_RANKS, GPUBOUND_TEST_LIBRARY,
GPUBOUND_TEST_MPIRUN."""
import json
import os
import subprocess
import tempfile
import unittest

COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
PROGRAM = os.environ["GPUBOUND_TEST_MPI_RANKS"]
LIBRARY = os.environ["GPUBOUND_TEST_LIBRARY"]
RANKS = 4
ITERATIONS = 15
MPIRUN = [os.environ["GPUBOUND_TEST_MPIRUN"], "-n", str(RANKS), "--oversubscribe"]
if os.geteuid() == 0:
    MPIRUN.append("--allow-run-as-root")
# On this machine alone, which may have no ssh and forbid reading other processes' memory.
SETTINGS = {"OMPI_MCA_plm": "isolated", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


class MpiTest(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.exists(PROGRAM), "Open MPI was not there when this was built: install libopenmpi-dev "
                        "and openmpi-bin, and build again")
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.path = os.path.join(holder.name, "job.gpubound")

    def start(self, *words, status=0, **environment):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=200, check=False, env={
            **os.environ, **SETTINGS, "GPUBOUND_CALIBRATE": "0", **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.stderr = done.stderr
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return {rank.pop("rank"): rank for rank in said}

    def sql(self, query):
        done = subprocess.run([COMMAND, "sql", self.path, "--json", query], capture_output=True, check=True)
        return json.loads(done.stdout)

    def waits_by_rank(self, truth):
        """For whom each rank waited, in which operation: {(rank, operation): {rank: ns}}."""
        ranks = {str(said["pid"]): rank for rank, said in truth.items()}
        waits = {}
        for row in self.sql("select pid, operation, for_pids, ns from wait join process using (process)"):
            of = waits.setdefault((ranks[str(row["pid"])], row["operation"]), {})
            of[ranks[row["for_pids"]]] = row["ns"]
        return waits

    def check(self, truth):
        self.assertEqual(sorted(truth), list(range(RANKS)))
        report = json.loads(subprocess.run([COMMAND, "report", self.path, "--json"], capture_output=True,
                                           check=True).stdout)
        self.assertTrue(report["run"]["verdict"].startswith("complete"), report["run"]["verdict"])
        # What a rank did in MPI is a wait, as long as its own clock says.
        for process in report["processes"]:
            (rank,) = (rank for rank, said in truth.items() if said["pid"] == process["pid"])
            for operation in ("average", "exchange", "message"):
                waited = sum(cell["ns"] for cell in process["cells"]
                             if cell["operation"] == operation and cell["layer"] == "wait")
                if (rank, operation) in ((1, "exchange"), (0, "message")):
                    continue  # sleeps there, too
                self.assertAlmostEqual(waited, truth[rank][operation],
                                       delta=0.02 * truth[rank][operation] + 100_000 * ITERATIONS,
                                       msg=f"{rank} {operation}")
        waits = self.waits_by_rank(truth)
        for rank in (0, 1, 3):
            of = waits[rank, "average"]
            self.assertEqual(max(of, key=of.get), 2, of)
            self.assertGreater(of[2], 0.4 * truth[rank]["average"], f"{rank}: {of}")
        of = waits[3, "exchange"]
        self.assertEqual(list(of), [1])
        self.assertGreater(of[1], 0.4 * truth[3]["exchange"])
        self.assertNotIn((3, "message"), waits)  # whom a message comes from is not known
        self.assertNotIn((0, "exchange"), waits)

    def test_one_run_around_the_launcher(self):
        self.check(self.start(COMMAND, "run", "-q", "-o", self.path, "--", *MPIRUN, PROGRAM, str(ITERATIONS)))

    def test_a_launcher_around_a_run_for_each_rank(self):
        words = [*MPIRUN, COMMAND, "run", "--no-calibrate", "-o", self.path, "--", PROGRAM, str(ITERATIONS)]
        self.check(self.start(*words))
        self.assertEqual(self.stderr.count("Data quality:"), 1)  # one of them speaks for all
        # The next job is another run.
        self.assertEqual(self.start(*words, status=125), {})
        self.assertIn("found the trace of another run", self.stderr)

    def test_ranks_agree_on_a_name_of_their_own(self):
        truth = self.start(*MPIRUN, COMMAND, "run", "-q", "--", PROGRAM, str(ITERATIONS))
        (name,) = (name for name in os.listdir(self.folder) if name.endswith(".gpubound"))
        self.path = os.path.join(self.folder, name)
        self.check(truth)

    def test_variables_that_the_launcher_passes_on(self):
        self.check(self.start(*MPIRUN, "-x", "LD_PRELOAD", "-x", "GPUBOUND_RUN", PROGRAM, str(ITERATIONS),
                              LD_PRELOAD=LIBRARY, GPUBOUND_RUN=self.path))

    def test_unrecorded_ranks_run_as_they_would(self):
        for switched_off in ({"GPUBOUND_DISABLE": "1"}, {"GPUBOUND_WAITS": "0"}):
            truth = self.start(*MPIRUN, PROGRAM, "5", LD_PRELOAD=LIBRARY, GPUBOUND_RUN=self.path, **switched_off)
            self.assertEqual(sorted(truth), list(range(RANKS)))


if __name__ == "__main__":
    unittest.main()
