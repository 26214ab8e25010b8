// SPDX-License-Identifier: Apache-2.0
//
// The Python type `gpubound.Scope`: a name that can be opened and closed any number of times, by
// any thread. It holds no state of an open scope; the collector keeps the stack of each thread. A
// scope that one thread opens and another closes is therefore counted in the ledger and harmless.
//
//   with operation("x"):        Scope ---enter--> ScopeMethod (opens `label`)
//                                  \-----exit---> ScopeMethod (closes `label`)
//
// `with` looks up __enter__ and __exit__ and calls both. The usual method would be bound to its
// object at each look-up, which is an allocation; these two are bound once, when the scope is made.
#ifndef GPUBOUND_ANNOTATE_PYTHON_SCOPE_H_
#define GPUBOUND_ANNOTATE_PYTHON_SCOPE_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

struct Scope {
  PyObject_HEAD uint32_t label;  // 0 where nobody records
  uint32_t kind;                 // gpubound_label_kind
  uint32_t layer;                // gpubound_layer
  PyObject* text;                // str
  PyObject* enter;
  PyObject* exit;
};

struct ScopeTypes {
  PyObject* scope;
  PyObject* method;
};

// Makes the types for |module|. False with a Python error set.
bool MakeScopeTypes(PyObject* module, ScopeTypes* types);

// A new scope for the label that |text| (a str) has in the collector. Null with an error set.
PyObject* NewScope(const ScopeTypes& types, uint32_t kind, uint32_t layer, PyObject* text);

// The label of |text|, which must be a str; what UTF-8 cannot express is escaped. |domain| is null
// for none. False with an error set.
bool InternText(uint32_t kind, uint32_t layer, const char* domain, PyObject* text, uint32_t* label);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_SCOPE_H_
