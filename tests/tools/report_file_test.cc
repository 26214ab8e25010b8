// SPDX-License-Identifier: Apache-2.0
//
// Files that a user names: what is replaced, what is written into, what stays.
#include "tools/commands/report_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "analysis/output/check/check.h"
#include "analysis/output/export/output_file.h"
#include "analysis/output/page/plot.h"
#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/commands/report_page.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

class ReportFileTest : public testing::Test {
 protected:
  Status Store(const std::string& name, bool force = false) {
    return WriteWholeFile(folder_.File(name), "new", force);
  }
  size_t Entries() const {
    const std::filesystem::directory_iterator entries(folder_.path());
    return static_cast<size_t>(std::distance(begin(entries), end(entries)));
  }

  TemporaryFolder folder_;
};

TEST_F(ReportFileTest, ANewFileIsPrivateToItsOwner) {
  ASSERT_TRUE(Store("page.html").ok());
  EXPECT_EQ(ReadText(folder_.File("page.html")), "new");
  EXPECT_EQ(ModeOf(folder_.File("page.html")), 0600u);
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(ReportFileTest, SomebodyElsesFileStaysWithoutForce) {
  folder_.Write("train.py", "import torch\n");
  const Status stored = Store("train.py");
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().found, "a file that gpubound has not written");
  EXPECT_THAT(stored.error().remedy, HasSubstr("--force"));
  EXPECT_EQ(ReadText(folder_.File("train.py")), "import torch\n");
  ASSERT_TRUE(Store("train.py", /*force=*/true).ok());
  EXPECT_EQ(ReadText(folder_.File("train.py")), "new");
}

TEST_F(ReportFileTest, WhatACommandWroteBeforeIsReplacedWithItsPermissions) {
  const std::string outputs[] = {std::string(BundledPage()), RenderPlot({}), RenderJUnit({}, "run"),
                                 ""};
  for (const std::string& output : outputs) {
    const std::string path = folder_.Write("before", output);
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    ASSERT_TRUE(Store("before").ok()) << output.substr(0, 200);
    EXPECT_EQ(ReadText(path), "new");
    EXPECT_EQ(ModeOf(path), 0640u);
    EXPECT_EQ(Entries(), 1u);
    std::filesystem::remove(path);
  }
}

TEST_F(ReportFileTest, ALinkStaysALink) {
  folder_.Write("real.html", "");
  std::filesystem::create_symlink("real.html", folder_.File("link.html"));
  ASSERT_TRUE(Store("link.html").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.File("link.html")));
  EXPECT_EQ(ReadText(folder_.File("real.html")), "new");
}

TEST_F(ReportFileTest, ALinkToSomebodyElsesFileProtectsIt) {
  folder_.Write("train.py", "import torch\n");
  std::filesystem::create_symlink("train.py", folder_.File("link.html"));
  EXPECT_FALSE(Store("link.html").ok());
  EXPECT_EQ(ReadText(folder_.File("train.py")), "import torch\n");
}

TEST_F(ReportFileTest, APipeIsWrittenInto) {
  const std::string pipe = folder_.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = ReadText(pipe); });
  EXPECT_TRUE(Store("pipe").ok());
  reader.join();
  EXPECT_EQ(read, "new");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(ReportFileTest, ADeviceStaysADevice) {
  ASSERT_TRUE(std::filesystem::is_character_file("/dev/full"));
  std::filesystem::create_symlink("/dev/full", folder_.File("full"));
  const Status stored = Store("full");
  ASSERT_FALSE(stored.ok());
  EXPECT_THAT(stored.error().found, HasSubstr("No space left"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(ReportFileTest, AFolderThatIsNotThereIsNamed) {
  const Status stored = Store("none/page.html");
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().object, folder_.File("none/page.html"));
  EXPECT_THAT(stored.error().found, HasSubstr("No such file"));
}

TEST_F(ReportFileTest, AFolderIsNoFile) {
  std::filesystem::create_directories(folder_.File("page.html"));
  EXPECT_FALSE(Store("page.html", /*force=*/true).ok());
  EXPECT_EQ(Entries(), 1u);
}

// Before the run is read, which is not there.
TEST_F(ReportFileTest, EveryCommandRefusesBeforeItBegins) {
  const std::string file = folder_.Write("figure.svg", "<svg/>");
  for (const Arguments& words :
       {Arguments{"report", "none", "--html", file}, Arguments{"report", "none", "--plot", file},
        Arguments{"compare", "none", "none", "--html", file},
        Arguments{"check", "none", "--require", "wall>0", "--junit", file}}) {
    Arguments forced = words;
    forced.push_back("--force");
    const Captured captured = Capture([&] { return Dispatch(words); });
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr("replace it with --force"));
    EXPECT_EQ(Capture([&] { return Dispatch(forced); }).status, kExitUnreadable);
    if (words.front() == "check") continue;  // its file says that nothing could be read
    EXPECT_EQ(ReadText(file), "<svg/>");
  }
}

// As --chrome - and --prometheus - do; none of them makes a file of that name.
class StandardOutput : public ReportFileTest {
 protected:
  StandardOutput() {
    const std::string trace = folder_.Write(
        "trace.json",
        R"([{"ph":"X","cat":"user_annotation","pid":4,"tid":5,"name":"act","ts":0,"dur":9}])");
    run_ = folder_.File("a.gpubound");
    EXPECT_EQ(Capture([&] {
                return Dispatch({"import", trace, "-o", run_});
              }).status,
              kExitSuccess);
    std::filesystem::current_path(folder_.path());
  }
  ~StandardOutput() override { std::filesystem::current_path(before_); }
  Captured Call(const Arguments& words) const {
    const Captured captured = Capture([&] { return Dispatch(words); });
    EXPECT_FALSE(std::filesystem::exists("-")) << words.front();
    return captured;
  }

  const std::filesystem::path before_ = std::filesystem::current_path();
  std::string run_;
};

TEST_F(StandardOutput, TakesAPageAndResults) {
  for (const char* place : {"-", "/dev/stdout"}) {
    const Captured page = Call({"report", run_, "--html", place});
    EXPECT_EQ(page.status, kExitSuccess) << page.err;
    EXPECT_TRUE(page.out.starts_with("<!doctype html>"));
    const Captured compared = Call({"compare", run_, run_, "--html", place});
    EXPECT_TRUE(compared.out.starts_with("<!doctype html>")) << compared.err;
    const Captured results = Call({"check", run_, "--require", "wall>0", "--junit", place});
    EXPECT_EQ(results.status, kExitSuccess) << results.err;
    EXPECT_TRUE(results.out.starts_with("<?xml")) << results.out;
    EXPECT_TRUE(results.out.ends_with("</testsuites>\n")) << results.out;
  }
}

TEST_F(StandardOutput, HoldsOneOutput) {
  const Captured both = Call({"check", run_, "--require", "wall>0", "--junit", "-", "--json"});
  EXPECT_EQ(both.status, kExitWrongUse);
  EXPECT_THAT(both.err, HasSubstr("--json and --junit - both write to stdout"));
}

TEST_F(StandardOutput, IsNoPlaceForAFigureOrAFolder) {
  EXPECT_EQ(Call({"report", run_, "--plot", "-"}).status, kExitWrongUse);
  for (const char* format : {"--perfetto", "--sqlite", "--csv", "--parquet"}) {
    const Captured refused = Call({"export", run_, format, "-"});
    EXPECT_EQ(refused.status, kExitWrongUse);
    EXPECT_THAT(refused.err, HasSubstr(std::string(format) + " is no text"));
  }
  for (const Arguments& words :
       {Arguments{"import", "trace.json", "-o", "-"}, Arguments{"env", "-o", "-"}}) {
    const Captured refused = Call(words);
    EXPECT_EQ(refused.status, kExitWrongUse);
    EXPECT_THAT(refused.err, HasSubstr("a run is a directory and no stdout"));
  }
  EXPECT_EQ(Call({"run", "-o", "-", "--", "true"}).status, kExitLauncherFailed);
}

}  // namespace
}  // namespace gpubound
