// SPDX-License-Identifier: Apache-2.0
//
// The verbs of a fixture that writes a virtual program by hand: one thread, launches that reach the
// device at once, one stream and statements that take no time but what they are given. After each
// API call a nanosecond passes.
#ifndef GPUBOUND_TESTS_SIM_PROGRAM_FIXTURE_H_
#define GPUBOUND_TESTS_SIM_PROGRAM_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

class ProgramFixture : public ::testing::Test {
 protected:
  ProgramFixture() {
    program_.device.launch_latency_ns = 0;
    program_.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  }

  Statement& Add(Action action, TimeNs cost, uint32_t thread = 0) {
    Statement statement;
    statement.action = action;
    statement.cost_ns = cost;
    program_.threads[thread].statements.push_back(statement);
    return program_.threads[thread].statements.back();
  }
  void OpenScope(ScopeName name, uint32_t slot, uint32_t thread = 0) {
    Statement& statement = Add(Action::kOpen, 0, thread);
    statement.slot = slot;
    statement.scope = std::move(name);
  }
  void Open(const std::string& operation, uint32_t slot, uint32_t thread = 0) {
    OpenScope({.kind = LabelKind::kOperation, .layer = Layer::kUnset, .text = operation}, slot,
              thread);
  }
  void OpenLayer(Layer layer, uint32_t slot, uint32_t thread = 0) {
    OpenScope({.kind = LabelKind::kLayer, .layer = layer, .text = "layer"}, slot, thread);
  }
  static ScopeName Range(const std::string& domain, const std::string& text) {
    return {LabelKind::kAnnotation, Layer::kUnset, text, domain};
  }
  void OpenRange(const std::string& domain, const std::string& text, uint32_t slot) {
    OpenScope(Range(domain, text), slot);
  }
  void Close(uint32_t slot, uint32_t thread = 0) { Add(Action::kClose, 0, thread).slot = slot; }
  void Compute(TimeNs ns, uint32_t thread = 0) { Add(Action::kCompute, ns, thread); }
  void Launch(const std::string& kernel, TimeNs call, TimeNs device, uint32_t thread = 0) {
    Statement& statement = Add(Action::kLaunch, call, thread);
    statement.name = kernel;
    statement.device_ns = device;
  }
  void LaunchOn(uint32_t stream, const std::string& kernel, TimeNs call, TimeNs device) {
    Launch(kernel, call, device);
    program_.threads[0].statements.back().slot = stream;
  }
  void SyncDevice(TimeNs call) { Add(Action::kSyncDevice, call); }
  void AddThread(TimeNs start) {
    const auto tid = static_cast<uint32_t>(program_.threads.size() + 1);
    program_.threads.push_back({.tid = tid, .start_ns = start, .statements = {}});
  }
  History Run() { return Execute(program_, nullptr); }

  VirtualProgram program_;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_PROGRAM_FIXTURE_H_
