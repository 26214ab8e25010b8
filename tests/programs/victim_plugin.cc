// SPDX-License-Identifier: Apache-2.0
//
// A library that annotates and is unloaded again. With VICTIM_PLUGIN_CONSTRUCTOR it annotates when
// it is loaded, too.
#include <gpubound/annotate.h>

namespace {

inline void Annotate() {
  GPUBOUND_OPERATION("plugin");
  const gpubound::Operation named("plugin, named");
}

#ifdef VICTIM_PLUGIN_CONSTRUCTOR
const struct AnnotatesWhenLoaded {
  AnnotatesWhenLoaded() { Annotate(); }
} annotates_when_loaded;
#endif

}  // namespace

extern "C" __attribute__((visibility("default"))) void UsePlugin() { Annotate(); }
