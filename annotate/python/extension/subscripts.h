// SPDX-License-Identifier: Apache-2.0
//
// Subscripts of a native class (`a[i]`, `a[i] = v`, `del a[i]`) as scopes. The class's slots lead
// here first; an attribute `__getitem__` in their place would make the class a sequence for C, of
// which torch.tensor() then asks the length. One pair of native functions for the process:
// PyTorch's.
#ifndef GPUBOUND_ANNOTATE_PYTHON_SUBSCRIPTS_H_
#define GPUBOUND_ANNOTATE_PYTHON_SUBSCRIPTS_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

// |cls|, a class that Python made, gets labels for what reads and what changes items; where its
// slots are not those of the first class that was watched, as it defines subscripts itself, it is
// left alone. False where this interpreter's slots cannot be found, or the class has none.
bool WatchSubscripts(PyObject* cls, uint32_t read_label, uint32_t change_label);

// leave_subscripts(cls), of gpubound._core: gives it its native slots back, if they lead here.
PyObject* LeaveSubscripts(PyObject* module, PyObject* cls);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_SUBSCRIPTS_H_
