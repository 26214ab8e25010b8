// SPDX-License-Identifier: Apache-2.0
//
// The names of a foreign trace, each kept once: processes, threads, labels, devices, streams and
// kernels. Ids are those of our trace format where there are such. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_NAMES_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/import/import_op_text.h"
#include "analysis/import/import_records.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ForeignProcess {
  int64_t pid = 0;
  bool only_python = true;  // nothing but Python functions so far
  // The thread that tells the iterations, the first to begin one, and when it did.
  uint32_t stepping_thread = kNoIndex;
  int64_t first_step_ns = 0;
  // No operation is there but those that PyTorch opens by itself.
  bool annotated = false;
};

struct ForeignThread {
  uint32_t process = kNoIndex;
  int64_t id = 0;    // as the foreign trace has it
  uint32_t tid = 0;  // as ours has it: not zero, and unique within the process
  uint64_t events = 0;
  uint64_t backward_nodes = 0;  // of autograd, among them
  bool has_operation = false;
  bool has_operation_time = false;  // some operation has a length
};

class ForeignNames {
 public:
  ForeignNames();

  // Processes and threads are told apart by what the trace calls them, numbers or not. One that is
  // called by anything but a number, or by one that another has, gets a negative one; a process is
  // then named by what it is called.
  uint32_t Process(std::string_view key);
  uint32_t Thread(uint32_t process, std::string_view key);

  // A label of our format. Beyond the table's capacity: the label "(other names)" of that kind and
  // layer, counted in names_lost().
  LabelId Label(LabelKind kind, Layer layer, std::string_view domain, std::string_view text);

  StreamId Stream(uint32_t device, uint32_t context, uint32_t stream);
  WorkId Work(const WorkInfo& info, std::string_view name);

  // An operator of a framework, by its name and inputs. Of more than kMostOps the name alone; 0
  // where these are as many.
  uint32_t Op(std::string_view name, const OpInputs& inputs);
  // The same work as |work|, launched by |op|; |begins|: the first of a call of it.
  WorkId WorkOfOp(WorkId work, uint32_t op, bool begins);
  static constexpr size_t kMostOps = size_t{1} << 16;

  // The device with ordinal |ordinal|, made on first use. Valid until the next call.
  Device& DeviceAt(uint32_t ordinal);

  void NameProcess(std::string_view key, std::string name);
  void NameThread(std::string_view process_key, std::string_view key, std::string name);

  // A process or thread that intervals were seen on; its name, or nothing.
  const std::string& NameOfProcess(uint32_t process) const;
  const std::string& NameOfThread(uint32_t thread) const;

  // By index; of labels, streams, works and devices by id, entry 0 being empty.
  std::vector<ForeignProcess>& processes() { return processes_; }
  const std::vector<ForeignProcess>& processes() const { return processes_; }
  std::vector<ForeignThread>& threads() { return threads_; }
  const std::vector<ForeignThread>& threads() const { return threads_; }
  const std::vector<gpubound::Label>& labels() const { return labels_; }
  const std::vector<gpubound::Stream>& streams() const { return streams_; }
  const std::vector<gpubound::Work>& works() const { return works_; }
  const std::vector<gpubound::Op>& ops() const { return ops_; }
  // Kinds of inputs that were left out.
  bool inputs_lost() const { return inputs_lost_; }
  const std::vector<Device>& devices() const { return devices_; }
  uint64_t names_lost() const { return names_lost_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  template <typename Value>
  using ByText = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  using WorkKey = std::tuple<WorkKind, uint8_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                             uint32_t, uint32_t, uint32_t, uint32_t>;

  static std::string ThreadKey(std::string_view process_key, std::string_view key);
  uint32_t UniqueTid(uint32_t process, int64_t id);

  std::vector<ForeignProcess> processes_;
  std::vector<ForeignThread> threads_;
  std::vector<gpubound::Label> labels_;
  std::vector<gpubound::Stream> streams_;
  std::vector<gpubound::Work> works_;
  std::vector<gpubound::Op> ops_;
  std::vector<Device> devices_;

  ByText<uint32_t> process_index_;
  std::vector<std::string> process_keys_;
  ByText<uint32_t> thread_index_;
  std::vector<std::string> thread_keys_;
  std::set<int64_t> pids_;                        // that are taken
  std::set<std::pair<uint32_t, uint32_t>> tids_;  // (process, tid) that are taken
  ByText<std::string> process_names_;
  ByText<std::string> thread_names_;
  std::map<std::tuple<LabelKind, Layer, std::string>, ByText<LabelId>> label_index_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, StreamId> stream_index_;
  ByText<std::map<WorkKey, WorkId>> work_index_;
  ByText<uint32_t> op_index_;
  std::map<std::tuple<WorkId, uint32_t, bool>, WorkId> work_of_op_;
  bool inputs_lost_ = false;
  std::map<uint32_t, DeviceId> device_index_;
  std::string lookup_;  // a key that is being looked up; kept for its capacity
  uint64_t names_lost_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_NAMES_H_
