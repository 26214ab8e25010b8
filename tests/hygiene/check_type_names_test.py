#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of type names finds what it is there to find: check_type_names_test.py CHECKER."""
import unittest

from checker_case import CheckerCase


def in_namespace(name, text):
    entered = f"namespace {name} {{" if name else "namespace {"
    left = f"}}  // namespace {name}" if name else "}  // namespace"
    return f"namespace gpubound {{\n{entered}\n{text}\n{left}\n}}  // namespace gpubound\n"


class TypeNamesChecker(CheckerCase):
    def setUp(self):
        super().setUp()
        self.write("proto/slot.h", "namespace gpubound {\nstruct Slot {\n};\n}  // namespace gpubound\n")

    def define_again(self, path, line):
        self.write(path, f"namespace gpubound {{\n{line}\n}}  // namespace gpubound\n")

    def test_two_types_of_one_name_are_found_in_each_half(self):
        for path in ["analysis/a.h", "libprofiler/a.cc"]:
            with self.subTest(path):
                self.define_again(path, "class Slot final : public Base {")
                self.assertEqual(self.check(),
                                 (1, f"gpubound::Slot names 2 types: {path}:2, proto/slot.h:2\n"))
                (self.root / path).unlink()

    def test_templates_and_enumerations_have_names_too(self):
        for line in ["template <typename T>\nstruct Slot {", "enum class Slot : int {",
                     "struct alignas(64) Slot {", "class [[nodiscard]] Slot {"]:
            with self.subTest(line):
                self.define_again("analysis/a.h", line)
                self.assertEqual(self.check()[0], 1)

    def test_what_only_one_file_can_name_passes(self):
        self.write("analysis/a.cc", in_namespace("", "struct Slot {\n};"))
        self.write("analysis/b.cc", in_namespace("", "struct Slot {\n};"))
        self.assertEqual(self.check(), (0, ""))

    def test_another_namespace_passes(self):
        self.write("analysis/a.h", in_namespace("table", "struct Slot {\n};"))
        self.assertEqual(self.check(), (0, ""))

    def test_declarations_and_inner_types_pass(self):
        self.define_again("analysis/a.h", "struct Slot;\nstruct Outer {\n  struct Slot {};\n};")
        self.assertEqual(self.check(), (0, ""))

    def test_the_two_halves_are_never_linked_together(self):
        self.define_again("analysis/a.h", "struct Queue {")
        self.define_again("libprofiler/a.h", "struct Queue {")
        self.assertEqual(self.check(), (0, ""))

    def test_an_empty_tree_is_an_error(self):
        (self.root / "proto/slot.h").unlink()
        self.assertEqual(self.check()[0], 1)


if __name__ == "__main__":
    unittest.main()
