#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering checker finds what it is there to find: check_layering_test.py CHECKER."""
import unittest

from checker_case import CheckerCase


class LayeringChecker(CheckerCase):
    def setUp(self):
        super().setUp()
        self.write("proto/event_model.h", "")
        self.write("analysis/reader.h", "")
        self.write("libprofiler/env_vars.h", "")
        self.write("libprofiler/clock.h", "")

    def test_allowed_includes_pass(self):
        self.write("analysis/sweep.cc", '#include "proto/event_model.h"\n#include <vector>\n')
        self.write("tools/cmd_env.cc", '#include "libprofiler/env_vars.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_a_source_at_the_root_belongs_to_no_room(self):
        self.write("main.cc", "int main() {}\n")
        self.assertEqual(self.check(), (1, "main.cc: belongs to no room\n"))

    def test_the_collector_may_not_include_the_analysis(self):
        self.write("libprofiler/a.cc", '#include "analysis/reader.h"\n')
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn("libprofiler/a.cc:1: libprofiler/ may not include analysis/reader.h", text)

    def test_tools_may_include_only_the_variable_table_of_the_collector(self):
        self.write("tools/cmd_run.cc", '#include "libprofiler/clock.h"\n')
        self.assertEqual(self.check()[0], 1)

    def test_sqlite_is_confined_to_one_file_on_each_side(self):
        self.write("analysis/sqlite.cc", "#include <sqlite3.h>\n")
        self.write("analysis/reader.cc", "#include <sqlite3.h>\n")
        code, text = self.check()
        self.assertEqual(code, 1)
        self.assertIn("analysis/reader.cc:1", text)
        self.assertNotIn("analysis/sqlite.cc:1", text)

    def test_iostream_is_banned_from_the_injected_half(self):
        self.write("libprofiler/log.cc", "#include <iostream>\n")
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
