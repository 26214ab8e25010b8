#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering checker finds what it is there to find: check_layering_test.py CHECKER."""
import unittest

from checker_case import CheckerCase


class LayeringChecker(CheckerCase):
    def setUp(self):
        super().setUp()
        self.write("proto/event_model.h", "")
        self.write("analysis/base/status.h", "")
        self.write("analysis/reader/reader.h", "")
        self.write("analysis/report/report.h", "")
        self.write("analysis/sweep/overlap_sweep.h", "")
        self.write("cupti_hooks/cupti/cupti_api.h", "")
        self.write("libprofiler/env_vars.h", "")
        self.write("libprofiler/clock.h", "")

    def assert_only(self, violation):
        self.assertEqual(self.check(), (1, violation + "\n"))

    def test_allowed_includes_pass(self):
        self.write("analysis/sweep/sweep.cc", '#include "analysis/base/status.h"\n'
                   '#include "analysis/sweep/overlap_sweep.h"\n#include "proto/event_model.h"\n#include <vector>\n')
        self.write("tools/commands/cmd_env.cc", '#include "analysis/report/report.h"\n'
                   '#include "libprofiler/env_vars.h"\n')
        self.write("tests/cupti_hooks/a_test.cc", '#include "cupti_hooks/cupti/cupti_api.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_a_source_at_the_root_belongs_to_no_room(self):
        self.write("main.cc", "int main() {}\n")
        self.assert_only("main.cc: belongs to no room")

    def test_a_source_beside_the_rooms_of_its_part_belongs_to_no_room(self):
        for name in ["analysis/sweep.cc", "analysis/helpers/a.h", "analysis/output/a.cc", "tools/main.cc"]:
            with self.subTest(name):
                self.write(name, "")
                self.assert_only(f"{name}: belongs to no room")
                (self.root / name).unlink()

    def test_the_collector_may_not_include_the_analysis(self):
        self.write("libprofiler/a.cc", '#include "analysis/reader/reader.h"\n')
        self.assert_only("libprofiler/a.cc:1: libprofiler/ may not include analysis/reader/reader.h")

    def test_a_room_may_not_include_one_above_it(self):
        self.write("analysis/base/a.cc", '\n#include "analysis/reader/reader.h"\n')
        self.assert_only("analysis/base/a.cc:2: analysis/base/ may not include analysis/reader/reader.h")

    def test_the_text_of_a_report_may_not_include_the_engine(self):
        for engine in ["analysis/sweep/overlap_sweep.h", "analysis/reader/reader.h"]:
            with self.subTest(engine):
                self.write("analysis/output/text/a.cc", f'#include "{engine}"\n')
                self.assert_only(f"analysis/output/text/a.cc:1: analysis/output/text/ may not include {engine}")

    def test_injection_lies_above_the_rooms_of_the_device_source(self):
        self.write("cupti_hooks/injection.cc", '#include "cupti_hooks/cupti/cupti_api.h"\n')
        self.assertEqual(self.check(), (0, ""))
        self.write("cupti_hooks/nvtx/a.cc", '#include "cupti_hooks/cupti/cupti_api.h"\n')
        self.assert_only("cupti_hooks/nvtx/a.cc:1: cupti_hooks/nvtx/ may not include "
                         "cupti_hooks/cupti/cupti_api.h")

    def test_tools_may_include_only_the_variable_table_of_the_collector(self):
        self.write("tools/commands/cmd_run.cc", '#include "libprofiler/clock.h"\n')
        self.assertEqual(self.check()[0], 1)

    def test_sqlite_is_confined_to_one_file_on_each_side(self):
        self.write("analysis/segments/sqlite.cc", "#include <sqlite3.h>\n")
        self.assertEqual(self.check(), (0, ""))
        self.write("analysis/reader/reader.cc", "#include <sqlite3.h>\n")
        self.assertIn("analysis/reader/reader.cc:1", self.check()[1])

    def test_iostream_is_banned_from_the_injected_half(self):
        for room in ["libprofiler", "cupti_hooks/cupti"]:
            with self.subTest(room):
                self.write(f"{room}/log.cc", "#include <iostream>\n")
                self.assert_only(f"{room}/log.cc:1: <iostream> does not belong in the injected half")
                (self.root / room / "log.cc").unlink()


if __name__ == "__main__":
    unittest.main()
