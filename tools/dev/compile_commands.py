# SPDX-License-Identifier: Apache-2.0
"""How a build folder compiles each source file, also those that it compiles together with their neighbours."""
import json
import pathlib
import re
import shlex

INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def units(build):
    """The entries of |build|'s compile_commands.json, each with the files that it compiles: several where
    CMake puts them into one unit (GPUBOUND_UNITY_BUILD)."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if is_unit(file):
            yield entry, [pathlib.Path(one) for one in INCLUDED.findall(file.read_text())]
        else:
            yield entry, [file]


def is_unit(file):
    """Whether CMake has written it to compile several files."""
    return file.parent.name == "Unity"


def entries(build):
    """By file, the entries of |build|'s compile_commands.json; a file of a unit has the entry of that unit, as
    if it were compiled alone."""
    found = {}
    for entry, files in units(build):
        for file in files:
            words = [str(file) if word == entry["file"] else word
                     for word in shlex.split(entry["command"])]
            found[file] = {**entry, "file": str(file), "command": shlex.join(words)}
    return found
