#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_network.py FILE...: names each file that could open a network connection. Exits 1 if any could.

A connection needs one of these functions of libc's. (socketpair makes none: both ends are the program's.)
"""
import re
import subprocess
import sys

NETWORK = re.compile(r"socket|connect|bind|listen|accept4?|sendto|sendmsg|getaddrinfo|gethostby\w+|res_n?query")


def refers_to(path):
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", path], capture_output=True, text=True, check=True)
    rows = (line.split() for line in symbols.stdout.splitlines())
    return sorted({row[7].split("@")[0] for row in rows if len(row) >= 8 and row[6] == "UND"})


def main():
    found = [(path, name) for path in sys.argv[1:] for name in refers_to(path) if NETWORK.fullmatch(name)]
    for path, name in found:
        print(f"{path}: refers to {name}, and no part of gpubound is to open a network connection")
    return 1 if found or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
