# SPDX-License-Identifier: Apache-2.0
"""`gpubound export RUN --otlp`: the iterations and operations of a run as spans, sent to an OpenTelemetry collector by
the OpenTelemetry SDK, so that nothing here speaks a protocol.

An iteration of the leading process is a trace, a span `rl.loop`. What any thread of any process did while it lasted
lies beneath it, by the run's one clock; an operation outside of all iterations is a trace of its own. Names are those
that were proposed for reinforcement learning (open-telemetry/semantic-conventions-genai, issue 88) where one of them
is meant, else the operation's."""
import argparse
import bisect
import importlib
import json
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from gpubound import runs
from gpubound._live_export import INSTALL, otlp_endpoint

# Operation to the span's name.
SPAN_NAMES = {
    "rollout": "rl.sample",
    "generation": "rl.sample",
    "reward": "rl.reward",
    "update": "rl.train",
    "weight_sync": "rl.sync",
}
_BATCH = 512
_NS_PER_MS = 1_000_000


class Span(NamedTuple):
    """Times are CLOCK_REALTIME."""
    process: int
    name: str
    begin_ns: int
    end_ns: int
    attributes: Dict[str, Any]
    parent: Optional[int]  # place among the spans, before its own


class Spans(NamedTuple):
    """Of a run: by process what OpenTelemetry calls its resource, the spans, and how many were too short."""
    resources: Dict[int, Dict[str, Any]]
    spans: List[Span]
    left_out: int


def spans_of(run: runs.Run, shortest_ns: int = _NS_PER_MS) -> Spans:
    """The iterations of a run, and its operations that last at least `shortest_ns`."""
    processes = {row["process"]: row for row in run.table("process")}
    # From the run's clock to the time of day, by the process that started first.
    starts = [(row["run_begin_ns"] - (row["begin_ns"] - row["started_ns"]), row["start_realtime_ns"])
              for row in processes.values()]
    run_ns, realtime_ns = min(starts, default=(0, 0))
    base_ns = realtime_ns - run_ns
    resources = {number: _resource(row, run.path) for number, row in processes.items()}
    spans = [Span(row["process"], "rl.loop", base_ns + row["run_begin_ns"], base_ns + row["run_end_ns"],
                  {"gpubound.iteration": row["number"], "gpubound.gpu_busy_ns": row["gpu_busy_ns"],
                   "gpubound.warm_up": bool(row["warm_up"])}, None)
             for row in _leading(run.iterations.rows())]
    begins = [span.begin_ns for span in spans]
    # Clocks of hosts drift apart by less than a span of interest is long.
    shifts = {number: base_ns + row["run_begin_ns"] - row["begin_ns"] for number, row in processes.items()}
    for row, around in _operations(run, shortest_ns):
        begin_ns, end_ns = shifts[row["process"]] + row["begin_ns"], shifts[row["process"]] + row["end_ns"]
        parent = around[-1][1] if around else None
        if parent is None:
            place = bisect.bisect_right(begins, begin_ns) - 1
            if place >= 0 and begin_ns < spans[place].end_ns:
                parent = place
        attributes = {"gpubound.operation": row["name"], "thread.id": row["thread"]}
        if row["cut"]:
            attributes["gpubound.cut"] = row["cut"]  # its begin or its end was not recorded
        around.append((row["depth"], len(spans)))
        spans.append(Span(row["process"], SPAN_NAMES.get(row["name"], row["name"]), begin_ns, end_ns, attributes,
                          parent))
    (shorter,) = run.sql("select count(*) as n from scope where kind = 'operation' "
                         f"and duration_ns < {shortest_ns:d}").rows()
    return Spans(resources, spans, shorter["n"])


def _resource(process: Dict[str, Any], path: str) -> Dict[str, Any]:
    resource = {"service.name": process["name"] or "gpubound", "service.instance.id": str(process["pid"]),
                "host.name": process["host"], "process.pid": process["pid"], "rl.run.id": path,
                "telemetry.sdk.name": "gpubound"}
    if process["rank"] is not None:
        resource["gpubound.rank"] = process["rank"]
    return resource


def _leading(iterations: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Of the process with most of them, by time."""
    counts: Dict[int, int] = {}
    for row in iterations:
        counts[row["process"]] = counts.get(row["process"], 0) + 1
    leading = max(counts, key=lambda process: (counts[process], -process), default=None)
    return sorted((row for row in iterations if row["process"] == leading), key=lambda row: row["run_begin_ns"])


def _operations(run: runs.Run, shortest_ns: int) -> Iterator[Tuple[Dict[str, Any], List[Tuple[int, int]]]]:
    """Each operation, and the (depth, place) of the spans that are open around it on its thread: whoever takes it adds
    its own. Those that are shorter, of which there may be millions, are never in memory here."""
    rows = run.sql("select process, thread, begin_ns, end_ns, name, depth, cut from scope where kind = 'operation' "
                   f"and duration_ns >= {shortest_ns:d} order by process, thread, begin_ns, depth").rows()
    open_spans: List[Tuple[int, int]] = []
    thread = None
    for row in rows:
        if (row["process"], row["thread"]) != thread:
            thread, open_spans = (row["process"], row["thread"]), []
        while open_spans and open_spans[-1][0] >= row["depth"]:
            open_spans.pop()
        yield row, open_spans


class Sender:
    """Sends spans to OTLP over HTTP, in batches, and waits for each. Raises ImportError without the SDK."""

    def __init__(self, endpoint: str) -> None:
        exporter = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        exporting = importlib.import_module("opentelemetry.sdk.trace.export")
        self._success = exporting.SpanExportResult.SUCCESS
        self._exporter = exporter.OTLPSpanExporter(endpoint=endpoint + "/v1/traces")
        self._waiting: List[Any] = []
        self.failed = 0  #: spans that were not taken

    def send(self, spans: Spans) -> None:
        """Each span with its parent's trace, as the SDK makes it."""
        trace = importlib.import_module("opentelemetry.trace")
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        resources = importlib.import_module("opentelemetry.sdk.resources")
        tracers = {number: sdk.TracerProvider(resource=resources.Resource.create(attributes),
                                              shutdown_on_exit=False).get_tracer("gpubound")
                   for number, attributes in spans.resources.items()}
        made: List[Any] = []
        for span in spans.spans:
            context = None if span.parent is None else trace.set_span_in_context(made[span.parent])
            one = tracers[span.process].start_span(span.name, context=context, start_time=span.begin_ns,
                                                   attributes=span.attributes)
            one.end(span.end_ns)
            made.append(trace.NonRecordingSpan(one.get_span_context()))
            self._waiting.append(one)
            if len(self._waiting) == _BATCH:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if batch and self._exporter.export(batch) is not self._success:
            self.failed += len(batch)

    def close(self) -> None:
        self._exporter.shutdown()


def run(words: List[str]) -> int:
    """`gpubound export RUN --otlp TO`. Exit status."""
    parser = argparse.ArgumentParser(prog="gpubound export", description="Sends the iterations and operations of a "
                                     "run to an OpenTelemetry collector, as spans.")
    parser.add_argument("RUN", help="directory of a run")
    parser.add_argument("--otlp", metavar="TO", required=True, help="otlp://HOST:PORT, or otlps:// with TLS")
    parser.add_argument("--shortest-ms", metavar="MS", type=float, default=1.0,
                        help="leave out operations that are shorter (1)")
    chosen = parser.parse_args(words)
    try:
        endpoint = otlp_endpoint(chosen.otlp)
        if endpoint is None:
            raise ValueError(f"--otlp {chosen.otlp}: expected otlp://HOST:PORT, as otlp://localhost:4318")
        sender = Sender(endpoint)
        spans = spans_of(runs.open_run(chosen.RUN), int(chosen.shortest_ms * _NS_PER_MS))
    except ImportError as error:
        print(f"gpubound export --otlp: {error}; {INSTALL}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"gpubound export: {error}", file=sys.stderr)
        return 2
    except runs.RunError as error:
        print(f"gpubound export: {error}", file=sys.stderr)
        return 3
    sender.send(spans)
    sender.close()
    print(json.dumps({"spans": len(spans.spans) - sender.failed, "left_out": spans.left_out,
                      "failed": sender.failed}))
    if sender.failed:
        print(f"gpubound export: {endpoint} did not take {sender.failed} of {len(spans.spans)} spans", file=sys.stderr)
    return 1 if sender.failed else 0
