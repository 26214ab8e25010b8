#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/release refuses to release: release_test.py SCRIPT."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)


class Release(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.write("CMakeLists.txt", "project(gpubound VERSION 1.2.3 LANGUAGES C CXX)\n")
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n## 1.2.3 (2026-11-28)\n\n### Figures\n\n- One.\n")
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=N", "-c", "user.email=n@example.org", *words],
                       cwd=self.root, check=True)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "test: a commit")

    def expect(self, *lines):
        done = subprocess.run([sys.executable, SCRIPT, "--root", str(self.root)], text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual((done.returncode, done.stdout), (1 if lines else 0, "".join(f"{line}\n" for line in lines)
                                                          or "1.2.3 can be released\n"))

    def expect_of_changelog(self, text, line):
        self.write("CHANGELOG.md", text)
        self.commit()
        self.expect(line)

    def test_a_version_with_a_section_of_its_own_can_be_released(self):
        self.expect()

    def test_lines_under_unreleased_are_refused(self):
        self.expect_of_changelog("## Unreleased\n\n- Two.\n\n## 1.2.3 (2026-11-28)\n\n- One.\n",
                                 "CHANGELOG.md: has lines under Unreleased, which belong under 1.2.3")

    def test_a_changelog_of_another_version_is_refused(self):
        self.expect_of_changelog("## 1.2.2 (2026-01-01)\n\n- One.\n", "CHANGELOG.md: the newest section is "
                                 "`1.2.2 (2026-01-01)`, expected `1.2.3 (YYYY-MM-DD)`")

    def test_a_section_without_a_date_is_refused(self):
        self.expect_of_changelog("## 1.2.3\n\n- One.\n", "CHANGELOG.md: the newest section is `1.2.3`, "
                                 "expected `1.2.3 (YYYY-MM-DD)`")

    def test_an_empty_section_is_refused(self):
        self.expect_of_changelog("## 1.2.3 (2026-11-28)\n", "CHANGELOG.md: the section of 1.2.3 says nothing")

    def test_a_changelog_without_sections_is_refused(self):
        self.expect_of_changelog("# Changelog\n", "CHANGELOG.md: has no section `## 1.2.3 (YYYY-MM-DD)`")

    def test_what_is_not_committed_is_refused(self):
        self.write("file", "text")
        self.expect("git: something is not committed")

    def test_a_version_that_another_commit_has_is_refused(self):
        self.git("tag", "v1.2.3")
        self.expect()
        self.commit()
        self.expect("git: v1.2.3 is another commit; CMakeLists.txt needs the next version")

    def test_a_version_of_two_numbers_is_refused(self):
        self.write("CMakeLists.txt", "project(gpubound VERSION 1.2 LANGUAGES C CXX)\n")
        self.commit()
        self.expect("CMakeLists.txt: the version is `1.2`, expected MAJOR.MINOR.PATCH")


if __name__ == "__main__":
    unittest.main()
