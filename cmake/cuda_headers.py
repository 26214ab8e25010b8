#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the folder of CUDA's headers out of their PyPI packages: cuda_headers.py FOLDER.

They may be installed already, where this interpreter looks for modules: pip and uv do that when they build the
wheel, since pyproject.toml asks for them. Else they are fetched into FOLDER once, by pip or uv, whose index or
wheel folder is respected (PIP_INDEX_URL, PIP_FIND_LINKS, UV_INDEX_URL).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INCLUDE = "nvidia/cu13/include"
HEADERS = ("cuda_runtime_api.h", "cupti.h", "crt/host_defines.h", "nvtx3/nvToolsExt.h")


def packages():
    """Pinned by pyproject.toml."""
    pyproject = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
    return re.findall(r'"(nvidia-[\w-]+==[\d.]+)"', pyproject.read_text(encoding="utf-8"))


def holds_all(folder):
    """Whether what the packages bring together is there, and not one of them alone."""
    return all((folder / header).is_file() for header in HEADERS)


def installers():
    """Commands that install into a folder, as far as they are here. A build in isolation sees no pip."""
    yield [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    for name in ("pip3", "pip"):
        if shutil.which(name):
            yield [name, "install", "--disable-pip-version-check", "--no-compile"]
    if shutil.which("uv"):
        yield ["uv", "pip", "install", "--python", sys.executable]


def install(names, folder):
    """Whether one of the installers could; what each said is on stderr if none could."""
    said = []
    for command in installers():
        # What a configuration says of where to install is not for this folder.
        environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
        done = subprocess.run([*command, "--quiet", "--no-deps", "--only-binary=:all:", "--target", str(folder),
                               *names], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        if done.returncode == 0:
            return True
        said.append(f"{' '.join(command)}: {done.stdout.strip()}")
    print("cuda_headers: could not fetch", *names, *said, sep="\n  ", file=sys.stderr)
    return False


def fetch(folder):
    """The folder with the headers; None where they could not be had. Only they are kept."""
    final = folder / "include"
    if holds_all(final):
        return final
    with tempfile.TemporaryDirectory() as scratch:
        if not install(packages(), pathlib.Path(scratch)):
            return None
        shutil.rmtree(final, ignore_errors=True)
        final.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(os.path.join(scratch, INCLUDE), final)
    return final


def main():
    installed = [folder for folder in (pathlib.Path(entry, INCLUDE) for entry in sys.path) if holds_all(folder)]
    found = installed[0] if installed else fetch(pathlib.Path(sys.argv[1]))
    if found is None:
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
