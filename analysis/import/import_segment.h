// SPDX-License-Identifier: Apache-2.0
//
// The segment of one imported process: collects its events into chunks, notes which names they use,
// and writes the rows at the end. Times are trace time (nanoseconds since the foreign trace's first
// event). One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_SEGMENT_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_SEGMENT_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/import_files.h"
#include "analysis/import/import_names.h"
#include "analysis/import/import_nesting.h"
#include "analysis/segments/sqlite.h"
#include "analysis/trace/run.h"
#include "proto/chunk_encoder.h"

namespace gpubound {

class ImportSegment {
 public:
  // Of process |identity|, in |folder|. |names| and |files| outlive the object.
  ImportSegment(const std::string& folder, const ProcessIdentity& identity,
                const ForeignNames* names, ImportFiles* files);

  // Thread |index| of the names is the one that the next events and calls are of. Threads come one
  // after the other, each once.
  Status BeginThread(uint32_t index);
  Status Add(const NestedEvent& event);  // in order of time
  Status Add(const ApiRecord& call);     // `tid` is filled in here

  // How many threads there are. Before anything is added.
  void ExpectThreads(size_t count) { device_writer_ = static_cast<uint32_t>(count) + 1; }

  // Device work and synchronisations, by start.
  Status Add(const DeviceRecord& work);
  Status Add(const SyncRecord& sync);

  void Count(LedgerCounter counter, uint64_t value);
  void Note(const std::string& text) { notes_.push_back(text); }  // for whoever reads the report

  // GPU time from |begin_ns| to |end_ns|, as far as that is within what was added, is unknown.
  void AddUnknown(int64_t begin_ns, int64_t end_ns, const std::string& reason);
  void Meta(const std::string& key, const std::string& text) { text_meta_[key] = text; }
  void Meta(const std::string& key, int64_t number) { number_meta_[key] = number; }

  // Whether work of it was added.
  bool UsesDevice(DeviceId device) const {
    return Raw(device) < devices_used_.size() && devices_used_[Raw(device)];
  }
  // Devices that nothing ran on are written too: one that is visible but unused is worth knowing.
  void ListAllDevices() { lists_all_devices_ = true; }

  // That work was added on.
  size_t streams() const {
    return static_cast<size_t>(std::count(streams_used_.begin(), streams_used_.end(), true));
  }

  // From the first begin to the last end of what was added.
  int64_t begin_ns() const { return begin_ns_; }
  int64_t end_ns() const { return end_ns_; }
  // The last end of device work; begin_ns() where there is none.
  int64_t work_end_ns() const { return std::max(begin_ns_, work_end_ns_); }

  // Writes what is pending and all rows, and closes the file. Call once, last.
  Status Finish();

 private:
  // Consecutive numbers of what one (writer, family) wrote, and the batch that is being filled.
  template <typename Item>
  struct Batch {
    uint32_t writer = 0;
    uint64_t next_sequence = 0;
    std::vector<Item> items;
  };

  // Device work has a writer of its own, which is no thread of the program.
  uint32_t DeviceWriter() const { return device_writer_; }
  void See(int64_t begin_ns, int64_t end_ns);
  Status FlushThread();
  template <typename Record>
  Status AddRecord(Batch<Record>* batch, const Record& record);
  template <typename Record>
  Status Flush(Batch<Record>* batch);
  Status Put(const EncodedChunk& chunk);
  void PutRows();
  void PutDeviceRows();
  void PutOpRows();
  void PutUnknown();
  // Makes the file where there is none yet. A failure is kept, and nothing is written after it.
  void Insert(const std::string& table, std::initializer_list<SqlValue> values);
  void Execute(const char* sql);
  Database* Open();
  void Fail(const Error& error);
  Status Checked() const;

  struct Unknown {
    int64_t begin_ns;
    int64_t end_ns;
    std::string reason;
  };

  const std::string path_;
  const ForeignNames* const names_;
  ImportFiles& files_;
  bool is_new_ = true;  // there is no file yet
  std::optional<Error> failed_;
  // Written at the end, or when they are many: they come process by process, again and again, and
  // each would open a file for one row.
  std::map<std::string, std::string> text_meta_;
  std::map<std::string, int64_t> number_meta_;
  std::vector<std::string> notes_;
  std::vector<Unknown> unknown_;
  ChunkEncoder encoder_;

  uint32_t device_writer_ = 1;
  std::vector<uint32_t> threads_;  // in order of their ordinals, from 1
  Batch<Slot> slots_;
  int64_t base_ns_ = 0;  // of slots_
  int64_t not_before_ns_ = INT64_MIN;
  std::vector<uint32_t> open_labels_;
  Batch<ApiRecord> calls_;
  Batch<DeviceRecord> work_;
  Batch<SyncRecord> syncs_;

  std::vector<bool> labels_used_;
  std::vector<bool> streams_used_;
  std::vector<bool> works_used_;
  std::vector<bool> devices_used_;
  bool lists_all_devices_ = false;
  bool has_ops_ = false;  // of some work it is known which operator launched it
  Ledger ledger_{};
  int64_t chunks_ = 0;
  int64_t begin_ns_ = INT64_MAX;
  int64_t end_ns_ = INT64_MIN;
  int64_t work_end_ns_ = INT64_MIN;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_SEGMENT_H_
