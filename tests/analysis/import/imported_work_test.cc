// SPDX-License-Identifier: Apache-2.0
//
// What kernels of imported profiles do and who launched them, against what other tools say of the
// same profiles, or what their numbers say on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/import/import.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using testing_support::TemporaryRun;

class ImportedWork : public testing::Test {
 protected:
  void Import(const std::string& path) {
    const TemporaryRun output;
    const auto summary = ImportTrace(path, output.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    Result<gpubound::Run> run = LoadRun(output.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    Result<Report> report = BuildReport(*run, BreakdownOptions());
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    report_ = std::move(*report);
  }
  void ImportReal(const std::string& name) {
    Import(GPUBOUND_TEST_DATA "/kineto/" + name + ".json.gz");
  }
  // An event of Chrome JSON, from |us| on.
  void Add(const std::string& category, const std::string& name, int64_t us, int64_t dur,
           const std::string& args, int64_t tid = 11) {
    events_ += (events_.empty() ? "" : ",\n") + ("{\"ph\": \"X\", \"cat\": \"" + category) +
               "\", \"name\": \"" + name + "\", \"pid\": 11, \"tid\": " + std::to_string(tid) +
               ", \"ts\": " + std::to_string(us) + ", \"dur\": " + std::to_string(dur) +
               ", \"args\": {" + args + "}}";
  }
  void AddOp(const std::string& name, int64_t us, int64_t dur, const std::string& dims = "[]",
             int64_t tid = 11) {
    Add("cpu_op", name, us, dur,
        "\"Input Dims\": " + dims + R"(, "Input type": ["float", "float", "float"])", tid);
  }
  void AddCall(int id, int64_t us, const std::string& name = "cudaLaunchKernel", int64_t tid = 11,
               int64_t dur = 4) {
    const bool is_driver = name.starts_with("cu") && !name.starts_with("cuda");
    Add(is_driver ? "cuda_driver" : "cuda_runtime", name, us, dur,
        "\"correlation\": " + std::to_string(id), tid);
  }
  void AddKernel(int id, int64_t us, const std::string& name = "my_kernel") {
    Add("kernel", name, us, 10, R"("device": 0, "stream": 7, "correlation": )" + std::to_string(id),
        7);
  }
  void ImportEvents() { Import(input_.Write("trace.json", "[" + events_ + "]")); }
  // "aten::mm 2 calls 3", of each row by name.
  std::vector<std::string> Ops() const {
    std::vector<std::string> ops;
    for (const ReportOp& row : Process().ops) {
      ops.push_back(row.op + " " + std::to_string(row.count) + " calls " +
                    std::to_string(row.calls));
    }
    std::sort(ops.begin(), ops.end());
    return ops;
  }
  // In per cent of all that operators launched.
  double OpShare(const std::string& op) const {
    int64_t sum_ns = 0;
    int64_t all_ns = 0;
    for (const ReportOp& row : Process().ops) {
      all_ns += row.sum_ns;
      sum_ns += row.op == op ? row.sum_ns : 0;
    }
    return 100 * static_cast<double>(sum_ns) / static_cast<double>(all_ns);
  }
  // Of the row of |op| and |shape|, 1e12 operations a second.
  double Teraflops(const std::string& op, const std::string& shape) const {
    for (const ReportOp& row : Process().ops) {
      if (row.op != op || row.shape != shape || !row.flops) continue;
      return *row.flops / static_cast<double>(row.sum_ns) / 1e3;
    }
    return 0;
  }
  const ReportProcess& Process() const { return report_.processes.at(0); }

  // In per cent of all device work.
  std::map<std::string, double> CategoryShares() const {
    std::map<std::string, double> shares;
    for (const ReportCategory& row : Process().categories) {
      shares[row.category] =
          100 * static_cast<double>(row.sum_ns) / static_cast<double>(Process().gpu_sum_ns);
    }
    return shares;
  }

  TemporaryRun input_;
  std::string events_;
  Report report_;
};

// TraceLens 0.4 says of this profile: elementwise 54.4 %, GEMM 28.2 %, reduce 2.3 %, other 15 %, in
// which it has attention and kernels that move data. It leaves out the first kernels of the trace.
TEST_F(ImportedWork, ALanguageModelsCategoriesAreThoseThatTraceLensFinds) {
  ImportReal("h100_qwen_chat");
  std::map<std::string, double> shares = CategoryShares();
  EXPECT_NEAR(shares["elementwise"], 54.4, 0.5);
  EXPECT_NEAR(shares["gemm"], 28.2, 0.5);
  EXPECT_NEAR(shares["reduction"], 2.3, 0.2);
  EXPECT_NEAR(shares["attention"] + shares["copy"], 15, 0.5);
  EXPECT_EQ(shares.count("other"), 0u);
}

TEST_F(ImportedWork, CategoriesSumToAllDeviceWorkOfTheProcess) {
  for (const char* const trace :
       {"h100_bert_small", "h100_qwen_chat", "simple_add", "vllm_decode_graph"}) {
    ImportReal(trace);
    int64_t sum_ns = 0;
    for (const ReportCategory& row : Process().categories) sum_ns += row.sum_ns;
    EXPECT_EQ(sum_ns, Process().gpu_sum_ns) << trace;
    EXPECT_LT(CategoryShares()["other"], 5) << trace;
  }
}

// TraceLens 0.4: aten::mul 21 %, aten::mm 21 %, aten::copy_ 16 %; the product that takes longest
// reaches 611 TFLOP/s, and attention, of whose pairs half are masked, 90.
TEST_F(ImportedWork, ALanguageModelsOperatorsAreThoseThatTraceLensFinds) {
  ImportReal("h100_qwen_chat");
  EXPECT_NEAR(OpShare("aten::mul"), 21, 1);
  EXPECT_NEAR(OpShare("aten::mm"), 21, 1);
  EXPECT_NEAR(OpShare("aten::copy_"), 16, 1);
  EXPECT_NEAR(Teraflops("aten::mm", "8944x1024, 1024x2816"), 611, 6);
  EXPECT_NEAR(
      Teraflops("aten::_flash_attention_forward", "16x559x16x64, 16x559x16x64, 16x559x16x64"), 90,
      1);
  EXPECT_NEAR(Process().ops[0].peak_flops_share.value_or(0), 611.0 / 989, 0.01);
}

TEST_F(ImportedWork, TheInnermostOperatorAroundTheLaunchIsTheKernels) {
  AddOp("aten::linear", 0, 100);
  AddOp("aten::addmm", 10, 40, "[[16], [8, 32], [32, 16]]");
  AddCall(1, 20);
  AddCall(2, 60);
  AddKernel(1, 200, "volta_sgemm");
  AddKernel(2, 220);
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::addmm 1 calls 1", "aten::linear 1 calls 1"));
  const auto& kernels = Process().kernels;
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].op, "aten::linear");
  EXPECT_EQ(kernels[0].category, "gemm");
  EXPECT_EQ(kernels[1].op, "aten::addmm");
  EXPECT_EQ(Process().ops[0].shape, "16, 8x32, 32x16");
  EXPECT_EQ(Process().ops[0].flops, 8192);
}

TEST_F(ImportedWork, ACallOfAnOperatorIsCountedOnceHoweverMuchItLaunches) {
  for (int i = 0; i < 3; ++i) {
    AddOp("aten::sum", 1000 * i, 100);
    AddCall(10 * i + 1, 1000 * i + 5, "cudaStreamIsCapturing");
    AddCall(10 * i + 2, 1000 * i + 10, "cudaMemsetAsync");
    AddCall(10 * i + 3, 1000 * i + 20, "cudaLaunchKernel", 11, 10);
    AddCall(10 * i + 3, 1000 * i + 22, "cuLaunchKernel");
    AddKernel(10 * i + 2, 1000 * i + 200);
    AddKernel(10 * i + 3, 1000 * i + 220);
  }
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::sum 6 calls 3"));
}

// Whose first call is one without work, be it of a function that launches some.
TEST_F(ImportedWork, AnOperatorWhoseFirstLaunchLeftNoWorkIsCountedByTheNext) {
  AddOp("aten::mm", 0, 100, "[[8, 32], [32, 16]]");
  AddCall(1, 10, "cudaMemsetAsync");
  AddCall(2, 20);
  AddKernel(2, 200);
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::mm 1 calls 1"));
  EXPECT_EQ(Process().ops[0].flops, 8192);
}

TEST_F(ImportedWork, ThreadsHaveOperatorsOfTheirOwn) {
  AddOp("aten::mm", 0, 100);
  AddOp("aten::mul", 0, 100, "[]", 12);
  AddCall(1, 10);
  AddCall(2, 10, "cudaLaunchKernel", 12);
  AddKernel(1, 200);
  AddKernel(2, 220);
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::mm 1 calls 1", "aten::mul 1 calls 1"));
}

TEST_F(ImportedWork, AnIdThatIsUsedAgainIsThatOfTheLastCallBeforeTheWork) {
  AddOp("aten::mm", 0, 100);
  AddOp("aten::mul", 1000, 100);
  AddCall(1, 10);
  AddCall(1, 1010);
  AddKernel(1, 200);
  AddKernel(1, 1200);
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::mm 1 calls 1", "aten::mul 1 calls 1"));
}

TEST_F(ImportedWork, WorkOutsideOfOperatorsHasNone) {
  AddOp("aten::mm", 0, 100);
  AddCall(1, 10);
  AddCall(2, 110);
  AddKernel(1, 200);
  AddKernel(2, 220, "another");
  AddKernel(3, 240, "of_no_call");
  ImportEvents();
  EXPECT_THAT(Ops(), ElementsAre("aten::mm 1 calls 1"));
  for (const ReportKernel& kernel : Process().kernels) {
    EXPECT_EQ(kernel.op, kernel.name == "my_kernel" ? "aten::mm" : "") << kernel.name;
  }
}

// Of one name, so that nothing of the lengths is lost.
TEST_F(ImportedWork, AKernelOfSeveralOperatorsIsOneRowWithAllOfIts) {
  for (int i = 0; i < 3; ++i) {
    AddOp(i == 0 ? "aten::mul" : "aten::add", 1000 * i, 100);
    AddCall(i + 1, 1000 * i + 10);
    AddKernel(i + 1, 1000 * i + 200);
  }
  ImportEvents();
  ASSERT_THAT(Process().kernels, SizeIs(1));
  EXPECT_EQ(Process().kernels[0].count, 3u);
  EXPECT_EQ(Process().kernels[0].op, "aten::add");
}

TEST_F(ImportedWork, ProcessesThatShareIdsHaveTheirOwnOperators) {
  AddOp("aten::mm", 0, 100);
  AddCall(1, 10);
  AddKernel(1, 200);
  const std::string one = events_;
  events_.clear();
  AddOp("aten::mul", 5000, 100);
  AddCall(1, 5010);
  AddKernel(1, 5200);
  for (size_t at = 0; (at = events_.find("\"pid\": 11", at)) != std::string::npos;) {
    events_.replace(at, 9, "\"pid\": 12");
  }
  events_ = one + ",\n" + events_;
  ImportEvents();
  ASSERT_THAT(report_.processes, SizeIs(2));
  for (const ReportProcess& process : report_.processes) {
    ASSERT_THAT(process.ops, SizeIs(1));
    EXPECT_EQ(process.ops[0].op, process.pid == 11 ? "aten::mm" : "aten::mul");
  }
}

}  // namespace
}  // namespace gpubound
