// SPDX-License-Identifier: Apache-2.0
//
// Tables of a run, and rows of a query, as streams of Arrow's. Locks a run while it reads from it.
#include "analysis/output/tables/arrow_run.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "analysis/base/suggestion.h"
#include "analysis/output/tables/run_wide_table.h"

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

// What is chosen of a table: the numbers of its columns.
using Chosen = std::vector<size_t>;

Result<Chosen> Choose(const RunWideTable& table,
                      const std::optional<std::vector<std::string>>& names) {
  Chosen chosen;
  std::vector<std::string> known;
  for (const ColumnInfo& column : table.columns()) known.emplace_back(column.name);
  if (!names) {
    for (size_t c = 0; c < known.size(); ++c) chosen.push_back(c);
    return chosen;
  }
  for (const std::string& name : *names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      const std::string closest = ClosestName(name, known);
      return Error{"choosing a table", table.table().name, "no column '" + name + "'",
                   "one of its columns",
                   closest.empty() ? "Its schema lists them." : "Did you mean '" + closest + "'?"};
    }
    chosen.push_back(static_cast<size_t>(found - known.begin()));
  }
  return chosen;
}

}  // namespace

// Rows of a trace table, with the run locked while they are read.
class TraceTableReader : public RowBatches {
 public:
  TraceTableReader(std::shared_ptr<ArrowRun> run, const RunWideTable& table, const Chosen& chosen)
      : run_(std::move(run)), table_(table), chosen_(chosen) {}
  ~TraceTableReader() override {
    const std::lock_guard lock(run_->mutex_);
    cursor_.reset();
  }
  TraceTableReader(const TraceTableReader&) = delete;
  TraceTableReader& operator=(const TraceTableReader&) = delete;

  size_t Read(std::vector<ColumnBuilder>* columns, size_t most) override {
    const std::lock_guard lock(run_->mutex_);
    if (cursor_ == nullptr) {
      const bool timed = std::any_of(chosen_.begin(), chosen_.end(),
                                     [this](size_t column) { return table_.IsRunTime(column); });
      cursor_ = table_.Open(&run_->session_->run(), timed ? run_->Times() : nullptr);
    }
    size_t rows = 0;
    for (; rows < most && cursor_->Next(); ++rows) {
      if (rows == 0) {
        for (ColumnBuilder& column : *columns) column.Reserve(most);
      }
      for (size_t c = 0; c < chosen_.size(); ++c) (*columns)[c].Add(cursor_->At(chosen_[c]));
    }
    return rows;
  }

 private:
  const std::shared_ptr<ArrowRun> run_;
  const RunWideTable& table_;  // of the ArrowTable, which whoever reads keeps
  const Chosen& chosen_;
  std::unique_ptr<RowCursor> cursor_;
};

namespace {

class TableOfRun : public ArrowTable {
 public:
  TableOfRun(std::shared_ptr<ArrowRun> run, std::unique_ptr<RunWideTable> table, Chosen chosen)
      : run_(std::move(run)), table_(std::move(table)), chosen_(std::move(chosen)) {
    for (const size_t c : chosen_) {
      const ColumnInfo& column = table_->columns()[c];
      const bool few = column.type == ColumnType::kText && table_->table().of_events;
      columns_.push_back({column.name, column.type, few});
    }
  }
  const std::vector<ArrowColumn>& columns() const override { return columns_; }
  std::unique_ptr<RowBatches> Read() override {
    return std::make_unique<TraceTableReader>(run_, *table_, chosen_);
  }

 private:
  const std::shared_ptr<ArrowRun> run_;
  const std::unique_ptr<RunWideTable> table_;
  const Chosen chosen_;
  std::vector<ArrowColumn> columns_;
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
  auto wide = std::make_unique<RunWideTable>(*table);
  Result<Chosen> columns = Choose(*wide, chosen);
  if (!columns.ok()) return columns.error();
  const std::lock_guard lock(mutex_);
  if (table->of_report && session_->run().report() == nullptr) {
    return *session_->run().report_error();
  }
  return std::shared_ptr<ArrowTable>(
      std::make_shared<TableOfRun>(shared_from_this(), std::move(wide), std::move(*columns)));
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

const RunTimes* ArrowRun::Times() {
  if (times_ == nullptr) times_ = RunTimesOf(session_->run().run(), path_);
  return times_.get();
}

}  // namespace gpubound
