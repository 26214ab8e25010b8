// SPDX-License-Identifier: Apache-2.0
//
// A run as tables: what SQL on it says is what was recorded, and a query reads no more than it asks
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/output/tables/sqlite_session.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Rows as "a|b|c".
class Lines : public RowSink {
 public:
  void Begin(const std::vector<std::string>&) override {}
  bool Row(std::span<const Cell> cells) override {
    std::string line;
    for (const Cell& cell : cells) line += (&cell == cells.data() ? "" : "|") + Text(cell);
    lines.push_back(line);
    return true;
  }
  void End() override {}
  std::vector<std::string> lines;

 private:
  static std::string Text(const Cell& cell) {
    if (const auto* integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&cell)) return std::to_string(*real);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
    return "NULL";
  }
};

class TraceTablesTest : public testing::Test {
 protected:
  std::vector<std::string> Query(const std::string& sql) {
    Lines lines;
    session_.reset();
    Result<std::unique_ptr<SqlSession>> session = SqlSession::Open(run_.path());
    EXPECT_TRUE(session.ok()) << session.error().ToString();
    if (!session.ok()) return {};
    session_ = std::move(*session);
    const Status done = session_->Run(sql, &lines);
    EXPECT_TRUE(done.ok()) << done.error().ToString();
    return lines.lines;
  }
  // Of the session that Query() opened last.
  std::vector<std::string> Again(const std::string& sql) {
    Lines lines;
    const Status done = session_->Run(sql, &lines);
    EXPECT_TRUE(done.ok()) << done.error().ToString();
    return lines.lines;
  }
  uint64_t PiecesRead() const { return session_->run().pieces_read(); }

  // Ten chunks of a kernel each, at 100, 200, ...
  void PutTenKernels() {
    writer_.PutUsualRows();
    for (uint32_t i = 0; i < 10; ++i) {
      writer_.Work({.thread = 9, .first_sequence = i}, {Kernel(100 * i + 100, 100 * i + 150, i)});
    }
  }
  // Ten chunks of thread 1 with a scope each, at 100, 200, ...
  void PutTenScopes() {
    writer_.PutUsualRows();
    for (uint64_t i = 0; i < 10; ++i) {
      writer_.Scopes({.thread = 1, .first_sequence = 2 * i},
                     {Begin(kTrain, 100 * i + 100), End(kTrain, 100 * i + 150)});
    }
  }

  TemporaryRun run_;
  SegmentWriter writer_{run_, WriterIdentity{}};
  std::unique_ptr<SqlSession> session_;
};

TEST_F(TraceTablesTest, OperationsThatWereNamedFromFactsAreScopes) {
  writer_.PutUsualRows();
  writer_.Sql(
      "insert into label (id, kind, layer, domain, text) values "
      "(7, 2, 0, 'module with gradients', 'Policy'), (8, 1, 0, '', 'simulation')");
  const LabelId policy{7};
  const LabelId simulation{8};
  writer_.Scopes(
      {.thread = 1, .first_sequence = 0},
      {Begin(policy, 100), End(policy, 200), Begin(simulation, 250), End(simulation, 300)});
  EXPECT_THAT(Query("select name, begin_ns, end_ns - begin_ns from scope where kind = 'operation' "
                    "order by begin_ns, end_ns desc"),
              ElementsAre("rollout|100|200", "inference|100|100", "simulation|250|50"));
  writer_.Work({.thread = 9, .first_sequence = 0}, {Kernel(400, 450, 1)});
  EXPECT_THAT(Query("select count(*) from gpu"), ElementsAre("1"));
}

TEST_F(TraceTablesTest, AnEmptyRunHasEveryTable) {
  writer_.PutUsualRows();
  for (const TraceTable& table : AllTraceTables()) {
    EXPECT_THAT(Query(std::string("SELECT count(*) >= 0 FROM ") + table.name), ElementsAre("1"))
        << table.name;
  }
}

TEST_F(TraceTablesTest, AScopeHasBeginEndNameAndDepth) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1},
                 {Begin(kTrain, 100), Begin(kInner, 200), End(kInner, 300), End(kTrain, 400)});
  EXPECT_THAT(
      Query("SELECT begin_ns, end_ns, duration_ns, kind, name, depth, cut FROM scope"),
      ElementsAre("200|300|100|operation|inner|1|NULL", "100|400|300|operation|train|0|NULL"));
}

TEST_F(TraceTablesTest, AScopeOverSeveralChunksIsOneRow) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  writer_.Scopes({.thread = 1, .first_sequence = 1}, {Begin(kInner, 200)}, {1});
  writer_.Scopes({.thread = 1, .first_sequence = 2}, {End(kInner, 300), End(kTrain, 400)}, {1, 3});
  EXPECT_THAT(Query("SELECT name, begin_ns, end_ns FROM scope"),
              ElementsAre("inner|200|300", "train|100|400"));
}

TEST_F(TraceTablesTest, ScopesAroundAGapAreMarkedAsCut) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 200)});
  writer_.Scopes({.thread = 1, .first_sequence = 9}, {End(kInner, 700)}, {3});
  EXPECT_THAT(Query("SELECT name, begin_ns, end_ns, cut FROM scope ORDER BY begin_ns, name"),
              ElementsAre("train|100|200|end", "inner|200|200|end", "inner|700|700|begin"));
}

TEST_F(TraceTablesTest, AScopeThatNeverEndedEndsWithTheSpan) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  EXPECT_THAT(Query("SELECT end_ns, cut FROM scope"), ElementsAre("1000|end"));
}

TEST_F(TraceTablesTest, ARangeMayEndOnAnotherThread) {
  writer_.PutUsualRows();
  writer_.Sql("INSERT INTO thread VALUES(2, 101, 'other')");
  writer_.Scopes({.thread = 1}, {MakeSlot(SlotKind::kRangeStart, kTrain, 100), 77});
  writer_.Scopes({.thread = 2}, {MakeSlot(SlotKind::kRangeEnd, kTrain, 300), 77});
  EXPECT_THAT(Query("SELECT thread, begin_ns, end_ns, is_range, cut FROM scope"),
              ElementsAre("1|100|300|1|NULL"));
}

TEST_F(TraceTablesTest, StepsPhasesAndCountersAreRows) {
  writer_.PutUsualRows();
  writer_.Sql("INSERT INTO label VALUES(7, 5, 0, '', 'reward'), (8, 4, 0, '', 'update')");
  writer_.Scopes({.thread = 1},
                 {MakeSlot(SlotKind::kPhase, static_cast<LabelId>(8), 10),
                  MakeSlot(SlotKind::kCounter, static_cast<LabelId>(7), 20),
                  std::bit_cast<uint64_t>(0.5), MakeSlot(SlotKind::kStep, kTrain, 30), 4});
  EXPECT_THAT(Query("SELECT time_ns, name FROM phase"), ElementsAre("10|update"));
  EXPECT_THAT(Query("SELECT time_ns, name, value FROM counter"), ElementsAre("20|reward|0.500000"));
  EXPECT_THAT(Query("SELECT time_ns, number FROM step"), ElementsAre("30|4"));
  EXPECT_THAT(Query("SELECT kind FROM event"), ElementsAre("phase", "counter", "step"));
}

TEST_F(TraceTablesTest, WhereIterationsBeginNoneEnds) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {MakeSlot(SlotKind::kStep, LabelId{0}, 10), kIterationsBegin,
                                 MakeSlot(SlotKind::kStep, LabelId{0}, 30), 4});
  EXPECT_THAT(Query("SELECT time_ns, number FROM step"), ElementsAre("30|4"));
  EXPECT_THAT(Query("SELECT time_ns, kind, payload FROM event"),
              ElementsAre("10|iterations_begin|NULL", "30|step|4"));
}

TEST_F(TraceTablesTest, CallsAndWorkJoinByCorrelation) {
  writer_.PutUsualRows();
  writer_.Calls({.thread = 9}, {Launch(100, 110, 4), Launch(200, 210, 5)});
  writer_.Work({.thread = 9}, {Kernel(120, 140, 4), Kernel(220, 240, 5)});
  EXPECT_THAT(
      Query("SELECT api.thread, api.begin_ns, gpu.begin_ns, gpu.name, gpu.class, stream, grid_x "
            "FROM gpu JOIN api USING(correlation) ORDER BY 2"),
      ElementsAre("1|100|120|gemm|compute|7|8", "1|200|220|gemm|compute|7|8"));
}

// Quadratic, it would be ten pieces of the one for each of the other's ten records.
TEST_F(TraceTablesTest, AJoinByCorrelationReadsEachChunkTwiceAtMost) {
  PutTenKernels();
  for (uint32_t i = 0; i < 10; ++i) {
    const uint64_t begin_ns = 100 * i + 90;
    writer_.Calls({.thread = 9, .first_sequence = i}, {Launch(begin_ns, begin_ns + 5, i)});
  }
  EXPECT_THAT(Query("SELECT count(*), sum(gpu.begin_ns - api.begin_ns) FROM gpu JOIN api "
                    "USING(process, correlation)"),
              ElementsAre("10|100"));
  EXPECT_LE(PiecesRead(), 30u);
}

// Else it would be some pieces of the one for each row of the other.
TEST_F(TraceTablesTest, ATableThatIsJoinedWithItselfIsReadOnce) {
  PutTenScopes();
  for (const char* sql :
       {"SELECT count(*) FROM scope a JOIN scope b ON b.begin_ns >= a.begin_ns",
        "WITH a AS MATERIALIZED (SELECT * FROM scope) SELECT count(*) FROM a JOIN scope b ON "
        "b.end_ns >= a.end_ns",
        "SELECT sum((SELECT count(*) FROM scope b WHERE b.begin_ns <= a.begin_ns)) FROM scope a",
        "SELECT sum(b.depth = a.depth) - 45 FROM scope a JOIN scope b USING(name)"}) {
    EXPECT_THAT(Query(sql), ElementsAre("55")) << sql;
    EXPECT_EQ(PiecesRead(), 10u) << sql;
    EXPECT_THAT(Again(sql), ElementsAre("55")) << sql;
    EXPECT_EQ(PiecesRead(), 10u) << "the copy serves later queries: " << sql;
  }
}

TEST_F(TraceTablesTest, AJoinHasTheRowsOfTheTablesOfTheReport) {
  PutTenScopes();
  EXPECT_THAT(Query("SELECT count(*) FROM scope a JOIN scope b USING(begin_ns) JOIN process p ON "
                    "p.process = a.process"),
              ElementsAre("10"));
  EXPECT_THAT(Again("EXPLAIN QUERY PLAN SELECT 1 FROM scope a JOIN scope b"), testing::SizeIs(2));
}

TEST_F(TraceTablesTest, ACorrelationHasAllItsRecordsOfEveryProcess) {
  writer_.PutUsualRows();
  writer_.Work({.thread = 9}, {Kernel(120, 140, 4), Kernel(220, 240, 5), Kernel(320, 340, 4)});
  SegmentWriter second(run_, WriterIdentity{"host", 200, 6});
  second.PutUsualRows();
  second.Work({.thread = 9}, {Kernel(420, 440, 4)});
  EXPECT_THAT(Query("SELECT process, begin_ns FROM gpu WHERE correlation = 4"),
              ElementsAre("1|120", "1|320", "2|420"));
  EXPECT_THAT(Query("SELECT begin_ns FROM gpu WHERE correlation = 4 AND process = 2"),
              ElementsAre("420"));
  EXPECT_THAT(Query("SELECT begin_ns FROM gpu WHERE correlation = 4.5 OR correlation = '5'"),
              ElementsAre("220"));
  for (const char* nothing : {"-1", "4294967300", "NULL", "'text'", "7"}) {
    EXPECT_THAT(Query(std::string("SELECT 1 FROM gpu WHERE correlation = ") + nothing), IsEmpty());
  }
}

TEST_F(TraceTablesTest, NodesOfGraphsAreRowsAndTellTheClassOfTheirGraph) {
  writer_.PutUsualRows();
  writer_.Sql("INSERT INTO work VALUES(2, 4, 0, 'CUDA graph', 0,0,0, 0,0,0, 0,0,0)");
  writer_.Sql(
      "INSERT INTO graph_node VALUES(7, 3, 0, 1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'), "
      "(8, 3, 3, 0, '(host function)')");
  DeviceRecord graph = Kernel(300, 500, 1);
  graph.work = WorkId{2};
  graph.graph = 3;
  writer_.Work({.thread = 9}, {graph});
  EXPECT_THAT(Query("select graph, graph_node, type, class, captured_in from graph_node"),
              ElementsAre("3|7|0|comm|train", "3|8|3|NULL|NULL"));
  EXPECT_THAT(Query("select kind, class, name from gpu"), ElementsAre("graph|comm|CUDA graph"));
  EXPECT_THAT(Query("select name, class from kernel"), ElementsAre("CUDA graph 3|comm"));
  EXPECT_THAT(Query("select operation, gpu_busy_is_upper_bound from operation"),
              ElementsAre("(no operation)|1"));
}

TEST_F(TraceTablesTest, LooksAtStacksAndTheirFramesAreRows) {
  writer_.PutUsualRows();
  writer_.PutFrames();
  writer_.Sql("INSERT INTO function VALUES(3, '', '<built-in>')");
  writer_.Sql("INSERT INTO frame VALUES(5, 2, 3, 0)");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 50), End(kTrain, 900)});
  writer_.Stacks({}, {Looks(100, 300, 2, 4), Looks(400, 500, 5, 2), Looks(600, 600, 4, 1, 300)});
  EXPECT_THAT(
      Query("SELECT * FROM stack_looks ORDER BY begin_ns"),
      ElementsAre("1|1|100|100|300|4|0|2", "1|1|100|400|500|2|0|5", "1|NULL|300|600|600|1|0|NULL"));
  EXPECT_THAT(Query("SELECT * FROM frames"),
              ElementsAre("1|1|NULL|train|a.py|10|0", "1|2|1|step|a.py|20|1",
                          "1|3|1|step|a.py|21|1", "1|5|2|<built-in>|NULL|NULL|2"));
  EXPECT_THAT(Query("SELECT function, looks FROM stack_looks JOIN frames ON frames.process = "
                    "stack_looks.process AND frames.id = frame ORDER BY begin_ns"),
              ElementsAre("step|4", "<built-in>|2"));
}

TEST_F(TraceTablesTest, FunctionsOfAnOperationAndLinesThatWaitedForTheGpuAreRows) {
  writer_.PutUsualRows();
  writer_.PutFrames();
  writer_.Sql("INSERT INTO label VALUES(9, 6, 0, '', 'cudaDeviceSynchronize')");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 50), End(kTrain, 900)});
  ApiRecord wait = Launch(390, 510, 4);
  wait.label = static_cast<LabelId>(9);
  writer_.Calls({.thread = 9}, {wait});
  writer_.Stacks({}, {Looks(100, 300, 2, 6), Looks(400, 500, 3, 2), Looks(600, 700, 1, 2)});
  EXPECT_THAT(
      Query("SELECT operation, start_up, id, caller, function, file, line, looks, own_looks, "
            "operation_looks FROM stack"),
      ElementsAre("train|0|1|NULL|train|a.py|10|10|2|10", "train|0|2|1|step|a.py|20|8|8|10"));
  EXPECT_THAT(
      Query("SELECT process, operation, function, package, line, looks, share FROM sync_line"),
      ElementsAre("1|train|step|NULL|21|2|1.000000"));
}

TEST_F(TraceTablesTest, LooksAtStacksOfAProcessThatWasLoadedWholeAreRowsToo) {
  writer_.PutUsualRows();
  writer_.PutFrames();
  writer_.Stacks({}, {Looks(100, 300, 2, 4), Looks(400, 500, 9, 2)});
  const std::vector<std::string> streamed = Query("SELECT * FROM stack_looks ORDER BY begin_ns");
  writer_.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
  EXPECT_EQ(Query("SELECT * FROM stack_looks ORDER BY begin_ns"), streamed);
  EXPECT_THAT(streamed, ElementsAre("1|1|100|100|300|4|0|2", "1|1|100|400|500|2|0|NULL"));
}

TEST_F(TraceTablesTest, ATimeRangeOfLooksReadsOnlyTheChunksItNeeds) {
  writer_.PutUsualRows();
  writer_.PutFrames();
  for (uint32_t i = 0; i < 10; ++i) {
    writer_.Stacks({.first_sequence = i}, {Looks(100 * i + 100, 100 * i + 150, 2, 1)});
  }
  EXPECT_THAT(Query("SELECT begin_ns FROM stack_looks WHERE begin_ns < 220 AND end_ns > 120"),
              ElementsAre("100", "200"));
  EXPECT_EQ(PiecesRead(), 2u);
}

TEST_F(TraceTablesTest, FramesOfAProcessAreThoseOfThatOne) {
  writer_.PutUsualRows();
  writer_.PutFrames();
  SegmentWriter second(run_, WriterIdentity{"host", 200, 6});
  second.PutUsualRows();
  second.Sql("INSERT INTO function VALUES(1, 'b.py', 'reset')");
  second.Sql("INSERT INTO frame VALUES(1, 0, 1, 5)");
  EXPECT_THAT(Query("SELECT function FROM frames WHERE process = 2"), ElementsAre("reset"));
  EXPECT_THAT(Query("SELECT process, id, depth FROM frames"),
              ElementsAre("1|1|0", "1|2|1", "1|3|1", "2|1|0"));
}

TEST_F(TraceTablesTest, SamplesOfTheProcessTreeAreRows) {
  writer_.PutUsualRows();
  writer_.Sql("INSERT INTO process_tree VALUES(400, 3, 60, 4096, 20)");
  EXPECT_THAT(Query("select * from process_tree"), ElementsAre("1|400|3|60|4096|20"));
}

TEST_F(TraceTablesTest, ATimeRangeReadsOnlyTheChunksItNeeds) {
  PutTenKernels();
  EXPECT_THAT(Query("SELECT begin_ns FROM gpu WHERE begin_ns BETWEEN 400 AND 500"),
              ElementsAre("400", "500"));
  EXPECT_EQ(PiecesRead(), 2u);
  EXPECT_THAT(Query("SELECT begin_ns FROM gpu WHERE begin_ns < 220 AND end_ns > 120"),
              ElementsAre("100", "200"));
  EXPECT_EQ(PiecesRead(), 2u);
  EXPECT_EQ(Query("SELECT begin_ns FROM gpu").size(), 10u);
  EXPECT_EQ(PiecesRead(), 10u);
}

TEST_F(TraceTablesTest, ATimeRangeOfScopesReadsUntilTheyHaveEnded) {
  PutTenScopes();
  EXPECT_THAT(Query("SELECT begin_ns FROM scope WHERE begin_ns >= 400 AND begin_ns <= 500"),
              ElementsAre("400", "500"));
  EXPECT_EQ(PiecesRead(), 2u);
  EXPECT_THAT(Query("SELECT time_ns FROM event WHERE time_ns = 450"), ElementsAre("450"));
  EXPECT_EQ(PiecesRead(), 1u);
}

TEST_F(TraceTablesTest, LimitsThatAreNoIntegersLimitWhatTheySay) {
  PutTenKernels();
  EXPECT_EQ(Query("SELECT 1 FROM gpu WHERE begin_ns > 899.5 AND begin_ns < 1e300").size(), 2u);
  EXPECT_EQ(PiecesRead(), 2u);
  EXPECT_THAT(Query("SELECT 1 FROM gpu WHERE begin_ns >= 'text'"), IsEmpty());
  EXPECT_THAT(Query("SELECT 1 FROM gpu WHERE begin_ns > NULL"), IsEmpty());
  EXPECT_EQ(Query("SELECT 1 FROM gpu WHERE begin_ns < 200.5").size(), 2u);
}

TEST_F(TraceTablesTest, AnotherProcessIsNotReadForThisOne) {
  PutTenKernels();
  SegmentWriter second(run_, WriterIdentity{"host", 200, 6});
  second.PutUsualRows();
  second.Work({.thread = 9}, {Kernel(300, 350, 1)});
  EXPECT_THAT(Query("SELECT pid, count(*), sum(duration_ns) FROM gpu JOIN process USING(process) "
                    "GROUP BY pid ORDER BY pid"),
              ElementsAre("100|10|500", "200|1|50"));
  EXPECT_EQ(Query("SELECT 1 FROM gpu WHERE process = 2").size(), 1u);
  EXPECT_EQ(PiecesRead(), 1u);
}

TEST_F(TraceTablesTest, ADamagedChunkIsPassedOverAndNamed) {
  PutTenKernels();
  writer_.Sql("UPDATE chunk SET crc=crc+1 WHERE id=3");
  EXPECT_EQ(Query("SELECT 1 FROM gpu").size(), 9u);
  ASSERT_EQ(session_->run().problems().size(), 1u);
  EXPECT_THAT(session_->run().problems()[0], HasSubstr("chunk 3 is damaged"));
  EXPECT_THAT(Query("SELECT value FROM ledger WHERE counter='chunk_events_lost'"),
              ElementsAre("1"));
}

TEST_F(TraceTablesTest, AKilledProcessHasWhatIsSalvaged) {
  writer_.PutUsualRows();
  writer_.Sql("DELETE FROM meta WHERE key LIKE 'end%'");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 200)});
  LiveWriter live(WriterIdentity{});
  live.AddScopes(1, 2, {Begin(kTrain, 300), End(kTrain, 400)});
  run_.Write(LiveWriter::NameFor(WriterIdentity{}), live.Bytes());
  EXPECT_THAT(Query("SELECT begin_ns FROM scope"), ElementsAre("100", "300"));
  EXPECT_THAT(Query("SELECT span_end FROM process"), ElementsAre("last event"));
}

TEST_F(TraceTablesTest, FiguresAreThoseOfTheReport) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  writer_.Calls({.thread = 9}, {Launch(200, 210, 4)});
  writer_.Work({.thread = 9}, {Kernel(300, 500, 4), Kernel(400, 600, 5)});
  EXPECT_THAT(Query("SELECT operation, wall_ns, gpu_busy_ns, gpu_sum_ns FROM operation"),
              ElementsAre("train|800|300|400", "(no operation)|200|0|0"));
  EXPECT_THAT(Query("SELECT sum(duration_ns) FROM gpu"), ElementsAre("400"));
  EXPECT_THAT(Query("SELECT sum(ns) FROM breakdown"), ElementsAre("1000"));
}

// As a process of a run that goes on does; by its pid it comes before the one that is there.
TEST_F(TraceTablesTest, FiguresAreOfTheirProcessWhereAnotherBeganAfterTheOpening) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  ASSERT_THAT(Query("SELECT pid FROM process"), ElementsAre("100"));
  SegmentWriter first(run_, WriterIdentity{"host", 50, 6});
  first.PutUsualRows();
  SegmentWriter last(run_, WriterIdentity{"host", 200, 6});
  last.PutUsualRows();
  EXPECT_THAT(Again("SELECT pid, operation, wall_ns FROM operation JOIN process USING(process)"),
              ElementsAre("100|train|800", "100|(no operation)|200"));
  EXPECT_THAT(Again("SELECT process, sum(ns) FROM breakdown GROUP BY 1"), ElementsAre("1|1000"));
  EXPECT_THAT(session_->run().problems(), ElementsAre(HasSubstr("2 of the processes began")));
}

TEST_F(TraceTablesTest, AReportThatCannotBeBuiltIsAnErrorAndNoEmptyTable) {
  writer_.PutUsualRows();
  Query("SELECT 1");
  std::filesystem::remove_all(run_.path());
  Lines lines;
  for (const char* table : {"operation", "ledger"}) {
    const Status done = session_->Run(std::string("SELECT * FROM ") + table, &lines);
    ASSERT_FALSE(done.ok()) << table;
    EXPECT_THAT(done.error().found, HasSubstr("nothing there"));
  }
  EXPECT_NE(session_->run().report_error(), nullptr);
  EXPECT_THAT(Again("SELECT pid FROM process"), ElementsAre("100"));
}

TEST_F(TraceTablesTest, TheReportIsFoundFromAnotherFolder) {
  writer_.PutUsualRows();
  const std::filesystem::path here = std::filesystem::current_path();
  const std::filesystem::path run = run_.path();
  std::filesystem::current_path(run.parent_path());
  Result<std::unique_ptr<SqlSession>> session = SqlSession::Open(run.filename().string());
  std::filesystem::current_path(here);
  ASSERT_TRUE(session.ok());
  session_ = std::move(*session);
  EXPECT_THAT(Again("SELECT operation FROM operation"), ElementsAre("(no operation)"));
}

TEST_F(TraceTablesTest, ALimitOfEndsHasRangesThatAnotherThreadEnded) {
  writer_.PutUsualRows();
  writer_.Sql("INSERT INTO thread VALUES(2, 101, 'other')");
  writer_.Scopes({.thread = 1}, {MakeSlot(SlotKind::kRangeStart, kTrain, 100), 77});
  writer_.Scopes({.thread = 1, .first_sequence = 2}, {Begin(kInner, 600), End(kInner, 700)});
  writer_.Scopes({.thread = 2}, {MakeSlot(SlotKind::kRangeEnd, kTrain, 300), 77});
  for (const char* limit : {"end_ns <= 500", "end_ns < 500 AND begin_ns < 200", "end_ns = 300"}) {
    EXPECT_THAT(Query(std::string("SELECT begin_ns, end_ns FROM scope WHERE ") + limit),
                ElementsAre("100|300"))
        << limit;
  }
}

TEST_F(TraceTablesTest, ALimitOfEndsHasScopesThatWereCutBeforeIt) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 200)});
  writer_.Scopes({.thread = 1, .first_sequence = 9}, {End(kInner, 700)}, {3});
  EXPECT_THAT(Query("SELECT name, begin_ns, end_ns, cut FROM scope WHERE end_ns <= 500"),
              UnorderedElementsAre("train|100|200|end", "inner|200|200|end"));
}

TEST_F(TraceTablesTest, ALimitAtTheSpansEndHasWhatNeverEnded) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  writer_.Scopes({.thread = 1, .first_sequence = 1}, {Begin(kInner, 1200), End(kInner, 1300)}, {1});
  EXPECT_THAT(Query("SELECT name, end_ns FROM scope WHERE end_ns <= 1000"),
              ElementsAre("train|1000"));
}

TEST_F(TraceTablesTest, NamesAreGivenAsUtf8) {
  writer_.PutUsualRows();
  writer_.Sql("UPDATE label SET text=CAST(x'6180FF62' AS TEXT) WHERE id=1");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 200)});
  EXPECT_THAT(Query("SELECT name FROM scope"), ElementsAre("a\xef\xbf\xbd\xef\xbf\xbd"
                                                           "b"));
}

TEST_F(TraceTablesTest, NothingButReadingIsAllowed) {
  writer_.PutUsualRows();
  Query("SELECT 1");
  Lines lines;
  for (const char* sql : {"CREATE TABLE x(y)", "ATTACH '/tmp/x' AS y", "DROP TABLE gpu",
                          "INSERT INTO gpu(name) VALUES('x')", "PRAGMA journal_mode=WAL"}) {
    EXPECT_FALSE(session_->Run(sql, &lines).ok()) << sql;
  }
  Again("SELECT 1 FROM gpu a JOIN gpu b");
  for (const char* sql : {"DROP TABLE gpu", "DELETE FROM temp.gpu", "CREATE TEMP TABLE x(y)"}) {
    EXPECT_FALSE(session_->Run(sql, &lines).ok()) << sql << " after a join";
  }
}

TEST_F(TraceTablesTest, SeveralStatementsRunOneAfterTheOther) {
  writer_.PutUsualRows();
  EXPECT_THAT(Query("SELECT 1; -- a remark\nSELECT 2;\n"), ElementsAre("1", "2"));
}

// The trainer works from 100 to 900 of the 1000 that the worker works for, and its device for 50.
class RoleTablesTest : public TraceTablesTest {
 protected:
  RoleTablesTest() {
    writer_.PutUsualRows();
    writer_.Meta("role", "train");
    writer_.Sql(
        "insert into label (id, kind, layer, domain, text) values "
        "(7, 1, 0, 'process', '200'), (8, " +
        std::to_string(static_cast<int>(LabelKind::kCounter)) + ", 0, '', 'consumed_samples')");
    // A wait for the other process until 100 and from 900 on.
    writer_.Sql("update label set kind = " + std::to_string(static_cast<int>(LabelKind::kLayer)) +
                ", layer = " + std::to_string(static_cast<int>(Layer::kWait)) + " where id = 7");
    const LabelId wait{7};
    const LabelId consumed{8};
    writer_.Scopes({.thread = 1},
                   {Begin(kTrain, 0), Begin(wait, 0), End(wait, 100),
                    MakeSlot(SlotKind::kCounter, consumed, 500), std::bit_cast<uint64_t>(12.0),
                    Begin(wait, 900), End(wait, 1000), End(kTrain, 1000)});
    writer_.Work({.thread = 9}, {Kernel(200, 250, 1)});
    second_.PutUsualRows();
    second_.Meta("role", "rollout");
    second_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 1000)});
  }

  SegmentWriter second_{run_, WriterIdentity{"host", 200, 6}};
};

TEST_F(RoleTablesTest, RolesHaveWhatTheirProcessesAndDevicesDid) {
  EXPECT_THAT(
      Query("SELECT role, processes, ns, active_ns, held_ns, busy_ns, idle_ns, unknown_ns, "
            "bubble_ratio FROM role"),
      ElementsAre("rollout|1|1000|1000|0|0|0|0|NULL", "train|1|1000|800|1000|50|950|0|0.950000"));
  EXPECT_THAT(Again("SELECT process, role, inferred, ns, active_ns FROM role_process"),
              ElementsAre("2|rollout|0|1000|1000", "1|train|0|1000|800"));
  EXPECT_THAT(Again("SELECT role, cause, ns FROM role_bubble"),
              ElementsAre("train|other|750", "train|starved|200"));
  EXPECT_THAT(Again("SELECT roles, ns FROM role_overlap"),
              ElementsAre("rollout+train|800", "rollout|200"));
}

TEST_F(RoleTablesTest, FiguresOfTheTrainingAreRowsAndWhatIsNotKnownHasNone) {
  EXPECT_THAT(
      Query("SELECT figure, name, value FROM training"),
      ElementsAre("samples_consumed|NULL|12.000000", "samples_discarded|NULL|0.000000",
                  "samples_discarded_share|NULL|0.000000",
                  "samples_of_unknown_version|NULL|12.000000", "rollout_gpu_ns|NULL|0.000000",
                  "perfect_overlap_ns|NULL|1000.000000", "perfect_overlap_saves|NULL|0.000000"));
  EXPECT_THAT(Again("SELECT * FROM process_training"), IsEmpty());
}

}  // namespace
}  // namespace gpubound
