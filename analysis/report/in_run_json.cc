// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/in_run_json.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

// Of a factor that is not known, 0.
Json Known(double figure) { return figure == 0 ? Json() : Json(figure); }

Json LaterJson(const LaterCheck& later) {
  if (later.iterations == 0) return nullptr;
  return Json{{"iterations", later.iterations},
              {"recorded_ns", later.recorded_ns},
              {"later_ns", later.later_ns},
              {"calibrated_ns", later.calibrated_ns},
              {"residual_error_ns", later.residual_error_ns},
              {"of", later.of},
              {"factor", Known(later.factor)},
              {"standard_error", Known(later.standard_error)},
              {"used", later.used}};
}

Json EntriesJson(const EntryCheck& entries) {
  if (entries.calls == 0) return nullptr;
  return Json{{"calls", entries.calls}, {"factor", entries.factor}};
}

}  // namespace

Json InRunJson(const InRunCheck& check) {
  return Json{{"entries", EntriesJson(check.entries)},
              {"later", LaterJson(check.later)},
              {"unchecked", ArrayOf(check.unchecked, [](const UncheckedCost& cost) {
                 return Json{{"what", cost.what}, {"why", cost.why}};
               })}};
}

}  // namespace gpubound
