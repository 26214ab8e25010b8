# SPDX-License-Identifier: Apache-2.0
"""`gpubound top --export`: what a running run does, for a monitoring system. Reads what `gpubound top --json` writes
and hands it to the official client of the system, so that nothing here speaks a protocol."""
import argparse
import importlib
import json
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

Glance = Dict[str, Any]
Labels = Tuple[Tuple[str, str], ...]
Sample = Tuple[str, Labels, float]

# Name without prefix, unit, and what it says. All are of the last ten seconds.
SERIES = {
    "device_busy_ratio": ("1", "Part of the time in which the GPU ran recorded work"),
    "process_gpu_busy_ratio": ("1", "Part of the time in which the GPU ran work of the process"),
    "process_running": ("1", "1 while the process goes on, then 0"),
    "process_age_seconds": ("s", "Age of the newest record of the process"),
    "operation_ratio": ("1", "Part of the process's time that was the operation's"),
    "iterations_per_second": ("1/s", "Iterations of the process that ended"),
    "iteration_seconds": ("s", "Mean length of those iterations"),
    "work_per_second": ("1/s", "What the process counted: env_steps, samples, tokens"),
}
_WINDOW = 1  # of 1, 10 and 60 seconds
INSTALL = "pip install 'gpubound[live]'"


def samples(glance: Glance) -> Iterator[Sample]:
    """(series, labels, value) of a glance, a line of `gpubound top --json`. None where nothing is known yet."""
    window = glance["windows_s"][_WINDOW]
    if window <= 0:
        return
    run = (("run", glance["run"]),)
    for device in glance["devices"]:
        yield "device_busy_ratio", run + (("device", device["name"]),), device["busy_s"][_WINDOW] / window
    for process in glance["processes"]:
        rank = "" if process["rank"] is None else str(process["rank"])
        labels = run + (("host", process["host"]), ("pid", str(process["pid"])), ("process", process["name"]),
                        ("rank", rank))
        yield "process_running", labels, 0.0 if process["ended"] else 1.0
        yield "process_gpu_busy_ratio", labels, process["gpu_busy_s"][_WINDOW] / window
        if process["age_s"] is not None:
            yield "process_age_seconds", labels, process["age_s"]
        for operation in process["operations"]:
            yield "operation_ratio", labels + (("operation", operation["name"]),), operation["s"][_WINDOW] / window
        iterations = process["iterations"][_WINDOW]
        if process["iterations"][-1]:
            yield "iterations_per_second", labels, iterations / window
        if iterations:
            yield "iteration_seconds", labels, window / iterations
        for work in process["work"]:
            yield "work_per_second", labels + (("counter", work["counter"]),), work["done"][_WINDOW] / window


class Prometheus:
    """Serves the newest glance at http://:PORT/metrics, by prometheus_client."""

    def __init__(self, port: int, host: str = "0.0.0.0") -> None:
        self._client = importlib.import_module("prometheus_client")
        core = importlib.import_module("prometheus_client.core")
        self._family: Callable[..., Any] = core.GaugeMetricFamily
        self._newest: List[Sample] = []
        registry = core.CollectorRegistry()
        registry.register(self)
        self._server, self._thread = self._client.start_http_server(port, addr=host, registry=registry)
        self.port: int = self._server.server_port

    def take(self, glance: Glance) -> None:
        self._newest = list(samples(glance))

    def collect(self) -> Iterator[Any]:
        """Asked by prometheus_client, from its own thread."""
        families: Dict[str, Any] = {}
        for name, labels, value in self._newest:
            if name not in families:
                families[name] = self._family("gpubound_" + name, SERIES[name][1],
                                              labels=[label for label, _ in labels])
            families[name].add_metric([value_of for _, value_of in labels], value)
        yield from families.values()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Otlp:
    """Sends glances to an OpenTelemetry collector over HTTP, by the OpenTelemetry SDK, every ten seconds."""

    def __init__(self, endpoint: str, every_s: float = 10.0) -> None:
        exporter = importlib.import_module("opentelemetry.exporter.otlp.proto.http.metric_exporter")
        metrics = importlib.import_module("opentelemetry.sdk.metrics")
        reading = importlib.import_module("opentelemetry.sdk.metrics.export")
        self._observation: Callable[..., Any] = importlib.import_module("opentelemetry.metrics").Observation
        self._newest: List[Sample] = []
        reader = reading.PeriodicExportingMetricReader(
            exporter.OTLPMetricExporter(endpoint=endpoint + "/v1/metrics"), export_interval_millis=1000 * every_s)
        self._provider = metrics.MeterProvider(metric_readers=[reader])
        meter = self._provider.get_meter("gpubound")
        for name, (unit, text) in SERIES.items():
            meter.create_observable_gauge("gpubound." + name, callbacks=[self._observer(name)], unit=unit,
                                          description=text)

    def take(self, glance: Glance) -> None:
        self._newest = list(samples(glance))

    def _observer(self, name: str) -> Callable[[Any], List[Any]]:
        return lambda _options: [self._observation(value, dict(labels))
                                 for series, labels, value in self._newest if series == name]

    def close(self) -> None:
        """Sends what is there, too."""
        self._provider.shutdown()


def otlp_endpoint(to: str) -> Optional[str]:
    """The URL of `otlp://HOST:PORT`, or `otlps://` with TLS; None for anything else."""
    kind, _, where = to.partition(":")
    if kind not in ("otlp", "otlps") or not where.startswith("//") or len(where) == 2:
        return None
    return ("http" if kind == "otlp" else "https") + ":" + where.rstrip("/")


def open_exporter(to: str) -> Any:
    """`prometheus:PORT`, or `otlp://HOST:PORT` (`otlps://` with TLS).

    Raises ValueError for anything else, and ImportError without the client."""
    kind, _, where = to.partition(":")
    if kind == "prometheus":
        host, _, port = where.rpartition(":")
        if not port.isdigit() or int(port) > 65535:
            raise ValueError(f"--export {to}: expected prometheus:PORT, as prometheus:9400")
        return Prometheus(int(port), host or "0.0.0.0")
    endpoint = otlp_endpoint(to)
    if endpoint is not None:
        return Otlp(endpoint)
    raise ValueError(f"--export {to}: expected prometheus:PORT or otlp://HOST:PORT")


def follow(command: str, words: List[str], take: Callable[[Glance], None]) -> int:
    """Hands each line of `gpubound top --json` on until the run is over. The command's exit status."""
    with subprocess.Popen([command, "top", "--json", *words], stdout=subprocess.PIPE, text=True) as top:
        assert top.stdout is not None
        try:
            for line in top.stdout:
                take(json.loads(line))
        except KeyboardInterrupt:
            top.terminate()
            return 0
    return top.returncode


def run(words: List[str], command: str) -> int:
    """`gpubound top RUN --export TO`. Exit status."""
    parser = argparse.ArgumentParser(prog="gpubound top", description="Serves or sends what a run does while it "
                                     "goes on, and ends with it.")
    parser.add_argument("RUN", nargs="?", help="directory of a run; without it, the newest *.gpubound here")
    parser.add_argument("--export", metavar="TO", required=True, help="prometheus:PORT or otlp://HOST:PORT")
    parser.add_argument("--keep", metavar="SECONDS", type=float, default=15.0,
                        help="serve the last values for so long after the run's end (15)")
    chosen = parser.parse_args(words)
    exporter: Optional[Any] = None
    try:
        exporter = open_exporter(chosen.export)
    except ImportError as error:
        print(f"gpubound top --export: {error}; {INSTALL}", file=sys.stderr)
        return 2
    except (ValueError, OSError) as error:
        print(f"gpubound top: {error}", file=sys.stderr)
        return 2
    status = follow(command, [chosen.RUN] if chosen.RUN else [], exporter.take)
    if status == 0 and isinstance(exporter, Prometheus):
        try:
            time.sleep(chosen.keep)
        except KeyboardInterrupt:
            pass
    exporter.close()
    return status
