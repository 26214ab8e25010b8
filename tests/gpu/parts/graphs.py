# SPDX-License-Identifier: Apache-2.0
"""What CUPTI records of a CUDA graph at each level, and whose time it becomes."""
from harness.recording import check_sound

TITLE = "CUDA graphs at node, graph and auto level"

NODES = 20
REPLAYS = 200


def run(verdict, machine):
    program = machine.build("graphs")
    busy = {}
    for level in ("node", "graph", "auto"):
        recording = machine.record([program, NODES, REPLAYS], options=["--graphs", level])
        verdict.equal(recording.outcome.status, 0, f"{level}: the program ends well")
        work = recording.process["work"]
        verdict.figure(f"{level}: work in graphs", work)
        expected = NODES * REPLAYS if level == "node" else REPLAYS
        kind = "kernel" if level == "node" else "graph"
        verdict.equal(work["kinds"].get(kind, 0), expected, f"{level}: one {kind} for each one run")
        verdict.equal(work["in_graphs"], expected, f"{level}: each knows its graph")
        verdict.equal(work["launched_by_graph"], expected,
                      f"{level}: each has the correlation of its cudaGraphLaunch")
        verdict.equal(recording.ledger("graphs_before_recording"), 0,
                      f"{level}: every graph was seen being made")
        if level == "auto":
            nodes = recording.rows("select name, operation from graph_node where type = 0")
            verdict.equal(len(nodes), NODES, "auto: the nodes of the graph are known")
            verdict.check(all("Spin" in (name or "") for name, _ in nodes), "auto: by their names",
                          str(nodes[:2]))
            verdict.check(all(operation for _, operation in nodes),
                          "auto: with the operation that captured them")
            listed = [node for process in recording.report["processes"]
                      for kernel in process["kernels"] for node in kernel.get("nodes", [])]
            verdict.equal(sum(node["count"] for node in listed), NODES,
                          "auto: nodes and records name the graph alike")
        check_sound(verdict, recording, f"graphs at level {level}", machine.device_kind)
        row = [row for process in recording.report["processes"] for row in process["operations"]
               if row["operation"] == "inference"]
        busy[level] = sum(one["gpu_caused_ns"] for one in row)
        # A launch comes right behind the begin of the operation: clocks that differ by a tenth of a
        # microsecond would put it before.
        of_all = busy[level] / recording.process["work"]["busy_ns"]
        verdict.check(of_all > 0.99, f"{level}: the time belongs to what launched the graph",
                      f"{busy[level] / 1e6:.3f} ms, {100 * of_all:.1f} % of all")
    verdict.check(busy["graph"] >= 0.95 * busy["node"],  # a record makes each node longer
                  "a graph as a whole is no shorter than its nodes",
                  f"{busy['graph'] / busy['node']:.3f} times")
    check_added(verdict, machine, program)


def check_added(verdict, machine, program):
    """Of kernels that the program adds to a graph itself."""
    recording = machine.record([program, NODES, REPLAYS, "added"], options=["--graphs", "auto"])
    verdict.equal(recording.outcome.status, 0, "added: the program ends well")
    verdict.equal(recording.process["work"]["launched_by_graph"], REPLAYS,
                  "added: each graph has the correlation of its cudaGraphLaunch")
    nodes = recording.rows("select name, operation from graph_node where type = 0")
    verdict.equal(len(nodes), NODES, "added: the nodes of the graph are known")
    verdict.check(all(operation for _, operation in nodes),
                  "added: with the operation that added them")
    if machine.simulated:
        verdict.left_out("added: their names", "the stand-in for the driver is not loaded")
        return
    verdict.check(all("Spin" in (name or "") for name, _ in nodes), "added: by their names",
                  str(nodes[:2]))
