# SPDX-License-Identifier: Apache-2.0
"""gpubound.integrations against the real packages, offline: what they logged is read back with each tool's reader, and
what a call costs the training thread. Environment: GPUBOUND_TEST_COMMAND, GPUBOUND_TEST_PACKAGE."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from dashboards_test import wandb_records

# Calls between which new figures come, and those that find none.
LOOP = """
import json, time
import gpubound
from gpubound.integrations import _follower
{setup}
_follower.start(1.0)
times, logged = [], 0
until = time.monotonic() + {seconds}
step = 0
while time.monotonic() < until and logged < 2:
    with gpubound.operation("simulation"):
        time.sleep(0.05)
    gpubound.step(env_steps=4)
    step += 1
    began = time.thread_time()
    was_new = {call}
    times.append(time.thread_time() - began)
    logged += was_new
    {more}
{end}
print(json.dumps({{"logged": logged, "worst_s": max(times), "calls": len(times)}}))
"""
SB3 = """
import gymnasium
from stable_baselines3 import PPO
from gpubound.integrations import _follower, tensorboard
_follower.start(0.5)
model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=64, tensorboard_log="logs", device="cpu")
model.learn(STEPS, callback=tensorboard.sb3_callback())
"""
TRAINER = """
import torch, transformers
from torch.utils.tensorboard import SummaryWriter
from gpubound.integrations import _follower, tensorboard
_follower.start(0.5)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def forward(self, x, labels=None):
        value = self.layer(x).squeeze(-1)
        return {"loss": (value - labels).pow(2).mean(), "logits": value}

writer = SummaryWriter("logs")
data = [{"x": torch.randn(8), "labels": torch.randn(())} for _ in range(STEPS)]
arguments = transformers.TrainingArguments("out", per_device_train_batch_size=1, report_to=[], use_cpu=True,
                                           save_strategy="no", disable_tqdm=True)
transformers.Trainer(Model(), arguments, train_dataset=data,
                     callbacks=[tensorboard.trainer_callback(writer)]).train()
writer.close()
"""
# TRL's own trainer, which takes a callback as it takes a model.
GRPO = f"""
import runpy, sys, trl
from torch.utils.tensorboard import SummaryWriter
from gpubound.integrations import _follower, tensorboard
_follower.start(0.5)
writer = SummaryWriter("logs")
made = trl.GRPOTrainer
trl.GRPOTrainer = lambda **named: made(callbacks=[tensorboard.trainer_callback(writer)], **named)
sys.argv = ["trl_grpo.py", "STEPS"]
runpy.run_path({os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth", "programs", "trl_grpo.py")!r},
               run_name="__main__")
writer.close()
"""
LIGHTNING = """
import torch, lightning.pytorch as lightning
from lightning.pytorch.loggers import TensorBoardLogger
from gpubound.integrations import _follower, tensorboard
_follower.start(0.5)

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)

data = torch.utils.data.DataLoader(torch.randn(STEPS, 8))
trainer = lightning.Trainer(max_epochs=1, logger=TensorBoardLogger("logs"), accelerator="cpu",
                            enable_progress_bar=False, enable_checkpointing=False,
                            callbacks=[tensorboard.lightning_callback()])
trainer.fit(Model(), data)
"""


class IntegrationsTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def profile(self, program, **variables):
        (self.folder / "program.py").write_text(program)
        done = subprocess.run(
            [os.environ["GPUBOUND_TEST_COMMAND"], "run", "-q", "-o", "run.gpubound", "--", sys.executable,
             "program.py"],
            cwd=self.folder, env={**os.environ, **variables, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]},
            text=True, capture_output=True, check=False, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def loop(self, setup, call, end="", more="", **variables):
        said = json.loads(self.profile(LOOP.format(setup=setup, call=call, end=end, more=more, seconds=150),
                                       **variables).splitlines()[-1])
        self.assertGreaterEqual(said["logged"], 2)
        self.assertGreater(said["calls"], said["logged"])
        self.assertLess(said["worst_s"], 0.005)
        return said

    def check(self, figures):
        self.assertGreater(figures["gpubound/span_s"], 1)
        self.assertGreater(figures["gpubound/simulation/wall_s"], 0.5)
        self.assertGreater(figures["gpubound/env_steps_per_s"], 1)
        self.assertGreater(figures["gpubound/iteration_median_s"], 0.04)

    def scalars(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        values = {}
        for file in self.folder.glob("logs/**/events*"):
            events = EventAccumulator(str(file))
            events.Reload()
            for name in events.Tags()["scalars"]:
                values.setdefault(name, []).extend(events.Scalars(name))
        return values

    def test_tensorboard(self):
        self.loop("from torch.utils.tensorboard import SummaryWriter\nfrom gpubound.integrations import tensorboard\n"
                  "writer = SummaryWriter('logs')", "tensorboard.log(writer, step)", "writer.close()")
        scalars = self.scalars()
        self.assertEqual(len(scalars["gpubound/span_s"]), 2)
        self.check({name: values[-1].value for name, values in scalars.items()})

    def test_wandb(self):
        self.loop("import wandb as tool\ntool.init(project='x')\nfrom gpubound.integrations import wandb",
                  "wandb.log(step)", "tool.finish()", "tool.log({'loss': 1.0})", WANDB_MODE="offline",
                  WANDB_SILENT="true", WANDB_DIR=str(self.folder))
        from wandb.proto import wandb_internal_pb2
        [file] = self.folder.glob("wandb/offline-run-*/*.wandb")
        logged = []
        for data in wandb_records(file):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            if record.HasField("history"):
                logged.append({"/".join(item.nested_key) or item.key: json.loads(item.value_json)
                               for item in record.history.item})
        self.assertGreater(len(logged), 20)  # the program's own, each of a step of its own
        found = [figures for figures in logged if "gpubound/span_s" in figures]
        self.assertEqual(len(found), 2)
        self.check(found[-1])
        self.assertEqual(found[-1]["loss"], 1.0)

    def test_mlflow(self):
        store = f"file://{self.folder}/mlruns"
        self.loop("import mlflow as tool\nfrom gpubound.integrations import mlflow\ntool.start_run()",
                  "mlflow.log(step)", "tool.flush_async_logging()\ntool.end_run()", MLFLOW_TRACKING_URI=store,
                  MLFLOW_ALLOW_FILE_STORE="true")
        import mlflow
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        client = mlflow.MlflowClient(store)
        [run] = client.search_runs(["0"])
        self.assertEqual(len(client.get_metric_history(run.info.run_id, "gpubound/span_s")), 2)
        self.check(run.data.metrics)

    def test_trackio(self):
        self.loop("import trackio as tool\nfrom gpubound.integrations import trackio\n"
                  "tool.init(project='x', embed=False)", "trackio.log(step)", "tool.finish()",
                  TRACKIO_DIR=str(self.folder / "trackio"), HF_HUB_OFFLINE="1")
        import sqlite3
        [file] = self.folder.glob("trackio/*.db")
        rows = [json.loads(row[0]) for row in sqlite3.connect(file).execute("select metrics from metrics order by id")]
        found = [row for row in rows if "gpubound/span_s" in row]
        self.assertEqual(len(found), 2)
        self.check(found[-1])

    def trained(self, program, steps):
        self.profile(program.replace("STEPS", str(steps)), HF_HUB_OFFLINE="1")
        values = self.scalars()["gpubound/span_s"]
        self.assertGreaterEqual(len(values), 2)
        self.assertGreater(values[-1].step, values[0].step)

    def test_stable_baselines3_logs_while_it_trains(self):
        self.trained(SB3, 6000)

    def test_transformers_logs_while_it_trains(self):
        self.trained(TRAINER, 1500)

    def test_grpo_of_trl_logs_while_it_trains(self):
        self.trained(GRPO, 40)

    def test_lightning_logs_while_it_trains(self):
        self.trained(LIGHTNING, 4000)

    def test_where_nobody_records_nothing_is_logged_or_started(self):
        done = subprocess.run(
            [sys.executable, "-c", "from gpubound.integrations import tensorboard, _follower\n"
             "assert tensorboard.log(None, 1) is False and _follower._shared is None"], capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": os.environ["GPUBOUND_TEST_PACKAGE"]}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
