// SPDX-License-Identifier: Apache-2.0
//
// A callable that opens a label around each call of another one and is otherwise that one: same
// name, docs, signature, class, equality and hash; attributes are read from it and set on it.
// A Python function binds to an instance, a built-in one does not, another descriptor in its own
// way, and an object may be a container as well, so there are four types.
#ifndef GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_
#define GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

struct WrapperTypes {
  PyObject* callable;    // gpubound.Wrapper
  PyObject* object;      // gpubound.ObjectWrapper: see wrapper_protocols.h
  PyObject* function;    // gpubound.FunctionWrapper: binds as a method does
  PyObject* descriptor;  // gpubound.DescriptorWrapper: binds as what it wraps does
  PyObject* method;      // types.MethodType
  PyObject* handle;      // the str "_handle", see channels.h
};

bool MakeWrapperTypes(PyObject* module, WrapperTypes* types);

// How a wrapper that a library hook installs decides whether to open its label. Such wrappers nest
// in one another (an environment in its wrappers), and each thread remembers the innermost.
struct HookRules {
  // The label of the same operation as the program opens it; 0: there is none. Directly inside of
  // that the wrapper's own is not opened, as it is not inside a wrapper of its own label.
  uint32_t own = 0;
  bool alone = false;  // only where no other hook's label is open
  // A stage of a framework's loop: what others ask for is whether a hook is open inside of it.
  bool stage = false;
  // Called without arguments before an outermost call, or null. True: do not open. An error of it
  // is dropped: the program knows nothing of it.
  PyObject* guard = nullptr;
};

// What a wrapper around a call does that blocks, makes or uses a channel, or is one end of a range.
enum class CallRole : uint32_t {
  // A wait. |helper|, called with the same arguments, says whose: a label, 0 for the wrapper's own,
  // None where the call does not block after all.
  kWaits = 0,
  kReceives = 1,  // a wait on the connection that is the first argument
  kWrites = 2,    // writes into it; opens nothing
  kMakes = 3,     // has made it; opens nothing
  kReturns = 4,   // |helper| is called with the result; opens nothing
  kOpens = 5,     // has opened a range: begins the label that |helper| says, if it succeeded
  kCloses = 6,    // will close it: ends that label before, whatever becomes of the call
  kWorks = 7,     // opens its label; inside, a wait is one of its own whatever waits outside
  // |helper| is (class, callable): the callable is called in the place of the wrapped one where the
  // first argument is an instance of the class, or derived from it; opens nothing.
  kChooses = 8,
  kReplaces = 9,  // what |helper| makes of the result is returned; opens nothing
  // |helper| is called without arguments after the call, whatever became of it; opens nothing.
  kFollows = 10,
  // Lets threads go on that wait for the first argument, if the attribute of it that |helper| names
  // is true, or always without one; opens nothing.
  kWakes = 11,
  kEnds = 12,  // has come to the end that they wait for; opens nothing
  // A wait for the first argument: woken, unless it returns False. With |helper|, as what that says
  // of the first argument and the result: the first argument, or a time as below; not, if None.
  // The second argument is a timeout then, and a call with one of 0 is no wait: found, not woken.
  kAwaits = 13,
  kStarts = 14,  // begins what was asked for when the first argument was made; opens nothing
  // Comes for what the first argument stands for: found, unless it returns False; opens nothing.
  kFinds = 15,
  // Puts an item into the queue.Queue that is the first argument, or takes one out, with its mutex
  // held; |helper| is what queue_items.h calls names. They open nothing.
  kPuts = 16,
  kTakes = 17,
  kWakesItsOwn = 18,  // lets threads go on that wait for the attribute that |helper| names
  // Returns something that is to happen at the time that its attribute |helper| says, in seconds of
  // CLOCK_MONOTONIC: it lets go on who waits then. The other comes for that, of its first argument.
  // They open nothing.
  kSetsTime = 19,
  kFindsTime = 20,
  // A step of an event loop: what it leaves open is closed behind it; it opens nothing itself.
  // |helper| is a tuple of a dict that has id(task) for each task with suspended scopes,
  // resume(task), suspend(first argument, result or None, how many scopes are to stay open),
  // "_callback", "__self__" and the type of functions.
  kSteps = 21,
  // |helper| is called in the place of the wrapped one where more than the first argument is given;
  // opens nothing.
  kGiven = 22,
  // A fact of the first argument: opens, where no other hook's label is open, the label that
  // |helper| has for its class. That is a tuple of a dict from classes to pairs of labels, a
  // function without arguments that says which of a pair (True: the second), and one that makes the
  // pair of a class.
  kTells = 23,
};
inline constexpr uint32_t kCallRoles = 24;

// A wrapper as NewWrapper makes it, in |role|. Of nested waits only the outermost opens its label:
// it knows for whom it is. |helper| is null for none; an error of it is dropped.
PyObject* NewCallWrapper(const WrapperTypes& types, PyObject* wrapped, uint32_t label, bool binds,
                         CallRole role, PyObject* helper);

// A wrapper of |wrapped|, which must be callable, that opens |label|; as an attribute of a class it
// binds to instances if |binds|. |rules| is null for one that always opens. Null with an error set.
PyObject* NewWrapper(const WrapperTypes& types, PyObject* wrapped, uint32_t label, bool binds,
                     const HookRules* rules);

// In a fork child: no hook's label and no wait is open, whatever the forking thread had.
void ForgetOpenHooks();

// What |object| wraps, as a new reference; null without an error when it is no wrapper.
PyObject* WrappedBy(const WrapperTypes& types, PyObject* object);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_WRAPPER_H_
