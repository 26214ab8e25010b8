// SPDX-License-Identifier: Apache-2.0
//
// A whole collector on virtual time, without its thread: a test records with explicit ticks,
// drains, and reads the database back.
#ifndef GPUBOUND_TESTS_LIBPROFILER_COLLECTOR_FIXTURE_H_
#define GPUBOUND_TESTS_LIBPROFILER_COLLECTOR_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "libprofiler/collector.h"
#include "tests/libprofiler/manual_clock.h"
#include "tests/libprofiler/temp_directory.h"
#include "tests/libprofiler/trace_file.h"

namespace gpubound {

class CollectorFixture : public testing::Test {
 protected:
  explicit CollectorFixture(uint64_t ticks_per_ns = 3) : clock_(ticks_per_ns) {
    settings_.live_pages = 16;
  }

  void StartCollector() {
    CollectorOptions options;
    options.settings = settings_;
    options.settings.run_directory = directory_.path();
    options.start = {
        .realtime_ns = 1'700'000'000'000'000'000, .monotonic_ns = 900'000'000, .pid = 4321};
    options.clock = &clock_;
    options.start_flusher = false;
    collector_ = Collector::Create(std::move(options));
    ASSERT_NE(collector_, nullptr);
    thread_ = collector_->RegisterThread(100, "main");
  }

  LabelId Operation(const std::string& name) {
    return collector_->labels()->Intern(LabelKind::kOperation, Layer::kUnset, "", name);
  }
  int64_t Now() { return clock_.MonotonicNs(); }
  void Begin(const std::string& name) { thread_->Begin(Operation(name), clock_.Ticks()); }
  void End(const std::string& name) { thread_->End(Operation(name), clock_.Ticks()); }
  void Scope(const std::string& name, int64_t ns) {
    Begin(name);
    clock_.Advance(ns);
    End(name);
  }
  void Drain() { collector_->DrainNow(); }
  void Finish(const char* how = "exit") { collector_->Finish(how); }

  std::string DatabasePath(size_t segment = 0) {
    return FilesEndingIn(directory_.path(), ".db").at(segment);
  }

  Settings settings_;
  TempDirectory directory_;
  ManualClock clock_;
  std::unique_ptr<Collector> collector_;
  ThreadBuffer* thread_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_COLLECTOR_FIXTURE_H_
