# SPDX-License-Identifier: Apache-2.0
"""What a wrapper does around a call: the values of CallRole in extension/wrapper.h, which says more."""
WAITS, RECEIVES, WRITES, MAKES, RETURNS = range(5)
# They open and close the scope that the helper names, if any: who names none is only told of the call,
# after it or before it.
OPENS, CLOSES = 5, 6
# They open their label and end the wait around it; they call another one for instances of a class; they
# return what the helper makes of the result; the helper is told after the call, also of one that raised.
WORKS, CHOOSES, REPLACES, FOLLOWS = 7, 8, 9, 10
# Between threads: they let those go on that wait for their first argument, before the call or after it;
# they wait for it; they begin what was asked for when it was made.
WAKES, ENDS, AWAITS, STARTS = 11, 12, 13, 14
# They come for what was let go on, or was not to be waited for any more; they put an item into a queue, and
# take one out.
FINDS, PUTS, TAKES = 15, 16, 17
# They let those go on that wait for an attribute of their first argument.
WAKES_ITS_OWN = 18
# They return what is to happen at a time, and come for it then.
SETS_TIME, FINDS_TIME = 19, 20
# A step of an event loop: it closes what it leaves open.
STEPS = 21
# The helper is called instead where more than the first argument is given.
GIVEN = 22
# They open the label that the helper has for the class of the first argument, where no other hook is open.
TELLS = 23
