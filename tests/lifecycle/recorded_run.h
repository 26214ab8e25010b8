// SPDX-License-Identifier: Apache-2.0
//
// Compares what a victim noted about its scopes (tests/programs/progress.h) with what its run
// directory holds. One thread.
#ifndef GPUBOUND_TESTS_LIFECYCLE_RECORDED_RUN_H_
#define GPUBOUND_TESTS_LIFECYCLE_RECORDED_RUN_H_

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/trace/run.h"
#include "tests/programs/progress.h"

namespace gpubound {

// The numbered scopes of one thread as they were recorded.
struct RecordedScopes {
  uint64_t complete = 0;
  std::string disorder;  // the first event that does not continue the sequence; empty if all do
};
RecordedScopes ReadScopes(const ProcessTrace& process, const ThreadTrace& thread);

// Every way in which |run| and |progress| disagree, one sentence each: a completed scope that is
// not recorded exactly once and in order, a scope that nobody opened, events counted as lost. A
// process without any record is no disagreement if it says so itself.
std::vector<std::string> Disagreements(const Run& run, const ProgressFile& progress);

// Those of the scopes alone: not what the reader has to say of files.
std::vector<std::string> ScopeDisagreements(const Run& run, const ProgressFile& progress);

// How each process that opened scopes ended, sorted; "" for one that did not close its trace.
std::vector<std::string> EndsOf(const Run& run);

// Names of the files in |directory| that end with |suffix|.
std::vector<std::string> FilesEndingWith(const std::filesystem::path& directory,
                                         const std::string& suffix);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIFECYCLE_RECORDED_RUN_H_
