# SPDX-License-Identifier: Apache-2.0
"""gpubound.summary() in TensorBoard and in Weights & Biases, as docs/python.md shows it: its own lines
are run in a profiled program, and what they logged is read back with each tool's reader. Offline.
Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PACKAGE."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
BLOCK = 32768
# Long enough for what was recorded to be in the trace, which is written once a second.
PROGRAM = """
import time
import gpubound

for _ in range(25):
    with gpubound.operation("simulation"):
        time.sleep(0.1)
global_step = 7
{shown}
{end}
"""


def shown_for(title):
    """The indented lines below `title` in docs/python.md."""
    lines = DOCS.read_text().split(f"\n{title}:\n", 1)[1].splitlines()
    shown = []
    for line in lines:
        if line and not line.startswith("    "):
            break
        shown.append(line)
    return textwrap.dedent("\n".join(shown)).strip()


def wandb_records(path):
    """The records of an offline run's file: LevelDB's log format behind a header of seven bytes."""
    data, at, parts = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if BLOCK - at % BLOCK < 7:  # no record begins so late in a block
            at += BLOCK - at % BLOCK
            continue
        length, kind = struct.unpack_from("<HB", data, at + 4)
        parts += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""


class DashboardsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def profile(self, shown, end, **variables):
        script = self.folder / "program.py"
        script.write_text(PROGRAM.format(shown=shown, end=end))
        environment = {**os.environ, **variables,
                       "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]}
        done = subprocess.run(
            [os.environ["GPUBOUND_TEST_COMMAND"], "run", "-q", "-o", self.folder / "run.gpubound", "--",
             sys.executable, script],
            cwd=self.folder, env=environment, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, figures):
        self.assertGreater(figures["gpubound/span_s"], 2)
        self.assertGreater(figures["gpubound/simulation/wall_s"], 1)
        self.assertGreater(figures["gpubound/simulation/count"], 10)

    def test_tensorboard(self):
        shown = shown_for("TensorBoard")
        self.assertIn("gpubound.summary()", shown)
        self.profile(shown, "writer.close()")
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        files = list(self.folder.glob("runs/*/events*"))
        self.assertEqual(len(files), 1)
        events = EventAccumulator(str(files[0]))
        events.Reload()
        scalars = {name: events.Scalars(name) for name in events.Tags()["scalars"]}
        self.assertTrue(all(len(values) == 1 and values[0].step == 7 for values in scalars.values()))
        self.check({name: values[0].value for name, values in scalars.items()})

    def test_wandb(self):
        shown = shown_for("Weights & Biases")
        self.assertIn("gpubound.summary()", shown)
        self.profile("import wandb\nwandb.init(project='cartpole')\n" + shown, "wandb.finish()",
                     WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=str(self.folder))
        from wandb.proto import wandb_internal_pb2
        files = list(self.folder.glob("wandb/offline-run-*/*.wandb"))
        self.assertEqual(len(files), 1)
        logged = []
        for data in wandb_records(files[0]):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            if record.HasField("history"):
                logged.append(record.history)
        self.assertEqual([history.step.num for history in logged], [7])
        self.check({"/".join(item.nested_key) or item.key: float(item.value_json)
                    for item in logged[0].item if not item.key.startswith("_")
                    and not "/".join(item.nested_key).startswith("_")})


if __name__ == "__main__":
    unittest.main()
