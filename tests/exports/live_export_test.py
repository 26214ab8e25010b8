# SPDX-License-Identifier: Apache-2.0
"""`gpubound top --export`: a Prometheus server and an OTLP receiver get what a running loop does, as the loop itself
counts it. Environment: GPUBOUND_TEST_COMMAND, PYTHONPATH with the package."""
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from gpubound import _live_export

_COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
# Two operations of one length, until it is told to end; says how many iterations a second it had.
_LOOP = """
import sys, threading, time
import gpubound
stop = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
begun = time.monotonic()
iterations = 0
while not stop.is_set():
    for operation in ("simulation", "inference"):
        with gpubound.operation(operation):
            until = time.monotonic() + 0.02
            while time.monotonic() < until:
                pass
    gpubound.step(env_steps=64)
    iterations += 1
print(iterations / (time.monotonic() - begun))
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(what, seconds=60):
    """What `what` returns once that is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing after {seconds} s of {what}")


class RunningLoop:
    """A loop that is recorded until `end`, which returns its iterations a second."""

    def __init__(self, folder):
        self.run = os.path.join(folder, "loop.gpubound")
        self._program = subprocess.Popen([_COMMAND, "run", "-q", "-o", self.run, "--", sys.executable, "-c", _LOOP],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self):
        out, _ = self._program.communicate()
        assert self._program.returncode == 0, self._program.returncode
        return float(out)


class LiveExportTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def export(self, to, run):
        exporter = subprocess.Popen([sys.executable, "-m", "gpubound", "top", run, "--export", to, "--keep", "0"],
                                    )
        self.addCleanup(lambda: (exporter.kill(), exporter.wait()))
        return exporter

    def test_a_prometheus_server_gets_what_the_loop_does(self):
        loop = RunningLoop(self.folder)
        wait_for(lambda: os.path.isdir(loop.run) and any(name.endswith(".db") for name in os.listdir(loop.run)))
        port, server_port = free_port(), free_port()
        exporter = self.export(f"prometheus:127.0.0.1:{port}", loop.run)
        settings = os.path.join(self.folder, "prometheus.yml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write("scrape_configs:\n- job_name: gpubound\n  scrape_interval: 1s\n  static_configs:\n"
                       f"  - targets: ['127.0.0.1:{port}']\n")
        with open(os.path.join(self.folder, "server.log"), "wb") as log:
            server = subprocess.Popen(["prometheus", "--config.file", settings, "--storage.tsdb.path",
                                       os.path.join(self.folder, "data"), "--web.listen-address",
                                       f"127.0.0.1:{server_port}"], stdout=log, stderr=log)
        self.addCleanup(lambda: (server.kill(), server.wait()))

        def newest(query):
            address = f"http://127.0.0.1:{server_port}/api/v1/query?query={urllib.parse.quote(query)}"
            try:
                with urllib.request.urlopen(address, timeout=5) as answer:
                    return json.load(answer)["data"]["result"]
            except OSError:
                return []

        def rate():
            return [row for row in newest("gpubound_iterations_per_second") if float(row["value"][1]) > 1]
        wait_for(rate)
        time.sleep(12)  # the windows are of ten seconds
        (row,) = rate()
        told = float(row["value"][1])
        operations = {found["metric"]["operation"]: float(found["value"][1])
                      for found in newest("gpubound_operation_ratio")}
        (work,) = newest("gpubound_work_per_second")
        (running,) = newest("gpubound_process_running")
        truth = loop.end()
        self.assertAlmostEqual(told / truth, 1, delta=0.2)
        self.assertEqual(work["metric"]["counter"], "env_steps")
        self.assertAlmostEqual(float(work["value"][1]) / (64 * truth), 1, delta=0.2)
        self.assertAlmostEqual(operations["simulation"], 0.5, delta=0.1)
        self.assertAlmostEqual(operations["inference"], 0.5, delta=0.1)
        self.assertEqual(running["value"][1], "1")
        self.assertEqual(row["metric"]["run"], loop.run)
        self.assertEqual(exporter.wait(60), 0, "it ends with the run")

    def test_an_otlp_receiver_gets_the_same(self):
        received = []

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    import gzip
                    body = gzip.decompress(body)
                received.append((self.path, ExportMetricsServiceRequest.FromString(body)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_arguments):
                pass
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.addCleanup(receiver.server_close)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.shutdown)
        loop = RunningLoop(self.folder)
        wait_for(lambda: os.path.isdir(loop.run) and any(name.endswith(".db") for name in os.listdir(loop.run)))
        exporter = self.export(f"otlp://127.0.0.1:{receiver.server_port}", loop.run)

        def gauges():
            found = {}
            for path, request in list(received):
                self.assertEqual(path, "/v1/metrics")
                for resource in request.resource_metrics:
                    for scope in resource.scope_metrics:
                        found.update({metric.name: metric for metric in scope.metrics})
            return found
        wait_for(lambda: "gpubound.iterations_per_second" in gauges() and len(received) > 1)
        loop.end()
        self.assertEqual(exporter.wait(60), 0)
        metrics = gauges()
        points = metrics["gpubound.operation_ratio"].gauge.data_points
        names = {attribute.value.string_value for point in points for attribute in point.attributes}
        self.assertLessEqual({"simulation", "inference"}, names)
        self.assertEqual(metrics["gpubound.process_age_seconds"].unit, "s")

    def test_a_killed_exporter_leaves_the_run_alone(self):
        loop = RunningLoop(self.folder)
        wait_for(lambda: os.path.isdir(loop.run) and any(name.endswith(".db") for name in os.listdir(loop.run)))
        exporter = self.export(f"prometheus:127.0.0.1:{free_port()}", loop.run)
        time.sleep(2)
        exporter.send_signal(signal.SIGKILL)
        self.assertGreater(loop.end(), 1)

    def test_wrong_destinations_are_said(self):
        for to, said in (("prometheus", "expected prometheus:PORT"), ("prometheus:x", "expected prometheus:PORT"),
                         ("prometheus:99999", "expected prometheus:PORT"), ("statsd:1", "expected prometheus:PORT or"),
                         ("otlp:localhost", "otlp://HOST:PORT")):
            ended = subprocess.run([sys.executable, "-m", "gpubound", "top", "--export", to], stderr=subprocess.PIPE,
                                   text=True, check=False)
            self.assertEqual(ended.returncode, 2, to)
            self.assertIn(said, ended.stderr, to)
        native = subprocess.run([_COMMAND, "top", "--export", "prometheus:1"], stderr=subprocess.PIPE, text=True,
                                check=False)
        self.assertEqual(native.returncode, 2)
        self.assertIn("pip install 'gpubound[live]'", native.stderr)

    def test_what_is_not_known_is_no_sample(self):
        process = {"name": "p", "pid": 1, "host": "h", "rank": None, "ended": True, "age_s": None,
                   "gpu_busy_s": [0, 2.0, 0], "operations_known": False, "operations": [], "iterations": [0, 0, 0],
                   "work": []}
        glance = {"run": "r", "windows_s": [1.0, 4.0, 4.0], "devices": [], "processes": [process]}
        found = {name: value for name, _, value in _live_export.samples(glance)}
        self.assertEqual(found, {"process_running": 0.0, "process_gpu_busy_ratio": 0.5})
        process["iterations"] = [0, 0, 3]
        found = {name: value for name, _, value in _live_export.samples(glance)}
        self.assertEqual(found["iterations_per_second"], 0.0, "it stepped a minute ago")

    def test_every_rank_has_its_own(self):
        process = {"name": "p", "pid": 1, "host": "h", "rank": 0, "ended": False, "age_s": 1.0, "gpu_busy_s": [0, 2, 0],
                   "operations_known": True, "operations": [{"name": "update", "s": [1, 3, 3]}],
                   "iterations": [1, 8, 9], "work": [{"counter": "tokens", "done": [1, 12, 13]}]}
        glance = {"run": "r", "windows_s": [1.0, 4.0, 9.0], "devices": [],
                  "processes": [process, {**process, "rank": 1, "pid": 2, "iterations": [0, 4, 4]}]}
        rows = [(name, dict(labels)["rank"], value) for name, labels, value in _live_export.samples(glance)]
        self.assertIn(("iterations_per_second", "0", 2.0), rows)
        self.assertIn(("iterations_per_second", "1", 1.0), rows)
        self.assertIn(("iteration_seconds", "1", 1.0), rows)
        self.assertIn(("operation_ratio", "1", 0.75), rows)
        self.assertIn(("work_per_second", "0", 3.0), rows)
        glance["windows_s"] = [0.0, 0.0, 0.0]
        self.assertEqual(list(_live_export.samples(glance)), [])


if __name__ == "__main__":
    unittest.main()
