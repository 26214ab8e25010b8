#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the shells make of their completion scripts: completion_shells_test.py GPUBOUND.

Each completes a line in a folder with a run, a file and a program of ours, bash and fish by their own
functions for that, zsh in a terminal.
"""
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import unittest

GPUBOUND = sys.argv[1]
# Lines that every shell completes to one more word, and that word.
COMPLETED = (("gpubound rep", "report"),
             ("gpubound hel", "help"),
             ("gpubound --vers", "--version"),
             ("gpubound help rep", "report"),
             ("gpubound report --ker", "--kernels"),
             ("gpubound report --by operation,pha", "operation,phase"),
             ("gpubound report tra", "train.gpubound"),
             ("gpubound run --graphs no", "node"),
             ("gpubound run sampleprog", "sampleprogram"),
             ("gpubound run -- sampleprog", "sampleprogram"),
             ("gpubound run --graphs node sampleprog", "sampleprogram"),
             ("gpubound run -q -- sampleprog", "sampleprogram"),
             ("gpubound verify --rounds 2 -- sampleprog", "sampleprogram"),
             ("gpubound run -- sampleprogram notes", "notes.txt"),
             ("gpubound check --junit notes", "notes.txt"))
# Lines at which nothing that a shell knows could stand.
NOTHING = ("gpubound run --window no", "gpubound run --detail no", "gpubound check --require no",
           "gpubound compare --seed no", "gpubound run -- sampleprogram --graph")


class ShellTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        os.mkdir(os.path.join(self.folder, "train.gpubound"))
        os.mkdir(os.path.join(self.folder, "bin"))
        open(os.path.join(self.folder, "notes.txt"), "w", encoding="utf-8").close()
        program = os.path.join(self.folder, "bin", "sampleprogram")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(program, 0o700)
        os.symlink(GPUBOUND, os.path.join(self.folder, "bin", "gpubound"))
        self.environment = {**os.environ, "HOME": self.folder, "TERM": "dumb", "LC_ALL": "C.UTF-8",
                            "PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"]}

    def script(self, shell):
        path = os.path.join(self.folder, "completion")
        with open(path, "wb") as file:
            subprocess.run([GPUBOUND, "completion", shell], stdout=file, check=True)
        return path

    def output(self, *words):
        done = subprocess.run(words, cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def check_all(self, complete):
        for line, word in COMPLETED:
            with self.subTest(line=line):
                self.assertEqual(complete(line), [word])
        for line in NOTHING:
            with self.subTest(line=line):
                self.assertEqual(complete(line), [])


class BashTest(ShellTest):
    def test_completes_ours_and_the_programs(self):
        script = self.script("bash")

        def complete(line):
            words = " ".join(f"'{word}'" for word in line.split(" "))
            return self.output("bash", "--norc", "-c",
                               f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); "
                               "_gpubound; printf '%s\\n' \"${COMPREPLY[@]}\"").split()
        self.check_all(complete)


class FishTest(ShellTest):
    def test_completes_ours_and_the_programs(self):
        script = self.script("fish")

        def complete(line):
            found = self.output("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            return [row.split("\t")[0].rstrip("/") for row in found.splitlines()]
        self.check_all(complete)


    def test_values_do_not_repeat_what_their_option_is(self):
        script = self.script("fish")

        def described(line):
            found = self.output("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'")
            return dict((row.split("\t") + [""])[:2] for row in found.splitlines())
        self.assertEqual(described("gpubound run --graphs "), {"node": "", "graph": "", "auto": ""})
        self.assertEqual(described("gpubound report --attribution "), {"timeline": "", "caused": ""})
        self.assertEqual(described("gpubound completion "), {"bash": "", "zsh": "", "fish": ""})
        self.assertEqual(described("gpubound check --junit notes"), {"notes.txt": ""})
        self.assertIn("CUDA graphs", described("gpubound run --grap")["--graphs"])


class ZshTest(ShellTest):
    def start(self):
        self.ours, theirs = pty.openpty()
        self.addCleanup(os.close, self.ours)
        shell = subprocess.Popen(["zsh", "-f", "-i"], cwd=self.folder, env=self.environment,
                                 stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        self.shown = ""
        # Ctrl-X Ctrl-X shows the line and empties it. No mark is in what is typed.
        self.type("PS1=; unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; "
                  f"source {self.script('zsh')}; "
                  "shown() { print -r -- \"<<$BUFFER>\">; BUFFER= }; zle -N shown; "
                  "bindkey '^X^X' shown; print rea''dy\n".replace(">\">;", ">\"'>';"))
        self.read_until("ready\r\n")

    def type(self, text):
        os.write(self.ours, text.encode())

    def read_until(self, mark):
        while mark not in self.shown:
            if select.select([self.ours], [], [], 60)[0]:
                self.shown += os.read(self.ours, 65536).decode(errors="replace")
            else:
                raise AssertionError(f"no {mark!r} in {self.shown[-500:]!r}")
        end = self.shown.index(mark) + len(mark)
        before, self.shown = self.shown[:end], self.shown[end:]
        return before

    def after_tab(self, line):
        """The line that a tab makes of this one, and all that was shown meanwhile."""
        self.type(line + "\t\x18\x18")
        shown = self.read_until(">>")
        return re.search(r"<<(.*)>>", shown, re.DOTALL).group(1), shown

    def test_completes_ours_and_the_programs(self):
        self.start()

        def complete(line):
            completed, _ = self.after_tab(line)
            return [] if completed == line else [completed.split(" ")[len(line.split(" ")) - 1].rstrip("/,")]
        self.check_all(complete)

    def test_no_command_makes_the_shell_complain(self):
        self.start()
        commands = re.findall(r"^  ([a-z]+) ", self.output(GPUBOUND, "--help").split("Options:")[0], re.M)
        self.assertIn("sql", commands)
        for command in commands:
            with self.subTest(command=command):
                _, shown = self.after_tab(f"gpubound {command} no-such-")
                self.assertNotRegex(shown, r"_[a-z]+:|error|bad")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
