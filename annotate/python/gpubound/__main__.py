# SPDX-License-Identifier: Apache-2.0
"""`gpubound` as a wheel installs it, and `python -m gpubound`: becomes the native command."""
import os
import sys

from gpubound._summary import command_path


def main() -> int:
    """Never returns where the command is there."""
    command = command_path()
    if command is None:
        print("gpubound: the native command is missing from this installation; install the wheel "
              "again", file=sys.stderr)
        return 127
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
