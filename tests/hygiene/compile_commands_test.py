#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that a build compiles together are known to the checkers one by one: compile_commands_test.py FOLDER,
with the folder of the module."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

from compile_commands import entries, units


class CompileCommands(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.build = pathlib.Path(scratch.name)

    def write(self, *sources):
        (self.build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.build), "file": str(source),
              "command": f"c++ -Ione '-DV=\"1\"' -o out.o -c {source}"} for source in sources]))

    def test_a_file_that_is_compiled_alone_is_as_the_build_says(self):
        self.write("/src/a.cc")
        self.assertEqual(entries(self.build)[pathlib.Path("/src/a.cc")],
                         {"directory": str(self.build), "file": "/src/a.cc",
                          "command": "c++ -Ione '-DV=\"1\"' -o out.o -c /src/a.cc"})

    def test_files_of_a_unit_have_its_flags_and_the_unit_itself_is_none(self):
        unit = self.build / "Unity" / "unity_0_cxx.cxx"
        unit.parent.mkdir()
        unit.write_text('/* generated */\n#include "/src/with space/a.cc"\n\n#include "/src/b.cc"\n')
        self.write(unit, "/src/c.cc")
        found = entries(self.build)
        self.assertEqual(sorted(map(str, found)), ["/src/b.cc", "/src/c.cc", "/src/with space/a.cc"])
        self.assertEqual(found[pathlib.Path("/src/with space/a.cc")],
                         {"directory": str(self.build), "file": "/src/with space/a.cc",
                          "command": "c++ -Ione '-DV=\"1\"' -o out.o -c '/src/with space/a.cc'"})
        self.assertEqual([(entry["file"], list(map(str, files))) for entry, files in units(self.build)],
                         [(str(unit), ["/src/with space/a.cc", "/src/b.cc"]), ("/src/c.cc", ["/src/c.cc"])])


if __name__ == "__main__":
    unittest.main()
