# SPDX-License-Identifier: Apache-2.0
"""`gpubound mcp`: what the commands that read runs say, as tools of a server that agents start and talk to on stdin
and stdout (Model Context Protocol), by the official SDK. Reads runs and writes nothing."""
import functools
import glob
import importlib
import os
import sys
from typing import Any, Callable, Dict, List, Type

from gpubound import _reader, runs

_INSTRUCTIONS = """Finds out why training is slow, and checks that a change helped. A run is the directory that
`gpubound run -q -o RUN -- python train.py` records; record it in a shell. Begin with `report`, read its
`run.data_quality` first, and act on the first finding of `diagnosis`. GPU busy is the union of all work on the device:
do not take nvidia-smi's utilisation for it. Times are nanoseconds, shares 0 to 1, intervals 95 %."""
_MOST_ROWS = 200


def _open(run: str) -> runs.Run:
    path = os.path.expanduser(run)
    if not path:
        here = sorted(glob.glob("*.gpubound"), key=os.path.getmtime)
        if not here:
            raise ValueError(f"no run was named, and there is none (*.gpubound) in {os.getcwd()}")
        path = here[-1]
    return runs.open_run(path)


def report(run: str = "", full: bool = False) -> Dict[str, Any]:
    """Where the time of a run went: verdict with evidence and action, operations, why the GPU was idle, what would
    help, and which commands open it further; below 4 KB. `run` is its directory; without it, the newest one here.
    `full` gives the whole report (gpubound.report.v1), which is long: ask with sql for single figures instead."""
    opened = _open(run)
    return opened.report() if full else opened.summary()


def sql(query: str, run: str = "", most_rows: int = 50) -> Dict[str, Any]:
    """What a query in SQLite's SQL finds in the tables of a run, of which it may only read. Times end in _ns.
    `pragma table_info(gpu)` lists the columns of a table."""
    rows = _open(run).sql(query)
    most = max(1, min(most_rows, _MOST_ROWS))
    found = rows.rows(most + 1)
    return {"columns": rows.columns, "rows": [list(row.values()) for row in found[:most]],
            "more_rows_were_left_out": len(found) > most}


def compare(before: List[str], after: List[str]) -> Dict[str, Any]:
    """How the runs of `after` differ from those of `before`, with 95 % intervals: believe a difference where
    `significant` is true. Several runs of each side are repeated measurements of the same program."""
    return runs.compare({"before": [_open(run) for run in before], "after": [_open(run) for run in after]})


def whatif(run: str = "", scale: List[str] = [],  # noqa: B006  # the SDK shows the default, and nobody changes it
           graph_capture: List[str] = [], fuse: List[str] = [], gpu: str = "",  # noqa: B006
           vectorise: float = 1, copies: int = 0, move_gpus: str = "") -> Dict[str, Any]:
    """What the run would take with parts of it faster or slower. `scale` has PART=NAME:FACTOR, as
    operation=simulation:0.5, operation-cpu=, operation-gpu=, layer=python:0, kernel=gemm:0.8, or device:0.5 for all
    GPU work. `graph_capture` names operations whose launches become one CUDA graph, `fuse` those whose kernels become
    one. `gpu` is another GPU, as A100 or RTX 4090. `vectorise` puts so many times the environments into each launch.
    `copies` says what up to so many runs like this one get done on its GPU. `move_gpus` gives GPUs of one role to
    another, as rollout:train:1."""
    imagined = _open(run).whatif(*scale, graph_capture=graph_capture, fuse=fuse, gpu=gpu, vectorise=vectorise,
                                 copies=copies, move_gpus=move_gpus)
    return {name: value for name, value in imagined.items() if name not in ("before", "after")}


def _telling(tool: Callable[..., Any], error_class: Type[Exception]) -> Callable[..., Any]:
    """The tool with errors that the agent can act on in the SDK's class: it hides all others."""
    @functools.wraps(tool)
    def told(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except (ValueError, runs.RunError) as error:
            raise error_class(str(error)) from error
    return told


def serve() -> int:
    """Until stdin ends. Exit status."""
    for module, name in (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP")):  # SDK 2, SDK 1
        try:
            server = getattr(importlib.import_module(module), name)("gpubound", instructions=_INSTRUCTIONS)
            tool_error = importlib.import_module(module + ".exceptions").ToolError
            break
        except ImportError:
            continue
    else:
        print("gpubound mcp: the MCP SDK is not installed; pip install 'gpubound[mcp]'", file=sys.stderr)
        return 2
    tables = "; ".join(f"{name}: {summary}" for name, summary in _reader.tables())
    for tool, more in ((report, ""), (sql, f"\nTables: {tables}."), (compare, ""), (whatif, "")):
        server.tool(description=f"{tool.__doc__}{more}")(_telling(tool, tool_error))
    server.run("stdio")
    return 0
