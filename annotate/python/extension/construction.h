// SPDX-License-Identifier: Apache-2.0
//
// Calls of native classes (`torch.Tensor(data)`) as scopes. What makes their objects cannot be
// replaced: a class that derives from one and calls its `__new__` would be refused by Python. So
// the slot of their metaclass leads here, which is what a call of the class goes through and
// nothing else. One label for the process: PyTorch's.
#ifndef GPUBOUND_ANNOTATE_PYTHON_CONSTRUCTION_H_
#define GPUBOUND_ANNOTATE_PYTHON_CONSTRUCTION_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

// From now on calls of |cls|, and of what else has the same metaclass, are scopes of |label|. False
// where that is `type` itself or made by Python, or where this interpreter's slot cannot be found.
bool WatchConstruction(PyObject* cls, uint32_t label);

// leave_construction(cls), of gpubound._core: as before.
PyObject* LeaveConstruction(PyObject* module, PyObject* cls);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_CONSTRUCTION_H_
