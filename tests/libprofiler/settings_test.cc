// SPDX-License-Identifier: Apache-2.0
//
// Environment variables to settings.
#include "libprofiler/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "libprofiler/env_vars.h"

namespace gpubound {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const EnvVar& var : kEnvVars) unsetenv(var.name);
  }
  void TearDown() override { SetUp(); }
  std::string SaidWhileReading() {
    testing::internal::CaptureStderr();
    settings_ = ReadSettings();
    return testing::internal::GetCapturedStderr();
  }
  Settings settings_;
};

TEST_F(SettingsTest, DefaultsComeFromTheTable) {
  EXPECT_EQ(SaidWhileReading(), "");
  EXPECT_EQ(settings_.run_directory, "");
  EXPECT_FALSE(settings_.disabled);
  EXPECT_EQ(settings_.live_pages, 256u);
  EXPECT_EQ(settings_.flush_ms, 1000u);
}

TEST_F(SettingsTest, ValuesAreRead) {
  setenv("GPUBOUND_RUN", "/tmp/run", 1);
  setenv("GPUBOUND_DISABLE", "1", 1);
  setenv("GPUBOUND_LIVE_PAGES", "32", 1);
  SaidWhileReading();
  EXPECT_EQ(settings_.run_directory, "/tmp/run");
  EXPECT_TRUE(settings_.disabled);
  EXPECT_EQ(settings_.live_pages, 32u);
}

TEST_F(SettingsTest, AnEmptyValueIsUnset) {
  setenv("GPUBOUND_DISABLE", "", 1);
  setenv("GPUBOUND_LIVE_PAGES", "", 1);
  EXPECT_EQ(SaidWhileReading(), "");
  EXPECT_FALSE(settings_.disabled);
  EXPECT_EQ(settings_.live_pages, 256u);
}

TEST_F(SettingsTest, AValueThatCannotBeUsedIsNamedWithWhatIsExpectedAndReplaced) {
  setenv("GPUBOUND_LIVE_PAGES", "many", 1);
  EXPECT_EQ(SaidWhileReading(),
            "gpubound: GPUBOUND_LIVE_PAGES is 'many', expected a number from 16 to 16384; "
            "using 256\n");
  EXPECT_EQ(settings_.live_pages, 256u);
}

TEST_F(SettingsTest, NumbersOutsideTheirRangeOrWithTailsAreReplaced) {
  for (const char* bad : {"15", "16385", "-1", " 32", "32x", "99999999999999999999999"}) {
    setenv("GPUBOUND_LIVE_PAGES", bad, 1);
    EXPECT_NE(SaidWhileReading(), "") << bad;
    EXPECT_EQ(settings_.live_pages, 256u) << bad;
  }
}

TEST_F(SettingsTest, SwitchesTakeTheUsualWords) {
  for (const char* off : {"0", "off", "false", "no", "False", "OFF"}) {
    setenv("GPUBOUND_CUPTI", off, 1);
    setenv("GPUBOUND_DISABLE", off, 1);
    EXPECT_EQ(SaidWhileReading(), "") << off;
    EXPECT_FALSE(EnvSwitch("GPUBOUND_CUPTI")) << off;
    EXPECT_FALSE(settings_.disabled) << off;
  }
  for (const char* on : {"1", "on", "true", "yes", "True", "YES"}) {
    setenv("GPUBOUND_CUPTI", on, 1);
    setenv("GPUBOUND_DISABLE", on, 1);
    EXPECT_EQ(SaidWhileReading(), "") << on;
    EXPECT_TRUE(EnvSwitch("GPUBOUND_CUPTI")) << on;
    EXPECT_TRUE(settings_.disabled) << on;
  }
}

TEST_F(SettingsTest, AnUnknownWordOfASwitchIsSaidAndReplaced) {
  setenv("GPUBOUND_CUPTI", "never", 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(EnvSwitch("GPUBOUND_CUPTI"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gpubound: GPUBOUND_CUPTI is 'never', expected 1 or 0 (also on, true, yes or off, "
            "false, no); using 1\n");
}

TEST_F(SettingsTest, CompressionIsOffUnlessItIsAskedFor) {
  SaidWhileReading();
  EXPECT_EQ(settings_.compression, ChunkCompression::kNone);
  setenv("GPUBOUND_COMPRESSION", "zstd", 1);
  EXPECT_EQ(SaidWhileReading(), "");
  EXPECT_EQ(settings_.compression, ChunkCompression::kZstd);
}

TEST_F(SettingsTest, AnUnknownCompressionIsNamedAndNotUsed) {
  setenv("GPUBOUND_COMPRESSION", "gzip", 1);
  EXPECT_EQ(SaidWhileReading(),
            "gpubound: GPUBOUND_COMPRESSION is 'gzip', expected none or zstd; using none\n");
  EXPECT_EQ(settings_.compression, ChunkCompression::kNone);
}

TEST_F(SettingsTest, EveryVariableIsDescribedOnce) {
  std::set<std::string> names;
  for (const EnvVar& var : kEnvVars) {
    EXPECT_TRUE(names.insert(var.name).second) << var.name;
    EXPECT_EQ(std::string(var.help).back(), '.') << var.name;
  }
}

}  // namespace
}  // namespace gpubound
