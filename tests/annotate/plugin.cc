// SPDX-License-Identifier: Apache-2.0
//
// A library with scopes where compilers emit vague linkage: it must still unload.
#include <gpubound/annotate.h>

#include <string_view>

inline void InInlineFunction() { GPUBOUND_OPERATION("plugin-inline"); }

template <typename T>
void InTemplate(T name) {
  GPUBOUND_OPERATION("plugin-template");
  const gpubound::Operation scope(name);
}

extern "C" __attribute__((visibility("default"))) void UsePlugin() {
  InInlineFunction();
  InTemplate(std::string_view("plugin-named"));
}
