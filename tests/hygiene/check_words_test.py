#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker of words for users finds what it is there to find: check_words_test.py CHECKER."""
import unittest

from checker_case import CheckerCase


class WordsChecker(CheckerCase):
    def assert_found(self, path, text, *violations):
        self.write(path, text)
        self.assertEqual(self.check(), (1 if violations else 0, "".join(f"{one}\n" for one in violations)), text)
        (self.root / path).unlink()

    def test_a_banned_word_in_a_page_is_named_with_what_to_say(self):
        for path in ("README.md", "CHANGELOG.md", "docs/page.md", "docs/results/page.md"):
            self.assert_found(path, "# Page\nIt ran behind the copy.\n",
                              f"{path}:2: 'behind': say after, or past")

    def test_each_banned_word_is_found(self):
        for word in ("behind", "told", "dear", "dearest", "learnt", "booked", "lane", "lanes", "(46 % of it)",
                     "first of all", "no room", "No room"):
            self.write("docs/page.md", f"A text with {word} in the middle.\n")
            self.assertEqual(self.check()[0], 1, word)

    def test_words_that_mean_something_else_pass(self):
        self.assert_found("docs/page.md", "What it left behind; told apart; a part of it, (all of it).\n")

    def test_code_in_a_page_passes(self):
        self.assert_found("docs/page.md", "The field `lanes`.\n\n    lanes\n\n```\nlanes\n```\n")

    def test_the_glossary_may_name_them(self):
        self.assert_found("docs/glossary.md", "Not lanes: threads.\n")

    def test_texts_of_the_tools_are_read_and_names_and_comments_are_not(self):
        self.assert_found("tools/commands/a.cc",
                          '// it came behind\nconst char* name = "lanes";\nSay("https://x.org y"); /* behind a b */\n')
        self.assert_found("tools/commands/a.cc", '\nSay("the end comes behind it");  // told\n',
                          "tools/commands/a.cc:2: 'behind': say after, or past")

    def test_texts_of_the_recorder_the_page_and_the_package_are_read(self):
        self.assert_found("libprofiler/a.h", '#define X(name) "a thread was told so"\n',
                          "libprofiler/a.h:1: 'told': say shown, said, known")
        self.assert_found("tools/page/src/a.ts", "// behind it\nshow(`${lane.a} further lanes`);\n",
                          "tools/page/src/a.ts:2: 'lanes': say thread")
        self.assert_found("annotate/python/a.py", '"""A page.\n\nIt comes behind."""\n',
                          "annotate/python/a.py:1: 'behind': say after, or past")


if __name__ == "__main__":
    unittest.main()
