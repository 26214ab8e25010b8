# SPDX-License-Identifier: Apache-2.0
"""What a part found: PASS and FAIL lines, figures, and the reports of the runs it made.

A part that cannot do what it is for fails and says what it lacks; nothing passes by being left out.
"""


class Verdict:
    def __init__(self, part, title):
        self.part = part
        self.failures = 0
        self.passes = 0
        self.lines = []
        self.reports = []
        self._print(f"== {part}: {title}")

    def check(self, holds, sentence, seen=""):
        """One claim about the machine or the profiler; |seen| is what it rests on."""
        self.passes += 1 if holds else 0
        self.failures += 0 if holds else 1
        self._print(f"{'PASS' if holds else 'FAIL'}  {sentence}" + (f" [{seen}]" if seen else ""))
        return holds

    def equal(self, found, expected, what):
        return self.check(found == expected, what, f"found {found}, expected {expected}")

    def figure(self, name, value):
        self._print(f"      {name}: {value}")

    def left_out(self, what, why):
        """For the dry run alone: what the simulated device cannot show."""
        self._print(f"      left out: {what}, {why}")

    def add_report(self, title, text):
        self.reports.append(f"==== {self.part}: {title}\n{text}\n")

    def _print(self, line):
        self.lines.append(line)
        print(line, flush=True)
