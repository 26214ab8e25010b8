# SPDX-License-Identifier: Apache-2.0
"""`gpubound export --otlp`: an OTLP receiver gets the iterations and operations of a run as spans, at the times that
the program itself took. Environment: GPUBOUND_TEST_COMMAND, PYTHONPATH with the package."""
import gzip
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

import gpubound
from gpubound import _span_export

_COMMAND = os.environ["GPUBOUND_TEST_COMMAND"]
_MS = 1_000_000
# Three iterations; says when each of its operations began and ended.
_LOOP = """
import json, time
import gpubound
took = []
def during(operation, ms, inside=lambda: None):
    begin = time.time_ns()
    with gpubound.operation(operation):
        inside()
        time.sleep(ms / 1000)
    took.append((operation, begin, time.time_ns()))
during("setup", 20)
gpubound.step(0)
for i in range(3):
    during("rollout", 5, lambda: during("simulation", 20))
    during("update", 10)
    with gpubound.operation("short"):
        pass
    gpubound.step(i + 1)
during("evaluation", 20)
print(json.dumps(took))
"""


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.received.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_arguments):
        pass


class SpanExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.run_path = os.path.join(holder.name, "loop.gpubound")
        ended = subprocess.run([_COMMAND, "run", "-q", "-o", cls.run_path, "--", sys.executable, "-c", _LOOP],
                               stdout=subprocess.PIPE, text=True, check=True)
        cls.took = json.loads(ended.stdout)

    def receive(self, *words, answer=200):
        """The exit status, what it printed, and (span, resource attributes) by span id."""
        receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        receiver.received, receiver.answer = [], answer
        self.addCleanup(receiver.server_close)
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        self.addCleanup(receiver.shutdown)
        ended = subprocess.run([sys.executable, "-m", "gpubound", "export", self.run_path, "--otlp",
                                f"otlp://127.0.0.1:{receiver.server_port}", *words], capture_output=True, text=True,
                               check=False)
        spans = {}
        for path, request in receiver.received:
            self.assertEqual(path, "/v1/traces")
            for resource in request.resource_spans:
                about = {item.key: item.value for item in resource.resource.attributes}
                for scope in resource.scope_spans:
                    spans.update({span.span_id: (span, about) for span in scope.spans})
        return ended, spans

    def test_spans_are_where_the_program_was(self):
        ended, spans = self.receive()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        names = {"rollout": "rl.sample", "update": "rl.train"}
        for operation, begin_ns, end_ns in self.took:
            same = [span for span, _ in spans.values() if span.name == names.get(operation, operation) and
                    begin_ns - _MS < span.start_time_unix_nano and span.end_time_unix_nano < end_ns + _MS]
            self.assertEqual(len(same), 1, (operation, begin_ns))
            (span,) = same
            length_ns = span.end_time_unix_nano - span.start_time_unix_nano
            self.assertAlmostEqual(length_ns, end_ns - begin_ns, delta=5 * _MS, msg=operation)
        self.assertEqual(len(spans), len(self.took) + 4, "and the iterations")
        self.assertEqual(json.loads(ended.stdout), {"spans": len(spans), "left_out": 3, "failed": 0})

    def test_an_iteration_is_a_trace_with_what_was_done_in_it(self):
        _, spans = self.receive()
        loops = [span for span, _ in spans.values() if span.name == "rl.loop"]
        loops.sort(key=lambda span: span.start_time_unix_nano)
        numbers = [item.value.int_value for loop in loops for item in loop.attributes
                   if item.key == "gpubound.iteration"]
        self.assertEqual(numbers, [0, 1, 2, 3])
        for loop in loops[1:]:
            inside = [span for span, _ in spans.values() if span.trace_id == loop.trace_id]
            self.assertEqual(sorted(span.name for span in inside), ["rl.loop", "rl.sample", "rl.train", "simulation"])
            for span in inside:
                above = {"rl.loop": b"", "simulation": [s.span_id for s in inside if s.name == "rl.sample"][0]}
                self.assertEqual(span.parent_span_id, above.get(span.name, loop.span_id), span.name)
        (setup,) = [span for span, _ in spans.values() if span.name == "setup"]
        self.assertEqual(setup.parent_span_id, loops[0].span_id)
        (evaluation,) = [span for span, _ in spans.values() if span.name == "evaluation"]
        self.assertEqual(evaluation.parent_span_id, b"", "outside of all iterations")

    def test_a_process_is_a_resource(self):
        _, spans = self.receive()
        process = gpubound.open(self.run_path).table("process").rows()[0]
        for _, about in spans.values():
            self.assertEqual(about["process.pid"].int_value, process["pid"])
            self.assertEqual(about["host.name"].string_value, process["host"])
            self.assertEqual(about["rl.run.id"].string_value, self.run_path)

    def test_shorter_ones_come_when_they_are_asked_for(self):
        ended, spans = self.receive("--shortest-ms", "0")
        self.assertEqual(sum(span.name == "short" for span, _ in spans.values()), 3)
        self.assertEqual(json.loads(ended.stdout)["left_out"], 0)

    def test_a_receiver_that_refuses_is_said(self):
        ended, _ = self.receive(answer=400)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("did not take 15 of 15 spans", ended.stderr)

    def test_wrong_use_is_said(self):
        for words, status, said in ((["--otlp", "statsd:1"], 2, "expected otlp://HOST:PORT"),
                                    (["--otlp", "otlp://"], 2, "expected otlp://HOST:PORT")):
            ended = subprocess.run([sys.executable, "-m", "gpubound", "export", self.run_path, *words],
                                   stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(ended.returncode, status, words)
            self.assertIn(said, ended.stderr)
        ended = subprocess.run([sys.executable, "-m", "gpubound", "export", "/nonexistent", "--otlp", "otlp://h:1"],
                               stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(ended.returncode, 3)
        native = subprocess.run([_COMMAND, "export", self.run_path, "--otlp", "otlp://h:1"], stderr=subprocess.PIPE,
                                text=True, check=False)
        self.assertEqual(native.returncode, 2)
        self.assertIn("pip install 'gpubound[live]'", native.stderr)

    def test_a_run_without_iterations_has_a_trace_for_each_outermost_operation(self):
        class Run:
            path = "r"
            iterations = type("T", (), {"rows": staticmethod(lambda: [])})

            def table(self, _name):
                return [{"process": 1, "start_realtime_ns": 1_000_000, "started_ns": 5, "begin_ns": 15,
                         "run_begin_ns": 10, "name": "p", "pid": 7, "host": "h", "rank": 3}]

            def sql(self, query):
                row = {"process": 1, "thread": 1, "cut": None}
                found = [{"n": 1}] if "count(*)" in query else [
                    {**row, "name": "a", "depth": 0, "begin_ns": 25, "end_ns": 95},
                    {**row, "name": "b", "depth": 2, "begin_ns": 35, "end_ns": 45},
                    {**row, "name": "c", "depth": 4, "begin_ns": 38, "end_ns": 44, "cut": "end"},
                    {**row, "name": "d", "depth": 0, "begin_ns": 100, "end_ns": 104}]
                return type("T", (), {"rows": staticmethod(lambda: found)})()
        found = _span_export.spans_of(Run(), 3)
        self.assertEqual([(span.name, span.parent) for span in found.spans],
                         [("a", None), ("b", 0), ("c", 1), ("d", None)])
        self.assertEqual(found.spans[0].begin_ns, 1_000_020, "its process started at 0 of the run's clock")
        self.assertEqual(found.spans[2].attributes["gpubound.cut"], "end")
        self.assertEqual(found.left_out, 1)
        self.assertEqual(found.resources[1]["gpubound.rank"], 3)


if __name__ == "__main__":
    unittest.main()
