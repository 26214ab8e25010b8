// SPDX-License-Identifier: Apache-2.0
//
// Steps of the tasks that an event loop runs, which may leave scopes open when they await. Most
// leave none, and an event loop does little else: what such a step costs here is not known to the
// cost model, so it has to be next to nothing, and Python is asked only where scopes are to be
// opened or closed. Any thread that runs Python.
#ifndef GPUBOUND_ANNOTATE_PYTHON_TASK_STEPS_H_
#define GPUBOUND_ANNOTATE_PYTHON_TASK_STEPS_H_

#include "annotate/python/extension/compat.h"

namespace gpubound {

// A call of a wrapper in the role kSteps.
PyObject* CallStep(PyObject* self, PyObject* const* arguments, size_t nargsf, PyObject* keywords);

// Whether |helper| is what wrapper.h says that a wrapper in this role has.
bool IsHelperOfSteps(PyObject* helper);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_TASK_STEPS_H_
