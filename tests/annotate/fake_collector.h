// SPDX-License-Identifier: Apache-2.0
//
// A collector that writes down what annotations call, so that tests can compare it with what the
// program said. It is found the way the real one is: the test program exports gpubound_api_v1.
// Thread safe.
#ifndef GPUBOUND_TESTS_ANNOTATE_FAKE_COLLECTOR_H_
#define GPUBOUND_TESTS_ANNOTATE_FAKE_COLLECTOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "gpubound/api.h"

namespace gpubound {

class FakeCollector {
 public:
  // Forgets calls and labels, and serves the whole table again.
  static void Reset();
  static void Withdraw();                  // gpubound_api_v1 answers NULL
  static void SetTableSize(size_t bytes);  // as an older collector would
  static void SetVersion(uint32_t version);
  static void SetEnded(bool ended);  // the recording has; Reset leaves that as it is

  // Calls since the last Reset or Take, e.g. "begin operation inference", "step 3".
  static std::vector<std::string> Take();
  static int lookups();         // calls of gpubound_api_v1
  static int label_requests();  // calls of `label`
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_ANNOTATE_FAKE_COLLECTOR_H_
