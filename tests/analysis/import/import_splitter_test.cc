// SPDX-License-Identifier: Apache-2.0
//
// Cutting a trace into events, whatever the blocks are in which it arrives.
#include "analysis/import/import_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Text in blocks of |block| bytes.
class TextSource : public ByteSource {
 public:
  TextSource(std::string text, size_t block) : text_(std::move(text)), block_(block) {}
  Result<size_t> Read(char* to, size_t capacity) override {
    const size_t count = std::min({block_, capacity, text_.size() - at_});
    text_.copy(to, count, at_);
    at_ += count;
    return count;
  }

 private:
  const std::string text_;
  const size_t block_;
  size_t at_ = 0;
};

struct Pieces {
  std::vector<std::string> events;
  std::vector<std::string> members;  // "key=text"
  std::string error;
};

Pieces Split(const std::string& text, size_t block) {
  TextSource source(text, block);
  JsonSplitter splitter(&source, "trace.json");
  Pieces pieces;
  while (true) {
    const auto value = splitter.Next();
    if (!value.ok()) {
      pieces.error = value.error().ToString();
      return pieces;
    }
    if (value->kind == JsonSplitter::Kind::kEnd) return pieces;
    if (value->kind == JsonSplitter::Kind::kEvent) {
      pieces.events.emplace_back(value->text);
    } else {
      pieces.members.push_back(value->key + "=" + std::string(value->text));
    }
  }
}

// The same in blocks of every small size: what is cut must not depend on where blocks end.
Pieces SplitAnyhow(const std::string& text) {
  const Pieces whole = Split(text, text.size() + 1);
  for (size_t block = 1; block < 8; ++block) {
    const Pieces pieces = Split(text, block);
    EXPECT_EQ(pieces.events, whole.events) << "blocks of " << block;
    EXPECT_EQ(pieces.members, whole.members) << "blocks of " << block;
    EXPECT_EQ(pieces.error, whole.error) << "blocks of " << block;
  }
  return whole;
}

TEST(ImportSplitter, SkipsAByteOrderMarkAtTheBegin) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_THAT(SplitAnyhow(mark + R"({"traceEvents": [{"a": 1}]})").events,
              ElementsAre(R"({"a": 1})"));
  EXPECT_THAT(SplitAnyhow(mark + "\n[{}]").events, ElementsAre("{}"));
  EXPECT_THAT(SplitAnyhow(mark).error, HasSubstr("an empty file"));
  EXPECT_THAT(SplitAnyhow("\xef\xbb[{}]").error, HasSubstr("text that begins with"));
}

TEST(ImportSplitter, GivesEventsAndMembersInTheirOrder) {
  const Pieces pieces = SplitAnyhow(
      " {\"a\" : 1, \"traceEvents\": [ {\"x\":[{}]} , {} ], \"b\": {\"traceEvents\":[3]}, "
      "\"c\":null } ");
  EXPECT_THAT(pieces.events, ElementsAre("{\"x\":[{}]}", "{}"));
  EXPECT_THAT(pieces.members, ElementsAre("a=1", "b={\"traceEvents\":[3]}", "c=null"));
  EXPECT_THAT(pieces.error, IsEmpty());
}

TEST(ImportSplitter, BracketsInStringsAreText) {
  const Pieces pieces = SplitAnyhow(R"([{"name":"]}\"],{\\"},"\\",{"k\"":"["}])");
  EXPECT_THAT(pieces.events, ElementsAre(R"({"name":"]}\"],{\\"})", R"("\\")", R"({"k\"":"["})"));
}

TEST(ImportSplitter, ABareArrayNeedsNoEndAndMayHaveACommaThere) {
  for (const char* text : {"[{},{}", "[{},{},", "[{},{}]", "[{},{},]"}) {
    const Pieces pieces = SplitAnyhow(text);
    EXPECT_THAT(pieces.events, ElementsAre("{}", "{}")) << text;
    EXPECT_THAT(pieces.error, IsEmpty()) << text;
  }
}

TEST(ImportSplitter, AnObjectThatStopsEarlyIsIncompleteWhereverItStops) {
  const std::string whole = R"({"a":[1],"traceEvents":[{"n":"x"},{}],"b":"text"})";
  for (size_t length = 1; length < whole.size(); ++length) {
    const Pieces pieces = SplitAnyhow(whole.substr(0, length));
    EXPECT_THAT(pieces.error, HasSubstr("the end of the file")) << whole.substr(0, length);
    EXPECT_THAT(pieces.error, HasSubstr("at byte " + std::to_string(length)));
  }
}

TEST(ImportSplitter, AnEventCutInABareArrayIsIncomplete) {
  EXPECT_THAT(SplitAnyhow("[{},{\"n\":").error, HasSubstr("the rest of an event"));
}

TEST(ImportSplitter, WhatIsNoTraceIsNamed) {
  EXPECT_THAT(SplitAnyhow("").error, HasSubstr("an empty file"));
  EXPECT_THAT(SplitAnyhow("  \n").error, HasSubstr("an empty file"));
  EXPECT_THAT(SplitAnyhow("#!/bin/sh\nexit 0, and so on for long").error,
              HasSubstr("text that begins with '#!/bin/sh exit 0, and so..."));
  EXPECT_THAT(SplitAnyhow(R"({"traceEvents": {}})").error, HasSubstr("no array"));
}

TEST(ImportSplitter, WrongStructureIsAnErrorAtItsByte) {
  EXPECT_THAT(SplitAnyhow("[{} {}]").error, HasSubstr("'{' at byte 4, expected ',' or ']'"));
  EXPECT_THAT(SplitAnyhow("[,{}]").error, HasSubstr("','"));
  EXPECT_THAT(SplitAnyhow("{\"a\" 1}").error, HasSubstr("no ':'"));
  EXPECT_THAT(SplitAnyhow("{\"a\":1 \"b\":2}").error, HasSubstr("expected ',' or '}'"));
  EXPECT_THAT(SplitAnyhow("{\"a\":1} x").error, HasSubstr("more text after the trace"));
  EXPECT_THAT(SplitAnyhow("[{}] x").error, HasSubstr("more text after the trace"));
  EXPECT_THAT(SplitAnyhow("{1:2}").error, HasSubstr("the name of a member"));
}

// The events of damaged text, with its blocks as above; each place that was skipped is a '!'.
std::vector<std::string> Salvage(const std::string& text, size_t block) {
  TextSource source(text, block);
  JsonSplitter splitter(&source, "trace.json");
  std::vector<std::string> events;
  while (true) {
    const auto value = splitter.Next();
    if (value.ok() && value->kind == JsonSplitter::Kind::kEnd) return events;
    if (value.ok() && value->kind == JsonSplitter::Kind::kEvent) {
      events.emplace_back(value->text);
    } else if (!value.ok()) {
      events.emplace_back("!");
      if (!splitter.SkipToEvent()) return events;
    }
  }
}

TEST(ImportSplitter, DamagedTextIsTakenUpAtTheNextEvent) {
  const std::string events = R"({ "ph":"X"},{"ph":"a","b":{{,{"ph":"Y"}x{"ph":"Z"}]})";
  for (size_t block = 1; block < 8; ++block) {
    EXPECT_THAT(Salvage("{\"traceEvents\":[" + events, block),
                ElementsAre("{ \"ph\":\"X\"}", "!", "{\"ph\":\"Y\"}", "!", "{\"ph\":\"Z\"}"));
    EXPECT_THAT(Salvage("[{\"ph\":1},{\"ph\":[", block), ElementsAre("{\"ph\":1}", "!"));
    EXPECT_THAT(Salvage("{\"a\":1,{\"ph\":2}", block), ElementsAre("!"));
  }
}

TEST(ImportSplitter, ABracketThatDamageMadeEndsNoListOfEvents) {
  const std::string events = R"([{"ph":1}],{"ph":2}] ]}, [ { "ph":3}],{"x":4})";
  for (size_t block = 1; block < 8; ++block) {
    const auto expected = ElementsAre("{\"ph\":1}", "!", "{\"ph\":2}", "!", "{ \"ph\":3}", "!");
    EXPECT_THAT(Salvage(events, block), expected);
    EXPECT_THAT(Salvage("{\"traceEvents\":" + events, block), expected);
  }
}

TEST(ImportSplitter, AnEventInsideOneThatCannotBeParsedIsFound) {
  TextSource source(R"([{"ph":1,"b":{"ph":1},{"x":2}},{"y":"ph"}])", 64);
  JsonSplitter splitter(&source, "trace.json");
  ASSERT_TRUE(splitter.Next().ok());
  splitter.LookInside();
  EXPECT_EQ(splitter.Next()->text, R"({"ph":1})");
  splitter.LookInside();  // nothing is inside
  EXPECT_EQ(splitter.Next()->text, R"({"x":2})");
}

TEST(ImportSplitter, AnEventMayBeLargerThanItsBuffer) {
  const std::string large = "{\"n\":\"" + std::string(9 << 20, 'x') + "\"}";
  const Pieces pieces = Split("[{}," + large + ",{}]", 1 << 20);
  EXPECT_EQ(pieces.error, "");
  ASSERT_EQ(pieces.events.size(), 3u);
  EXPECT_TRUE(pieces.events[1] == large);
}

}  // namespace
}  // namespace gpubound
