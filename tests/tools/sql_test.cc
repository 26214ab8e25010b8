// SPDX-License-Identifier: Apache-2.0
//
// `gpubound sql`: formats, exit statuses and what is said about a wrong query.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <stdio.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "analysis/output/tables/trace_table.h"
#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr char kTrace[] =
    R"([{"ph":"X","cat":"user_annotation","name":"a,\"b\"\n<i>","pid":4,"tid":5,"ts":10,"dur":10},)"
    R"({"ph":"X","cat":"cpu_op","name":"\u001b[2J","pid":4,"tid":5,"ts":12,"dur":1}])";

class SqlCommand : public testing::Test {
 protected:
  SqlCommand() {
    const Captured imported = Capture([this] {
      return Dispatch({"import", folder_.Write("trace.json", kTrace), "-o", Run()});
    });
    EXPECT_EQ(imported.status, kExitSuccess) << imported.err;
  }
  std::string Run() const { return folder_.File("x.gpubound"); }
  Captured Sql(const std::string& query, const Arguments& options = {}) {
    Arguments words = {"sql", Run(), query};
    words.insert(words.end(), options.begin(), options.end());
    return Capture([&words] { return Dispatch(words); });
  }

  TemporaryFolder folder_;
};

TEST_F(SqlCommand, PrintsATableWithFiguresOnTheRight) {
  EXPECT_EQ(Sql("SELECT depth, duration_ns FROM scope ORDER BY 1").out,
            "depth  duration_ns\n    0        10000\n    1         1000\n");
}

TEST_F(SqlCommand, ATableEscapesWhatATerminalWouldObey) {
  const Captured captured = Sql("SELECT name FROM scope");
  EXPECT_THAT(captured.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(captured.out, HasSubstr("\\x1b[2J"));
}

TEST_F(SqlCommand, JsonHasEveryKeyOnce) {
  EXPECT_EQ(Sql("SELECT 1 AS a, 2 AS b, 3 AS a, 4 AS a, 5 AS 'a:1'", {"--json"}).out,
            "[\n{\"a\": 1, \"b\": 2, \"a:2\": 3, \"a:3\": 4, \"a:1\": 5}\n]\n");
  EXPECT_THAT(
      Sql("SELECT a.begin_ns, b.begin_ns FROM scope a JOIN scope b LIMIT 1", {"--json"}).out,
      HasSubstr(", \"begin_ns:1\": "));
}

TEST_F(SqlCommand, CsvQuotesNames) {
  EXPECT_EQ(Sql("SELECT name, NULL AS none FROM scope WHERE depth=0", {"--csv"}).out,
            "name,none\r\n\"a,\"\"b\"\"\n<i>\",\r\n");
  EXPECT_EQ(Sql("SELECT '' AS empty, NULL AS none", {"--csv"}).out, "empty,none\r\n\"\",\r\n");
}

TEST_F(SqlCommand, JsonIsAnArrayForEachStatement) {
  EXPECT_EQ(Sql("SELECT name, 0.5 AS half, NULL AS none FROM scope WHERE depth=0; SELECT 1 WHERE 0",
                {"--json"})
                .out,
            "[\n{\"name\": \"a,\\\"b\\\"\\n<i>\", \"half\": 0.5, \"none\": null}\n]\n[]\n");
}

TEST_F(SqlCommand, OnATerminalItSaysThatItReadsTheQueryThere) {
  int terminal = -1;
  int other_side = -1;
  ASSERT_EQ(openpty(&terminal, &other_side, nullptr, nullptr, nullptr), 0);
  const std::string typed = "SELECT 5 AS five\n\x04";
  ASSERT_EQ(write(terminal, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
  const int before = dup(STDIN_FILENO);
  dup2(other_side, STDIN_FILENO);
  const Captured captured = Capture([this] { return Dispatch({"sql", Run()}); });
  dup2(before, STDIN_FILENO);
  clearerr(stdin);
  for (const int descriptor : {terminal, other_side, before}) close(descriptor);
  EXPECT_EQ(captured.out, "five\n   5\n");
  EXPECT_EQ(captured.err, "gpubound: reading the query from standard input; ^D ends it.\n");
}

TEST_F(SqlCommand, AWrongNameIsTwoAndGetsASuggestion) {
  const Captured table = Sql("SELECT * FROM scopes");
  EXPECT_EQ(table.status, kExitWrongUse);
  EXPECT_THAT(table.err, HasSubstr("no such table: scopes"));
  EXPECT_THAT(table.err, HasSubstr("Did you mean 'scope'?"));
  EXPECT_THAT(Sql("SELECT s.beginns FROM scope s").err, HasSubstr("Did you mean 'begin_ns'?"));
  EXPECT_THAT(Sql("SELECT \"beginns\" FROM scope").err, HasSubstr("Did you mean 'begin_ns'?"));
  const std::string elsewhere = Sql("SELECT uuid FROM scope").err;
  EXPECT_THAT(elsewhere, HasSubstr("Tables with a column 'uuid': device"));
  EXPECT_THAT(elsewhere, Not(HasSubstr("Did you mean")));
}

TEST_F(SqlCommand, WritingIsTwoAndNamesTheExport) {
  const Captured captured = Sql("DELETE FROM scope");
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.out, IsEmpty());
  EXPECT_THAT(Sql("CREATE TABLE mine(x)").err, HasSubstr("export RUN --sqlite"));
}

TEST_F(SqlCommand, ARunThatCannotBeReadIsThree) {
  const Captured captured = Capture([this] {
    return Dispatch({"sql", folder_.File("none"), "SELECT 1"});
  });
  EXPECT_EQ(captured.status, kExitUnreadable);
  EXPECT_THAT(captured.err, HasSubstr("nothing there"));
}

TEST_F(SqlCommand, WithoutARunItIsWrongUse) {
  EXPECT_EQ(Capture([] { return Dispatch({"sql"}); }).status, kExitWrongUse);
  EXPECT_EQ(Sql("SELECT 1", {"--csv", "--json"}).status, kExitWrongUse);
}

TEST_F(SqlCommand, TablesAreListedWithoutARun) {
  const Captured captured = Capture([] { return Dispatch({"sql", "--tables"}); });
  EXPECT_EQ(captured.status, kExitSuccess);
  for (const char* table : {"process:", "scope:", "gpu:", "operation:", "ledger:"}) {
    EXPECT_THAT(captured.out, HasSubstr(table));
  }
}

TEST(SqlTables, ProgramsGetThemAsRowsWithTypes) {
  const Captured json = Capture([] { return Dispatch({"sql", "--tables", "--json"}); });
  EXPECT_EQ(json.status, kExitSuccess);
  EXPECT_THAT(json.out, HasSubstr(R"("table": "process")"));
  EXPECT_THAT(json.out, HasSubstr(R"("column": "gpu_percent", "type": "INTEGER")"));
  const Captured csv = Capture([] { return Dispatch({"sql", "--tables", "--csv"}); });
  EXPECT_THAT(csv.out,
              HasSubstr("table,summary,column,type\r\nprocess,a process of the run,process"));
  EXPECT_EQ(Capture([] {
              return Dispatch({"sql", "--tables", "--csv", "--json"});
            }).status,
            kExitWrongUse);
}

// Every column has its line under the name of its table, or under that of all of them.
TEST(SqlTables, EachColumnIsExplained) {
  std::ifstream page(GPUBOUND_TABLES_PAGE);
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  const auto section = [&text](const std::string& title) {
    const size_t begin = text.find("\n## " + title + "\n");
    return begin == std::string::npos ? ""
                                      : text.substr(begin, text.find("\n## ", begin + 1) - begin);
  };
  for (const TraceTable& table : AllTraceTables()) {
    const std::string own = section("`" + std::string(table.name) + "`");
    EXPECT_FALSE(own.empty()) << table.name;
    constexpr const char* kTypes[] = {"INTEGER", "REAL", "TEXT"};
    for (const ColumnInfo& column : table.columns) {
      const std::string line = "\n| `" + std::string(column.name) + "` | " +
                               kTypes[static_cast<size_t>(column.type)] + " | ";
      EXPECT_THAT(own + section("Columns of several tables"), HasSubstr(line)) << table.name;
    }
  }
}

TEST_F(SqlCommand, TextFormatsOfAnExportGoToStdoutAndOthersDoNot) {
  for (const char* place : {"-", "/dev/stdout"}) {
    const Captured metrics = Capture([&] {
      return Dispatch({"export", Run(), "--prometheus", place});
    });
    EXPECT_EQ(metrics.status, kExitSuccess) << metrics.err;
    EXPECT_THAT(metrics.out, HasSubstr("# TYPE gpubound_"));
    const Captured database = Capture([&] {
      return Dispatch({"export", Run(), "--sqlite", place});
    });
    EXPECT_EQ(database.status, kExitWrongUse);
    EXPECT_THAT(database.err, HasSubstr("--sqlite is no text: name a FILE, not '"));
  }
  EXPECT_FALSE(std::filesystem::exists("-"));
}

}  // namespace
}  // namespace gpubound
