// SPDX-License-Identifier: Apache-2.0
//
// Tables of a run, and rows of a query, as streams of Arrow's. Locks a run while it reads from it.
#include "analysis/output/tables/arrow_run.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "analysis/base/suggestion.h"
#include "analysis/reader/reader.h"

namespace gpubound {
namespace {

// Rows of a batch: half a megabyte a column.
constexpr size_t kBatchRows = 1 << 16;

std::vector<ColumnBuilder> BuildersOf(const std::vector<ArrowColumn>& columns) {
  std::vector<ColumnBuilder> builders;
  for (const ArrowColumn& column : columns) builders.emplace_back(column);
  return builders;
}

struct StreamOwner {
  std::shared_ptr<ArrowTable> table;
  std::unique_ptr<RowBatches> rows;
  std::vector<ColumnBuilder> builders;
  std::string error;
};

StreamOwner& OwnerOf(ArrowArrayStream* stream) { return *static_cast<StreamOwner*>(stream->owner); }

int SchemaOfStream(ArrowArrayStream* stream, ArrowSchema* out) {
  GiveSchema(OwnerOf(stream).table->columns(), out);
  return 0;
}

int NextOfStream(ArrowArrayStream* stream, ArrowArray* out) {
  StreamOwner& owner = OwnerOf(stream);
  *out = {};
  try {
    if (owner.rows == nullptr) {
      owner.rows = owner.table->Read();
      owner.builders = BuildersOf(owner.table->columns());
    }
    if (owner.rows->Read(&owner.builders, kBatchRows) > 0) GiveRows(owner.builders, out);
  } catch (const std::bad_alloc&) {  // no exception may reach the consumer
    owner.error = "there is not enough memory for the rows";
    return ENOMEM;
  }
  return 0;
}

const char* ErrorOfStream(ArrowArrayStream* stream) {
  const std::string& error = OwnerOf(stream).error;
  return error.empty() ? nullptr : error.c_str();
}

void ReleaseStream(ArrowArrayStream* stream) {
  delete &OwnerOf(stream);
  stream->release = nullptr;
}

// A column of a table here: one of the trace table, or made from one.
struct ColumnPlan {
  enum class Kind : uint8_t { kCell, kHost, kRank, kRunTime } kind = Kind::kCell;
  size_t source = 0;  // of the trace table
};

struct TablePlan {
  std::vector<ArrowColumn> columns;
  std::vector<ColumnPlan> plans;
};

constexpr char kRunPrefix[] = "run_";

TablePlan PlanOf(const TraceTable& table) {
  using Kind = ColumnPlan::Kind;
  TablePlan plan;
  const auto add = [&](const std::string& name, ColumnType type, Kind kind, size_t source) {
    const bool few = type == ColumnType::kText && table.of_events;
    plan.columns.push_back({name, type, few});
    plan.plans.push_back({kind, source});
  };
  const auto has = [&](const char* name) {
    return std::any_of(table.columns.begin(), table.columns.end(),
                       [&](const ColumnInfo& column) { return column.name == std::string(name); });
  };
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const ColumnInfo& column = table.columns[c];
    add(column.name, column.type, Kind::kCell, c);
    if (column.role == ColumnRole::kProcess) {
      if (!has("host")) add("host", ColumnType::kText, Kind::kHost, c);
      if (!has("rank")) add("rank", ColumnType::kInteger, Kind::kRank, c);
    }
  }
  if (!has("process")) return plan;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const std::string name = table.columns[c].name;
    if (name == "begin_ns" || name == "end_ns" || name == "time_ns") {
      add(kRunPrefix + name, ColumnType::kInteger, Kind::kRunTime, c);
    }
  }
  return plan;
}

Status Choose(const std::string& table, const std::vector<std::string>& chosen, TablePlan* plan) {
  TablePlan few;
  for (const std::string& name : chosen) {
    std::vector<std::string> names;
    for (const ArrowColumn& column : plan->columns) names.push_back(column.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string closest = ClosestName(name, names);
      return Error{"choosing a table", table, "no column '" + name + "'", "one of its columns",
                   closest.empty() ? "Its schema lists them." : "Did you mean '" + closest + "'?"};
    }
    const auto at = static_cast<size_t>(found - names.begin());
    few.columns.push_back(plan->columns[at]);
    few.plans.push_back(plan->plans[at]);
  }
  *plan = std::move(few);
  return Ok{};
}

}  // namespace

// Rows of a trace table, with the run locked while they are read.
class TraceTableReader : public RowBatches {
 public:
  TraceTableReader(std::shared_ptr<ArrowRun> run, const TraceTable& table,
                   std::vector<ColumnPlan> plans)
      : run_(std::move(run)), table_(table), plans_(std::move(plans)) {
    for (size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].role == ColumnRole::kProcess) process_column_ = c;
    }
  }
  ~TraceTableReader() override {
    const std::lock_guard lock(run_->mutex_);
    cursor_.reset();
  }
  TraceTableReader(const TraceTableReader&) = delete;
  TraceTableReader& operator=(const TraceTableReader&) = delete;

  size_t Read(std::vector<ColumnBuilder>* columns, size_t most) override {
    const std::lock_guard lock(run_->mutex_);
    if (cursor_ == nullptr) {
      cursor_ = table_.open(&run_->session_->run(), RowFilter());
      const bool timed = std::any_of(plans_.begin(), plans_.end(), [](const ColumnPlan& plan) {
        return plan.kind == ColumnPlan::Kind::kRunTime;
      });
      if (timed) times_ = run_->Times();
    }
    size_t rows = 0;
    for (; rows < most && cursor_->Next(); ++rows) {
      if (rows == 0) {
        for (ColumnBuilder& column : *columns) column.Reserve(most);
      }
      const auto process =
          process_column_ ? static_cast<size_t>(Integer(*process_column_).value_or(1) - 1) : 0;
      for (size_t c = 0; c < plans_.size(); ++c) (*columns)[c].Add(CellOf(plans_[c], process));
    }
    return rows;
  }

 private:
  std::optional<int64_t> Integer(size_t source) const {
    const Cell cell = cursor_->At(source);
    const auto* integer = std::get_if<int64_t>(&cell);
    return integer != nullptr ? std::optional(*integer) : std::nullopt;
  }

  Cell CellOf(const ColumnPlan& plan, size_t process) const {
    switch (plan.kind) {
      case ColumnPlan::Kind::kCell:
        return cursor_->At(plan.source);
      case ColumnPlan::Kind::kHost:
        return std::string_view(run_->session_->run().process(process).identity.host);
      case ColumnPlan::Kind::kRank: {
        const auto& job = run_->session_->run().process(process).job;
        return job ? Cell(job->rank) : Cell();
      }
      case ColumnPlan::Kind::kRunTime: {
        const std::optional<int64_t> time = Integer(plan.source);
        return time && times_ != nullptr ? Cell(times_->At(process, *time)) : Cell();
      }
    }
    return {};
  }

  const std::shared_ptr<ArrowRun> run_;
  const TraceTable& table_;
  const std::vector<ColumnPlan> plans_;
  std::optional<size_t> process_column_;
  std::unique_ptr<RowCursor> cursor_;
  const RunTimes* times_ = nullptr;
};

namespace {

class TableOfRun : public ArrowTable {
 public:
  TableOfRun(std::shared_ptr<ArrowRun> run, const TraceTable& table, TablePlan plan)
      : run_(std::move(run)), table_(table), plan_(std::move(plan)) {}
  const std::vector<ArrowColumn>& columns() const override { return plan_.columns; }
  std::unique_ptr<RowBatches> Read() override {
    return std::make_unique<TraceTableReader>(run_, table_, plan_.plans);
  }

 private:
  const std::shared_ptr<ArrowRun> run_;
  const TraceTable& table_;
  const TablePlan plan_;
};

// What a query found. SQLite gives each cell a type, Arrow each column: one that has all of them.
class FoundRows : public ArrowTable, public RowSink {
 public:
  const std::vector<ArrowColumn>& columns() const override { return columns_; }
  std::unique_ptr<RowBatches> Read() override { return std::make_unique<Batches>(*this); }

  void Begin(const std::vector<std::string>& names) override {
    columns_.clear();
    cells_.clear();
    texts_ = {};
    for (const std::string& name : names) columns_.push_back({name, ColumnType::kInteger, false});
    typed_.assign(names.size(), false);
  }
  bool Row(std::span<const Cell> cells) override {
    for (size_t c = 0; c < cells.size(); ++c) {
      cells_.push_back(Kept(cells[c]));
      if (cells[c].index() != 0) Widen(c, cells[c]);
    }
    return true;
  }
  void End() override {}

 private:
  // A cell that refers to a text by its number.
  using Stored = std::variant<std::monostate, int64_t, double, size_t>;

  Stored Kept(const Cell& cell) {
    if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    const auto* text = std::get_if<std::string_view>(&cell);
    if (text == nullptr) return {};
    texts_.Add(*text);
    return texts_.size() - 1;
  }

  void Widen(size_t column, const Cell& cell) {
    const ColumnType found = std::holds_alternative<int64_t>(cell)  ? ColumnType::kInteger
                             : std::holds_alternative<double>(cell) ? ColumnType::kReal
                                                                    : ColumnType::kText;
    ColumnType& type = columns_[column].type;
    type = typed_[column] ? std::max(type, found) : found;  // in the order in which they widen
    typed_[column] = true;
  }

  class Batches : public RowBatches {
   public:
    explicit Batches(const FoundRows& found) : found_(found) {}
    size_t Read(std::vector<ColumnBuilder>* columns, size_t most) override {
      size_t rows = 0;
      for (; rows < most && next_ < found_.cells_.size(); ++rows) {
        for (ColumnBuilder& column : *columns) column.Add(As(column.column().type));
      }
      return rows;
    }

   private:
    Cell As(ColumnType type) {
      const Stored& stored = found_.cells_[next_++];
      if (stored.index() == 0) return {};
      if (const auto* text = std::get_if<size_t>(&stored)) return found_.texts_.At(*text);
      const auto* integer = std::get_if<int64_t>(&stored);
      if (type == ColumnType::kInteger) return *integer;
      if (type == ColumnType::kReal) {
        return integer != nullptr ? static_cast<double>(*integer) : *std::get_if<double>(&stored);
      }
      number_ = integer != nullptr ? std::to_string(*integer)
                                   : std::to_string(*std::get_if<double>(&stored));
      return std::string_view(number_);
    }
    const FoundRows& found_;
    size_t next_ = 0;
    std::string number_;
  };

  std::vector<ArrowColumn> columns_;
  std::vector<bool> typed_;
  std::vector<Stored> cells_;  // row by row
  ArrowTexts texts_;
};

}  // namespace

void GiveStream(std::shared_ptr<ArrowTable> table, ArrowArrayStream* out) {
  *out = {};
  out->get_schema = &SchemaOfStream;
  out->get_next = &NextOfStream;
  out->get_last_error = &ErrorOfStream;
  out->release = &ReleaseStream;
  out->owner = new StreamOwner{std::move(table), nullptr, {}, {}};
}

Result<std::shared_ptr<ArrowRun>> ArrowRun::Open(const std::string& path) {
  Result<std::unique_ptr<SqlSession>> session = SqlSession::Open(path);
  if (!session.ok()) return session.error();
  return std::shared_ptr<ArrowRun>(new ArrowRun(path, std::move(*session)));
}

Result<std::shared_ptr<ArrowTable>> ArrowRun::Table(
    const std::string& name, const std::optional<std::vector<std::string>>& chosen) {
  const TraceTable* const table = FindTraceTable(name);
  if (table == nullptr) {
    std::vector<std::string> names;
    std::string all;
    for (const TraceTable& one : AllTraceTables()) {
      names.emplace_back(one.name);
      all += (all.empty() ? "" : ", ") + names.back();
    }
    const std::string closest = ClosestName(name, names);
    return Error{"choosing a table", name, "no table of that name", "one of " + all,
                 closest.empty() ? "" : "Did you mean '" + closest + "'?"};
  }
  TablePlan plan = PlanOf(*table);
  if (chosen) {
    if (const Status done = Choose(name, *chosen, &plan); !done.ok()) return done.error();
  }
  const std::lock_guard lock(mutex_);
  if (table->of_report && session_->run().report() == nullptr) {
    return *session_->run().report_error();
  }
  return std::shared_ptr<ArrowTable>(
      std::make_shared<TableOfRun>(shared_from_this(), *table, std::move(plan)));
}

Result<std::shared_ptr<ArrowTable>> ArrowRun::Query(const std::string& sql) {
  auto found = std::make_shared<FoundRows>();
  const std::lock_guard lock(mutex_);
  if (const Status done = session_->Run(sql, found.get()); !done.ok()) {
    const Error* const unreadable = session_->run().report_error();
    return unreadable != nullptr ? *unreadable : done.error();
  }
  return std::shared_ptr<ArrowTable>(std::move(found));
}

Result<std::string> ArrowRun::Verdict() {
  const std::lock_guard lock(mutex_);
  const Report* const report = session_->run().report();
  if (report == nullptr) return *session_->run().report_error();
  return report->run.verdict;
}

std::vector<std::string> ArrowRun::Problems() {
  const std::lock_guard lock(mutex_);
  return session_->run().problems();
}

// Null where the events of a run of several hosts cannot be read any more.
const RunTimes* ArrowRun::Times() {
  if (times_) return &*times_;
  const Run& here = session_->run().run();
  if (!HasSeveralHosts(here)) return &times_.emplace(here);
  const Result<Run> run = OpenRun(path_);
  const bool same = run.ok() && run->processes.size() == here.processes.size();
  return same ? &times_.emplace(*run) : nullptr;
}

}  // namespace gpubound
