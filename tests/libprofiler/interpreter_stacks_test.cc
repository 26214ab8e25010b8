// SPDX-License-Identifier: Apache-2.0
//
// Stacks read from an interpreter that is made of bytes here, with the layout of Python 3.12, and
// that can be as wrong as one that changes while it is read.
#include "libprofiler/python/interpreter_stacks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace gpubound {
namespace {

constexpr int kMinor = 12;
constexpr uint32_t kTid = 4711;

class InterpreterStacksTest : public testing::Test {
 protected:
  using Object = std::array<uint64_t, 64>;

  InterpreterStacksTest() {
    Put(&runtime_, 40, AddressOf(interpreter_));
    Put(&interpreter_, 72, AddressOf(thread_));
    Put(&thread_, 56, AddressOf(cframe_));
    Put(&thread_, 144, uint64_t{kTid});
    stacks_ = InterpreterStacks::Create({AddressOf(runtime_), kCodeType, kMinor}, &table_);
  }

  static Address AddressOf(const Object& object) {
    return reinterpret_cast<uintptr_t>(object.data());
  }
  template <typename Value>
  static void Put(Object* object, size_t offset, Value value) {
    std::memcpy(reinterpret_cast<char*>(object->data()) + offset, &value, sizeof(value));
  }
  Object* New() { return &objects_.emplace_back(); }

  Address Text(const std::string& text) {
    Object* object = New();
    Put(object, 16, static_cast<int64_t>(text.size()));
    Put(object, 32, uint32_t{1 << 2 | 1 << 5 | 1 << 6});  // one byte a letter, compact, ASCII
    std::memcpy(reinterpret_cast<char*>(object->data()) + 40, text.data(), text.size());
    return AddressOf(*object);
  }
  // A function whose only instruction is on |line|.
  Address Code(const std::string& name, int32_t line) {
    Object* lines = New();
    Put(lines, 16, int64_t{2});
    Put(lines, 32, uint16_t{0x00e8});  // no columns, one word, 0 lines on
    Object* code = New();
    Put(code, 8, kCodeType);
    Put(code, 68, line);
    Put(code, 112, Text("/p/" + name + ".py"));
    Put(code, 128, Text(name));
    Put(code, 136, AddressOf(*lines));
    return AddressOf(*code);
  }
  Address Frame(Address code, Address caller, uint8_t owner = 0) {
    Object* frame = New();
    Put(frame, 0, code);
    Put(frame, 8, caller);
    Put(frame, 56, code + 192);  // the first instruction
    Put(frame, 70, owner);
    return AddressOf(*frame);
  }
  std::optional<FrameId> Look(Address innermost) {
    Put(&cframe_, 0, innermost);
    std::vector<InterpreterStacks::Thread> threads;
    stacks_->ListThreads(&threads);
    EXPECT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads.front().tid, kTid);
    return stacks_->StackOf(threads.front());
  }
  // "main:3 work:7".
  std::string Shown(FrameId innermost) {
    FrameTablePositions positions;
    FrameTableRows rows;
    table_.CopyRowsSince(&positions, &rows);
    std::string text;
    for (FrameId at = innermost; at != FrameId{};) {
      const FrameRow& row = rows.frames.at(Raw(at) - 1);
      text = rows.functions.at(Raw(row.function) - 1).name + ":" + std::to_string(row.line) +
             (text.empty() ? "" : " " + text);
      at = row.caller;
    }
    return text;
  }

  static constexpr uint64_t kCodeType = 0x1234500;
  Object runtime_ = {};
  Object interpreter_ = {};
  Object thread_ = {};
  Object cframe_ = {};
  std::deque<Object> objects_;
  FrameTable table_;
  std::unique_ptr<InterpreterStacks> stacks_;
};

TEST_F(InterpreterStacksTest, AStackIsTheFunctionsFromTheOutermostOn) {
  ASSERT_NE(stacks_, nullptr);
  const Address main = Frame(Code("main", 3), 0);
  const Address work = Frame(Code("work", 7), main);
  const std::optional<FrameId> seen = Look(work);
  ASSERT_TRUE(seen);
  EXPECT_EQ(Shown(*seen), "main:3 work:7");
  EXPECT_EQ(Look(work), seen);
}

TEST_F(InterpreterStacksTest, FramesOfTheInterpretersOwnAreLeftOut) {
  const Address main = Frame(Code("main", 3), 0);
  const Address own = Frame(0, main, kOwnedByInterpreter);
  const std::optional<FrameId> seen = Look(Frame(Code("work", 7), own));
  ASSERT_TRUE(seen);
  EXPECT_EQ(Shown(*seen), "main:3 work:7");
}

TEST_F(InterpreterStacksTest, AThreadInNoFrameHasAnEmptyStack) { EXPECT_EQ(Look(0), FrameId{}); }

TEST_F(InterpreterStacksTest, WhatIsNoCodeObjectMakesTheStackATornOne) {
  Object* other = New();
  Put(other, 8, kCodeType + 8);
  EXPECT_FALSE(Look(Frame(AddressOf(*other), 0)));
  EXPECT_FALSE(Look(Frame(1, 0)));
  EXPECT_FALSE(Look(Frame(~uint64_t{0}, 0)));
}

TEST_F(InterpreterStacksTest, AChainOfCallersWithoutAnEndIsTorn) {
  const Address code = Code("main", 3);
  const Address first = Frame(code, 0);
  Object* frame = &objects_.back();
  Put(frame, 8, first);  // calls itself
  EXPECT_FALSE(Look(first));
  const Address second = Frame(code, first, kOwnedByInterpreter);
  const Address third = Frame(code, second, kOwnedByInterpreter);
  Put(&objects_[objects_.size() - 2], 8, third);  // each calls the other, and both are left out
  EXPECT_FALSE(Look(third));
}

// The address of a caller may be anything, also one whose frame would end past the last address.
TEST_F(InterpreterStacksTest, AnAddressThatIsNoneIsTornAndReadsNothing) {
  const Address code = Code("main", 3);
  std::mt19937_64 random(1);
  std::vector<Address> addresses = {1, 8, 71, 72, 4095, 4096, ~uint64_t{0}, uint64_t{1} << 63};
  for (uint64_t below = 0; below < 200; ++below) addresses.push_back(~uint64_t{0} - below);
  for (int i = 0; i < 1000; ++i) addresses.push_back(random() | uint64_t{1} << 62);
  for (const Address address : addresses) {
    EXPECT_FALSE(Look(address)) << address;
    EXPECT_FALSE(Look(Frame(code, address))) << address;
    objects_.pop_back();
  }
}

TEST_F(InterpreterStacksTest, ANewFunctionWhereAnotherWasIsNotTakenForIt) {
  const Address code = Code("first", 3);
  Object* object = reinterpret_cast<Object*>(code);
  const Address frame = Frame(code, 0);
  EXPECT_EQ(Shown(*Look(frame)), "first:3");
  Put(object, 128, Text("second"));
  EXPECT_EQ(Shown(*Look(frame)), "second:3");
}

TEST_F(InterpreterStacksTest, AnUnknownVersionIsNotRead) {
  EXPECT_EQ(InterpreterStacks::Create({AddressOf(runtime_), kCodeType, 8}, &table_), nullptr);
  EXPECT_EQ(InterpreterStacks::Create({AddressOf(runtime_), kCodeType, 13}, &table_), nullptr)
      << "without a description";
  EXPECT_EQ(InterpreterStacks::Create({0, kCodeType, kMinor}, &table_), nullptr);
  EXPECT_EQ(InterpreterStacks::Create({1, kCodeType, kMinor}, &table_), nullptr);
}

}  // namespace
}  // namespace gpubound
