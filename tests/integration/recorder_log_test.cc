// SPDX-License-Identifier: Apache-2.0
//
// GPUBOUND_LOG=debug as a user meets it: what the log says, and that doctor prints it.
#include "tests/integration/command_run.h"

#include <gmock/gmock.h>

namespace gpubound {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RecorderLog : public CommandRun {
 protected:
  std::string Doctor() { return Gpubound({"doctor", run_path()}).out; }
};

TEST_F(RecorderLog, SaysWhichLibraryDevicesAndEndThereWere) {
  runner().Set("GPUBOUND_LOG", "debug");
  Victim("train", 3);
  EXPECT_THAT(Doctor(), AllOf(HasSubstr(".log\n  preloaded into "), HasSubstr("writes into "),
                              HasSubstr("uses "), HasSubstr("libcupti.so"),
                              HasSubstr("device 0 is "), HasSubstr("the recording ends: exit")));
}

TEST_F(RecorderLog, OfAProgramThatUsesNothingSaysWhatItWouldRecord) {
  runner().Set("GPUBOUND_LOG", "debug");
  Profile({"/bin/true"});
  EXPECT_THAT(Doctor(), HasSubstr("preloaded into /bin/true, which records once it uses CUDA"));
}

TEST_F(RecorderLog, SaysWhyALibcuptiWasNotUsed) {
  runner().Set("GPUBOUND_LOG", "debug");
  runner().Set("GPUBOUND_CUPTI_LIBRARY", "/nonexistent/libcupti.so");
  Victim("train", 3);
  EXPECT_THAT(Doctor(), HasSubstr("libcupti: /nonexistent/libcupti.so: cannot open"));
}

TEST_F(RecorderLog, IsNotThereUnlessItIsAskedFor) {
  Victim("train", 3);
  EXPECT_THAT(Doctor(), Not(HasSubstr(".log")));
}

}  // namespace
}  // namespace gpubound
