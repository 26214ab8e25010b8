#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unpacks the headers of CUDA's PyPI packages into a folder: fetch_cuda_headers.py DEST.

Pinned versions. Only `include/` is kept; no library is unpacked. Downloads through pip, so a
configured index or wheel folder (PIP_INDEX_URL, PIP_FIND_LINKS) is respected.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = [
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cupti==13.0.85",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvtx==13.0.85",
]
PREFIX = "nvidia/cu13/include/"


def main() -> int:
    destination = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--disable-pip-version-check", "--only-binary=:all:", "--dest", scratch]
        result = subprocess.run(command + PACKAGES, check=False)
        if result.returncode != 0:
            print(f"fetch_cuda_headers: pip could not download {' '.join(PACKAGES)}",
                  file=sys.stderr)
            return 1
        staging = pathlib.Path(scratch) / "include"
        for wheel in sorted(pathlib.Path(scratch).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if name.startswith(PREFIX) and not name.endswith("/"):
                        target = staging / name[len(PREFIX):]
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(archive.read(name))
        final = destination / "include"
        shutil.rmtree(final, ignore_errors=True)
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(str(staging), str(final))
    return 0


if __name__ == "__main__":
    sys.exit(main())
