# SPDX-License-Identifier: Apache-2.0
"""`gpubound` as a wheel installs it, and `python -m gpubound`: becomes the native command, but for the commands that
are written in Python."""
import os
import sys
from typing import List

from gpubound._summary import command_path


def main() -> int:
    """Never returns where the native command is there and is to run."""
    if sys.argv[1:2] == ["mcp"]:
        return _serve_mcp(sys.argv[2:])
    command = command_path()
    if command is None:
        print("gpubound: the native command is missing from this installation; install the wheel "
              "again", file=sys.stderr)
        return 127
    if sys.argv[1:2] == ["demo"]:
        from gpubound import _demo
        return _demo.run(sys.argv[2:], command)
    if sys.argv[1:2] == ["top"] and any(word.split("=")[0] == "--export" for word in sys.argv[2:]):
        from gpubound import _live_export
        return _live_export.run(sys.argv[2:], command)
    if sys.argv[1:2] == ["export"] and any(word.split("=")[0] == "--otlp" for word in sys.argv[2:]):
        from gpubound import _span_export
        return _span_export.run(sys.argv[2:])
    os.execv(command, [command, *sys.argv[1:]])


def _serve_mcp(words: List[str]) -> int:
    if words:
        print("Usage: gpubound mcp\n\nServes report, sql, compare and whatif to agents on stdin and stdout (Model "
              "Context Protocol).\nNeeds the extra: pip install 'gpubound[mcp]'. docs/agents.md says how to set it up.")
        return 0 if words[0] in ("-h", "--help") else 2
    from gpubound import _mcp
    return _mcp.serve()


if __name__ == "__main__":
    sys.exit(main())
