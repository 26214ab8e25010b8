// SPDX-License-Identifier: Apache-2.0
//
// A program that uses NVTX's real headers, with gpubound's injection behind NVTX_INJECTION64_PATH
// (set by CMake to nvtx_test_tool). The program is also the test.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <nvtx3/nvtx3.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cupti_hooks/nvtx/nvtx_injection.h"
#include "tests/cupti_hooks/nvtx_test_tool.h"
#include "tests/lifecycle/process_runner.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The copy that NVTX loaded, which the first call makes it do.
const NvtxTestTool& Tool() {
  static const NvtxTestTool* const tool = [] {
    nvtxMarkA("load");
    void* library = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY | RTLD_NOLOAD);
    void* entry = library == nullptr ? nullptr : dlsym(library, "gpubound_nvtx_test_tool");
    if (entry == nullptr) {
      ADD_FAILURE() << "NVTX did not load the tool: set NVTX_INJECTION64_PATH, as ctest does";
      std::abort();
    }
    return reinterpret_cast<decltype(&gpubound_nvtx_test_tool)>(entry)();
  }();
  return *tool;
}

class NvtxInjectionTest : public ::testing::Test {
 protected:
  NvtxInjectionTest() { Tool().take_scopes(); }
  std::vector<std::string> scopes() { return Tool().take_scopes(); }
  static nvtxEventAttributes_t Event(const char* text) {
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
    return event;
  }
};

TEST_F(NvtxInjectionTest, PushAndPopInEveryEncoding) {
  const nvtxEventAttributes_t event = Event("ex");
  EXPECT_EQ(nvtxRangePushA("a"), 0);
  EXPECT_EQ(nvtxRangePushW(L"w\u00e9"), 1);
  EXPECT_EQ(nvtxRangePushEx(&event), 2);
  EXPECT_EQ(nvtxRangePop(), 2);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_LT(nvtxRangePop(), 0);
  EXPECT_THAT(scopes(), ElementsAre("begin /a", "begin /w\u00e9", "begin /ex", "end /ex",
                                    "end /w\u00e9", "end /a"));
}

TEST_F(NvtxInjectionTest, DomainsWithRegisteredStringsAndCategories) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  ASSERT_NE(domain, nullptr);
  nvtxDomainNameCategoryA(domain, 3, "ignored");
  nvtxEventAttributes_t event = Event(nullptr);
  event.category = 3;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &event), 0);
  EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  event.message.registered = nvtxDomainRegisterStringW(domain, L"wide");
  nvtxDomainMarkEx(domain, &event);
  nvtxDomainDestroy(domain);
  EXPECT_THAT(scopes(), ElementsAre("begin library/registered", "end library/registered",
                                    "mark library/wide"));
}

TEST_F(NvtxInjectionTest, RangesThatCrossThreads) {
  nvtxDomainHandle_t domain = nvtxDomainCreateW(L"wide domain");
  const nvtxEventAttributes_t event = Event("in domain");
  const nvtxRangeId_t ascii = nvtxRangeStartA("ascii");
  const nvtxRangeId_t wide = nvtxRangeStartW(L"wide");
  const nvtxRangeId_t ex = nvtxRangeStartEx(&event);
  const nvtxRangeId_t other = nvtxDomainRangeStartEx(domain, &event);
  std::thread([&] {
    nvtxDomainRangeEnd(domain, other);
    nvtxRangeEnd(ex);
    nvtxRangeEnd(wide);
    nvtxRangeEnd(ascii);
  }).join();
  EXPECT_THAT(scopes(), ElementsAre("start /ascii", "start /wide", "start /in domain",
                                    "start wide domain/in domain", "finish wide domain/in domain",
                                    "finish /in domain", "finish /wide", "finish /ascii"));
}

TEST_F(NvtxInjectionTest, MarksInEveryEncoding) {
  const nvtxEventAttributes_t event = Event("ex");
  nvtxMarkA("a");
  nvtxMarkW(L"w");
  nvtxMarkEx(&event);
  nvtxMarkA(nullptr);
  EXPECT_THAT(scopes(), ElementsAre("mark /a", "mark /w", "mark /ex", "mark /(unnamed)"));
}

TEST_F(NvtxInjectionTest, ScopedRangesOfTheCppHeaderAreInTheDefaultDomain) {
  { const nvtx3::scoped_range range{"scoped"}; }
  EXPECT_THAT(scopes(), ElementsAre("begin /scoped", "end /scoped"));
}

TEST_F(NvtxInjectionTest, WhatIsNotRecordedIsHarmless) {
  nvtxInitialize(nullptr);
  nvtxNameCategoryA(1, "category");
  nvtxNameOsThreadA(1, "thread");
  nvtxResourceAttributes_t resource = {};
  nvtxResourceHandle_t handle = nvtxDomainResourceCreate(nullptr, &resource);
  EXPECT_NE(handle, nullptr);
  nvtxDomainResourceDestroy(handle);
  nvtxRangeEnd(0);
  EXPECT_THAT(scopes(), IsEmpty());
}

TEST_F(NvtxInjectionTest, EveryDomainIsEnabledForTheExtension) {
  EXPECT_EQ(nvtxDomainIsEnabled(nvtxDomainCreateA("any")), 1);
  EXPECT_EQ(Tool().extensions(), 1);
}

TEST_F(NvtxInjectionTest, AModuleAttachesOnce) {
  nvtxMarkA("again");
  EXPECT_EQ(Tool().modules(), 1);
}

// Nor is a lock of ours held in the child because another thread held it when it was forked.
TEST_F(NvtxInjectionTest, ForkChildrenUseNvtxWhateverOtherThreadsDidMeanwhile) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("forks");
  std::atomic<bool> stop{false};
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t) {
    others.emplace_back([&stop, domain, t] {
      for (int i = 0; !stop.load(); i = (i + 1) % 500) {
        nvtxDomainRegisterStringA(domain, (std::to_string(t) + "." + std::to_string(i)).c_str());
      }
    });
  }
  for (int child = 0; child < 100; ++child) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      _exit(nvtxDomainRegisterStringA(domain, "child") == nullptr ? 1 : 0);
    }
    const Outcome outcome = AwaitChild(pid, /*deadline_seconds=*/20);
    ASSERT_EQ(outcome.exit_code, 0) << "child " << child << ": " << outcome.Describe();
  }
  stop = true;
  for (std::thread& other : others) other.join();
}

// Tables of the tool's side, by hand.

TEST(AttachNvtxModuleTest, WithoutTablesItSaysNo) {
  EXPECT_FALSE(AttachNvtxModule(nullptr, nullptr));
  EXPECT_FALSE(AttachNvtxModule([](uint32_t) -> const void* { return nullptr; }, nullptr));
}

NvtxFunctionPointer g_functions[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* g_table[NVTX_CBID_CORE_SIZE];

int NVTX_API SmallTables(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned int* size) {
  if (module != NVTX_CB_MODULE_CORE) return 0;  // an old header without domains
  *table = g_table;
  *size = NVTX_CBID_CORE_RangePushA + 1;
  return 1;
}

TEST(AttachNvtxModuleTest, AModuleWithSmallerTablesGetsWhatItHasRoomFor) {
  for (int i = 0; i < NVTX_CBID_CORE_SIZE; ++i) g_table[i] = &g_functions[i];
  g_table[NVTX_CBID_CORE_MarkA] = nullptr;
  const auto export_table = [](uint32_t id) -> const void* {
    static const NvtxExportTableCallbacks callbacks = {sizeof(callbacks), &SmallTables};
    return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
  };
  EXPECT_TRUE(AttachNvtxModule(export_table, nullptr));
  EXPECT_NE(g_functions[NVTX_CBID_CORE_RangePushA], nullptr);
  EXPECT_EQ(g_functions[NVTX_CBID_CORE_RangePop], nullptr);
  EXPECT_EQ(g_functions[NVTX_CBID_CORE_MarkA], nullptr);
}

TEST(AttachNvtxExtensionTest, SomethingThatIsNoModuleIsRefused) {
  EXPECT_FALSE(AttachNvtxExtension(nullptr));
  nvtxExtModuleInfo_t info = {};
  EXPECT_FALSE(AttachNvtxExtension(&info));
  info.structSize = sizeof(info);
  EXPECT_TRUE(AttachNvtxExtension(&info)) << "an extension that needs no answer";
}

}  // namespace
}  // namespace gpubound
