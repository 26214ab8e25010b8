// SPDX-License-Identifier: Apache-2.0
//
// Every file of a run, damaged in every way that disks, copies and people damage files: `gpubound
// report` never falls over, and where it still says "complete", it says the same as of the whole
// run. The suite ends with its counts; GPUBOUND_TEST_MATRIX=long tries more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPage = 4096;

using Random = std::mt19937;

size_t Below(size_t end, Random* random) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(*random);
}

std::string RandomBytes(size_t count, Random* random) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(Below(256, random));
  return bytes;
}

// |bytes| are not empty.
struct Damage {
  const char* name;
  void (*apply)(std::string* bytes, Random* random);
};

void WritePart(std::string* bytes, const std::string& part, size_t at) {
  const size_t size = std::min(part.size(), bytes->size() - at);
  bytes->replace(at, size, part, 0, size);
}

size_t SomePage(const std::string& bytes, Random* random) {
  return Below((bytes.size() + kPage - 1) / kPage, random) * kPage;
}

const Damage kDamages[] = {
    {"emptied", [](std::string* bytes, Random*) { bytes->clear(); }},
    {"cut anywhere",
     [](std::string* bytes, Random* random) { bytes->resize(Below(bytes->size(), random)); }},
    {"cut to a page",
     [](std::string* bytes, Random* random) {
       bytes->resize(Below(bytes->size() / kPage + 1, random) * kPage % bytes->size());
     }},
    {"with a page of zeros",
     [](std::string* bytes, Random* random) {
       WritePart(bytes, std::string(kPage, '\0'), SomePage(*bytes, random));
     }},
    {"with a page of noise",
     [](std::string* bytes, Random* random) {
       WritePart(bytes, RandomBytes(kPage, random), SomePage(*bytes, random));
     }},
    {"with a page that lies twice",
     [](std::string* bytes, Random* random) {
       WritePart(bytes, bytes->substr(SomePage(*bytes, random), kPage), SomePage(*bytes, random));
     }},
    {"with noise at the begin",
     [](std::string* bytes, Random* random) { WritePart(bytes, RandomBytes(64, random), 0); }},
    {"with noise at the end",
     [](std::string* bytes, Random* random) {
       bytes->append(RandomBytes(1 + Below(2 * kPage, random), random));
     }},
    {"with zeros at the end", [](std::string* bytes, Random*) { bytes->append(3 * kPage, '\0'); }},
    {"twice", [](std::string* bytes, Random*) { bytes->append(std::string(*bytes)); }},
};

// What a report says of figures.
std::string FiguresOf(const Json& report) { return report["processes"].dump(); }

class DamagedFiles : public CommandRun, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const std::string action = GetParam();
    const bool is_compacted = action == "compacted";
    if (is_compacted) runner().Set("GPUBOUND_FLUSH_MS", "10");  // many chunks, to remove some of
    Victim(is_compacted ? "train" : action, is_compacted ? 400 : 25,
           action == "steps_and_kill" ? 128 + SIGKILL : 0);
    if (is_compacted) {
      const Outcome compact =
          Gpubound({"compact", "--window", "5ms", "--detail", "none", run_path()});
      ASSERT_TRUE(fs::exists(run_path() + "/sums.gpubound")) << compact.Describe();
    }
    fs::copy(run_path(), File("whole"), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(run_path())) {
      names_.push_back(entry.path().filename());
    }
    std::sort(names_.begin(), names_.end());
    const Outcome outcome = Gpubound({"report", "--json", "--no-replay", run_path()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    const Json report = Json::parse(outcome.out);
    ASSERT_TRUE(report["run"]["verdict"].get<std::string>().starts_with("complete")) << report;
    whole_ = FiguresOf(report);
  }

  void Look(const std::string& what) {
    SCOPED_TRACE(what);
    ++tried_;
    const Outcome outcome = Gpubound({"report", "--json", "--no-replay", run_path()});
    if (outcome.signal != 0 || outcome.hung || outcome.exit_code > 3) {
      ++fallen_;
      ADD_FAILURE() << outcome.Describe();
    } else if (outcome.exit_code == 0) {
      const Json report = Json::parse(outcome.out);
      const bool complete = report["run"]["verdict"].get<std::string>().starts_with("complete");
      if (complete && FiguresOf(report) != whole_) {
        ++silent_;
        ADD_FAILURE() << "silent: " << report["run"]["verdict"];
      }
    }
    fs::remove_all(run_path());
    fs::copy(File("whole"), run_path(), fs::copy_options::recursive);
  }

  void DamageOne(const std::string& name, const Damage& damage, Random* random) {
    const std::string path = run_path() + "/" + name;
    std::string bytes = ReadText(path);
    if (bytes.empty()) return;
    damage.apply(&bytes, random);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    Look(name + ", " + damage.name);
  }

  const std::vector<std::string>& names() const { return names_; }

  void PrintCounts() const {
    std::printf("damaged files of '%s': tried %d, fallen over %d, silent %d\n", GetParam(), tried_,
                fallen_, silent_);
  }

 private:
  std::vector<std::string> names_;
  std::string whole_;
  int tried_ = 0;
  int fallen_ = 0;
  int silent_ = 0;
};

TEST_P(DamagedFiles, AreReadInPartOrNotAtAllAndNeverTakenForWhole) {
  const char* matrix = std::getenv("GPUBOUND_TEST_MATRIX");
  const int turns = matrix != nullptr && std::string(matrix) == "long" ? 8 : 1;
  Random random(20211);
  for (const std::string& name : names()) {
    for (int turn = 0; turn < turns; ++turn) {
      for (const Damage& damage : kDamages) DamageOne(name, damage, &random);
    }
    fs::remove(run_path() + "/" + name);
    Look(name + ", removed");
    fs::remove(run_path() + "/" + name);
    fs::create_directory(run_path() + "/" + name);
    Look(name + ", a folder");
    for (const std::string& other : names()) {
      if (other == name) continue;
      fs::copy_file(run_path() + "/" + other, run_path() + "/" + name,
                    fs::copy_options::overwrite_existing);
      Look(name + ", a copy of " + other);
    }
  }
  PrintCounts();
}

// One process and several with a device, closed; sums of one; one that was killed.
INSTANTIATE_TEST_SUITE_P(Runs, DamagedFiles,
                         testing::Values("train", "fork", "compacted", "steps_and_kill"));

}  // namespace
}  // namespace gpubound
