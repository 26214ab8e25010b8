#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker of the documentation finds what it is there to find: check_docs_test.py CHECKER."""
import unittest

from checker_case import CheckerCase


class DocsChecker(CheckerCase):
    def setUp(self):
        super().setUp()
        self.write("proto/README.md", "# proto\n")
        self.write("proto/pages.h", "inline constexpr uint32_t kPage = 64 * 1024;\n"
                   "static constexpr std::chrono::milliseconds kTick{200};\n"
                   "static constexpr uint64_t kSize = uint64_t{1} << 17;\n"
                   "constexpr int64_t kWaitNs = 3'000'000'000;\n")
        self.write("tests/README.md", "# tests\n")
        self.write("tests/proto/CMakeLists.txt", "gpubound_test(proto_test SOURCES page_test.cc)\n")
        self.write("tests/proto/page_test.cc", "TEST(Page, APageThatIsFullIsHandedOver) {}\n")

    def page(self, text):
        self.write("docs/page.md", text)
        return self.check()

    def assert_only(self, text, violation):
        self.assertEqual(self.page(text), (1, violation + "\n"), text)

    def test_a_module_without_a_readme_is_named(self):
        self.write("libprofiler/a.h", "")
        self.assertEqual(self.check(), (1, "libprofiler: has no README.md\n"))

    def test_names_and_links_that_lead_somewhere_pass(self):
        self.assertEqual(self.page("# Pages\n`pages.h`, `proto/pages.h`, [proto](../proto/README.md#proto),\n"
                                   "[here](#pages), [there](https://example.org)\n"), (0, ""))

    def test_a_name_of_no_file_is_named(self):
        self.assert_only("`page.h`\n", "docs/page.md: names `page.h`, which is not there")

    def test_links_to_nowhere_are_named(self):
        self.assert_only("[a](gone.md)\n", "docs/page.md: links to gone.md, which is not there")
        self.assert_only("[a](../proto/README.md#gone)\n",
                         "docs/page.md: links to ../proto/README.md#gone, but there is no such heading")

    def test_numbers_that_are_right_pass_in_any_unit(self):
        self.assertEqual(self.page("64 KiB (`kPage`), 200 ms (`kTick`), 131,072 (`Pages::kSize`), "
                                   "3 s (`kWaitNs`), 65,536 (`kPage`)\n"), (0, ""))

    def test_a_number_that_is_wrong_is_named_with_the_right_one(self):
        self.assert_only("65,536 (`kSize`)\n", "docs/page.md: says 65,536 for `kSize`, which is 131072")
        self.assert_only("4 s (`kWaitNs`)\n", "docs/page.md: says 4 s for `kWaitNs`, which is 3000000000")
        self.assert_only("4 (`kGone`)\n", "docs/page.md: says 4 for `kGone`, which is no such constant")

    def test_a_test_that_is_not_there_is_named(self):
        table = "| promise | shown by |\n|---|---|\n| a | `proto_test` APageThatIsFull... |\n"
        self.assertEqual(self.page(table), (0, ""))
        self.assert_only(table.replace("proto_test", "page_gone"),
                         "docs/page.md: is shown by page_gone, which is no test")
        self.assert_only(table.replace("IsFull", "IsEmpty"),
                         "docs/page.md: is shown by APageThatIsEmpty, which is no test")

    def test_cases_that_are_named_by_what_they_do_are_looked_for(self):
        self.write("tests/proto/victim_test.cc", '{"hand over", 1}, {"wait", 2}')
        table = "| promise | shown by |\n|---|---|\n| a | `proto_test` hand over, wait |\n"
        self.assertEqual(self.page(table), (0, ""))
        self.assert_only(table.replace("wait", "give up"),
                         "docs/page.md: is shown by 'give up', which is no case of a test")

    def test_a_row_names_a_test_or_says_why_there_is_none(self):
        table = "| promise | shown by |\n|---|---|\n| a | no test: it takes two users |\n"
        self.assertEqual(self.page(table), (0, ""))
        self.assert_only(table.replace("no test: it takes", "it takes"),
                         "docs/page.md: a row without a test: | a | it takes two users |")

    def test_prose_that_is_too_wide_is_named_and_code_is_not(self):
        wide = "a " * 60
        self.assertEqual(self.page(f"    {wide}\n```\n{wide}\n```\n| {wide} |\n"), (0, ""))
        self.assert_only(wide.strip() + "\n", "docs/page.md:1: 119 columns, at most 100")


if __name__ == "__main__":
    unittest.main()
