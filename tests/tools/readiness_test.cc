// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound doctor` says of a machine.
#include "tools/launch/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReadinessTest : public testing::Test {
 protected:
  ReadinessTest() {
    facts_.libraries_folder = "/opt/lib";
    facts_.python_extensions = {"_core.abi3.so"};
    facts_.driver.libcuda.path = "libcuda.so.1";
    facts_.driver.cuda_version = 12040;
    facts_.driver.device_nodes = 2;
    facts_.cupti.candidates = {"/cuda/libcupti.so.12"};
    facts_.invariant_tsc = true;
    facts_.place.path = "/home/x";
    facts_.place.filesystem = "ext4";
    facts_.place.free_bytes = uint64_t{1} << 40;
    facts_.kernel = "6.1.0-13-amd64";
  }
  Check Judge(const std::string& subject) {
    for (const Check& check : JudgeMachine(facts_)) {
      if (check.subject == subject) return check;
    }
    ADD_FAILURE() << "no check of " << subject;
    return {};
  }
  void ExpectNote(const std::string& subject, const std::string& words) {
    EXPECT_EQ(Judge(subject).readiness, Readiness::kNote) << subject;
    EXPECT_THAT(Judge(subject).finding, HasSubstr(words));
    EXPECT_NE(Judge(subject).remedy, "");
  }
  void ExpectProblem(const std::string& subject, const std::string& words) {
    EXPECT_EQ(Judge(subject).readiness, Readiness::kProblem) << subject;
    EXPECT_THAT(Judge(subject).finding, HasSubstr(words));
    EXPECT_NE(Judge(subject).remedy, "");
  }

  MachineFacts facts_;
};

TEST_F(ReadinessTest, AGoodMachineIsAllOk) {
  for (const Check& check : JudgeMachine(facts_)) {
    EXPECT_EQ(check.readiness, Readiness::kOk) << check.subject << ": " << check.finding;
  }
  EXPECT_THAT(Judge("CUDA driver").finding, HasSubstr("CUDA 12.4, 2 GPU"));
}

TEST_F(ReadinessTest, MissingLibrariesAreAProblem) {
  facts_.libraries_problem = "no libgpubound.so in /x";
  facts_.libraries_remedy = "Build them.";
  ExpectProblem("libraries", "no libgpubound.so");
}

TEST_F(ReadinessTest, ACoreThatDoesNotLoadIsAProblem) {
  facts_.core.problem = "undefined symbol: x";
  ExpectProblem("libraries", "undefined symbol");
}

TEST_F(ReadinessTest, PythonsThatCanBeHookedAreListed) {
  EXPECT_EQ(Judge("Python").finding, "hooks CPython 3.9 and later; no free-threaded one");
  facts_.python_extensions = {"_core.abi3.so", "_core.cpython-39-x86_64-linux-gnu.so",
                              "_core.cpython-313t-x86_64-linux-gnu.so"};
  EXPECT_EQ(Judge("Python").finding, "hooks CPython 3.9 and later, 3.13t");
  facts_.python_extensions = {"_core.cpython-314t-x86_64-linux-gnu.so"};
  EXPECT_EQ(Judge("Python").finding, "hooks CPython 3.14t");
}

TEST_F(ReadinessTest, NoExtensionForPythonIsANote) {
  facts_.python_extensions = {};
  ExpectNote("Python", "no extension was built");
}

TEST_F(ReadinessTest, NoGpuIsANoteAndNeedsNoCupti) {
  facts_.driver = {};
  facts_.cupti = {};
  ExpectNote("CUDA driver", "no NVIDIA GPU");
  EXPECT_EQ(Judge("CUPTI").readiness, Readiness::kOk);
  EXPECT_FALSE(HasProblem(JudgeMachine(facts_)));
}

TEST_F(ReadinessTest, DevicesWithoutTheirDriverLibraryAreAProblem) {
  facts_.driver.libcuda = {};
  ExpectProblem("CUDA driver", "no libcuda.so.1");
}

TEST_F(ReadinessTest, ADriverWithoutDevicesIsANote) {
  facts_.driver.device_nodes = 0;
  ExpectNote("CUDA driver", "no GPU device");
}

TEST_F(ReadinessTest, DevicesOfSomebodyElseAreAProblem) {
  facts_.driver.forbidden_device_nodes = 1;
  ExpectProblem("CUDA driver", "1 of 2");
}

TEST_F(ReadinessTest, NoCuptiBesideADriverIsAProblem) {
  facts_.cupti.candidates.clear();
  ExpectProblem("CUPTI", "no libcupti");
}

TEST_F(ReadinessTest, AChosenCuptiMustBeThere) {
  facts_.cupti.chosen = "/x/libcupti.so";
  ExpectProblem("CUPTI", "/x/libcupti.so");
  facts_.cupti.chosen_exists = true;
  EXPECT_EQ(Judge("CUPTI").readiness, Readiness::kOk);
}

TEST_F(ReadinessTest, WhoeverElseHoldsTheInjectionIsNamed) {
  facts_.cupti.foreign_injector = "/nsys/libToolsInjection64.so";
  ExpectNote("CUPTI", "libToolsInjection64.so");
}

TEST_F(ReadinessTest, SwitchesThatAreOffAreNotes) {
  facts_.disabled = true;
  facts_.cupti.switched_off = true;
  ExpectNote("recording", "GPUBOUND_DISABLE");
  ExpectNote("CUPTI", "GPUBOUND_CUPTI=0");
}

TEST_F(ReadinessTest, WithoutInvariantTscScopesCostMore) {
  facts_.invariant_tsc = false;
  ExpectNote("clock", "no invariant TSC");
}

TEST_F(ReadinessTest, ANetworkFilesystemIsANote) {
  facts_.place.filesystem = "nfs";
  facts_.place.is_network = true;
  ExpectNote("run directory", "rollback journal");
}

TEST_F(ReadinessTest, LittleSpaceIsANoteAndNoSpaceAProblem) {
  facts_.place.free_bytes = uint64_t{500} << 20;
  ExpectNote("run directory", "500 MiB");
  facts_.place.free_bytes = uint64_t{1} << 20;
  ExpectProblem("run directory", "1 MiB");
}

TEST_F(ReadinessTest, AnUnwritableFolderIsAProblem) {
  facts_.place.problem = "Permission denied";
  ExpectProblem("run directory", "Permission denied");
}

TEST_F(ReadinessTest, AnOldKernelIsAProblem) {
  facts_.kernel = "3.10.0-1160.el7";
  ExpectProblem("kernel", "4.14");
  facts_.kernel = "4.14.0";
  EXPECT_EQ(Judge("kernel").readiness, Readiness::kOk);
}

TEST_F(ReadinessTest, AMistypedVariableIsNamedWithWhatWasMeant) {
  facts_.unknown_variables = {"GPUBOUND_FLUSHMS"};
  ExpectNote("environment", "GPUBOUND_FLUSHMS");
  EXPECT_THAT(Judge("environment").remedy, HasSubstr("GPUBOUND_FLUSH_MS"));
}

TEST_F(ReadinessTest, TheListingEscapesAndColoursOnlyOnRequest) {
  facts_.place.path = "/home/\x1b[31m";
  const auto checks = JudgeMachine(facts_);
  EXPECT_THAT(RenderChecks(checks, {}), Not(HasSubstr("\x1b")));
  TextOptions colored;
  colored.color = true;
  EXPECT_THAT(RenderChecks(checks, colored), HasSubstr("\x1b[32mok"));
}

}  // namespace
}  // namespace gpubound
