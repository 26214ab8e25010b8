# SPDX-License-Identifier: Apache-2.0
"""How a build folder compiles each source file, also those that it compiles together with their neighbours."""
import json
import pathlib
import re
import shlex

INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def entries(build):
    """By file, the entries of |build|'s compile_commands.json; a file that CMake puts into one unit with
    others (GPUBOUND_UNITY_BUILD) has the entry of that unit, as if it were compiled alone."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["file"])
        if unit.parent.name != "Unity":
            found[unit] = entry
            continue
        for file in INCLUDED.findall(unit.read_text()):
            words = [file if word == str(unit) else word for word in shlex.split(entry["command"])]
            found[pathlib.Path(file)] = {**entry, "file": file, "command": shlex.join(words)}
    return found
