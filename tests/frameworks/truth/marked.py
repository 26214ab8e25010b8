# SPDX-License-Identifier: Apache-2.0
"""Makes the copy of a program that has clocks in it (truth_clocks.py), out of the program and a few marks.

A mark is a line `CLOCK WHERE TEXT`; TEXT is a line of the program without its indentation, which must be there once,
or with a `*` behind WHERE at least once. WHERE says what to write around it:

    [    the clock starts before the line          ]    the clock stops after the line
    []   both                                      ]<   the clock stops before the line
    >    the stage CLOCK begins before the line

The clock `loop` is the window; `loop:NAME` that of a process called NAME. Of a clock X, X.call is
the part that is calls alone (compare.py). Lines are edited, and objects not wrapped at run time,
because a wrapper could not tell an actor that is asked for an action from the same actor in a loss,
would not see what is computed of a call's result, and would lie inside or outside of the profiler's
own. A mark whose line is gone is an error: then the program is another one."""


class MarkError(Exception):
    pass


def _statement(clock, where):
    if clock.partition(":")[0] == "loop":
        name = clock.partition(":")[2]
        return f"truth_clocks.loop_begins({name!r})" if where == "[" and name else \
            "truth_clocks.loop_begins()" if where == "[" else "truth_clocks.loop_ends()"
    if where == ">":
        return f"truth_clocks.stage({clock!r})"
    return f"truth_clocks.{'begin' if where == '[' else 'end'}({clock!r})"


def _import_line(lines):
    """Before which line of the program an import can stand: its first one at the left edge."""
    for number, line in enumerate(lines):
        if line.startswith(("import ", "from ")) and not line.startswith("from __future__"):
            return number
    raise MarkError("no import at the left edge of the program, before which that of the clocks could stand")


def marked(text, marks, name):
    """`text`, of the program called `name` in messages, with clocks around what `marks` say."""
    lines = text.splitlines()
    before, behind = {}, {}
    for mark in filter(str.strip, marks.splitlines()):
        try:
            clock, where, wanted = mark.strip().split(maxsplit=2)
        except ValueError:
            raise MarkError(f"mark '{mark.strip()}' of {name}: expected CLOCK WHERE TEXT") from None
        several, where = where.endswith("*"), where.rstrip("*")
        if where not in ("[", "]", "[]", "]<", ">"):
            raise MarkError(f"mark '{mark.strip()}' of {name}: expected [, ], [], ]< or > as its second word")
        found = [number for number, line in enumerate(lines) if line.strip() == wanted]
        if not found or (len(found) > 1 and not several):
            raise MarkError(f"mark '{mark.strip()}' of {name}: expected its line "
                            f"{'at least ' if several else ''}once, found it {len(found)} times; "
                            "is this another version of the program?")
        for number in found:
            line = lines[number]
            indentation = line[:len(line) - len(line.lstrip())]
            if where in ("[", "[]"):
                before.setdefault(number, []).append(indentation + _statement(clock, "["))
            if where in ("]", "[]"):
                behind.setdefault(number, []).insert(0, indentation + _statement(clock, "]"))
            if where in ("]<", ">"):
                before.setdefault(number, []).append(indentation + _statement(clock, where))
    before.setdefault(_import_line(lines), []).insert(0, "import truth_clocks")
    result = []
    for number, line in enumerate(lines):
        result += [*before.get(number, []), line, *behind.get(number, [])]
    return "\n".join(result) + "\n"
