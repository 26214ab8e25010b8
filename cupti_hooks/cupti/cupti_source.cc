// SPDX-License-Identifier: Apache-2.0
//
// Start and end of the CUPTI source, and the functions that CUPTI calls. CUPTI passes no pointer of
// ours to its buffer callbacks, so what they need hangs on globals.
#include "cupti_hooks/cupti/cupti_source.h"

#include <new>
#include <utility>

#include "cupti_hooks/cupti/activity_buffers.h"
#include "cupti_hooks/cupti/cupti_clock.h"
#include "cupti_hooks/cupti/cupti_library.h"
#include "cupti_hooks/cupti/cupti_session.h"
#include "cupti_hooks/cupti/cupti_worker.h"
#include "cupti_hooks/cupti/shared_cupti.h"
#include "libprofiler/clock.h"
#include "libprofiler/debug_log.h"

namespace gpubound {
namespace {

constinit std::atomic<ActivityBuffers*> g_buffers{nullptr};
constinit std::atomic<CallbackState*> g_state{nullptr};
constinit std::atomic<CuptiWorker*> g_worker{nullptr};

// Of the memory that the user allows, so much is for large buffers, the rest for small ones.
constexpr uint32_t kLargePart = 3;
constexpr uint32_t kParts = 4;

// Beyond it, for a CUPTI that crashes when it is declined: addresses, and memory only while CUPTI's
// thread hands nothing back, as on a machine whose processors are all taken. 256 MiB, a million
// launches.
constexpr uint32_t kEmergencyBuffers = 8192;

// A row of table `meta`, for the report. A callback for each costs ten times what the query does.
constexpr char kQueriesNotCounted[] =
    "polling and query functions are neither recorded nor counted; GPUBOUND_COUNT_QUERIES=1 "
    "counts them, for some 0.4 us each";

// Before CUDA 12.5, where the runtime's have records that are left out and counted.
constexpr char kDriversQueriesNotCounted[] =
    "polling and query functions of the driver are neither recorded nor counted; "
    "GPUBOUND_COUNT_QUERIES=1 counts them, for some 0.4 us each";

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = nullptr;
  *size = 0;
  *max_records = 0;  // as many as fit
  ActivityBuffers* buffers = g_buffers.load(std::memory_order_acquire);
  if (buffers != nullptr) buffers->Request(NowNs(), buffer, size);
}

void OnBufferCompleted(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid_size) {
  ActivityBuffers* buffers = g_buffers.load(std::memory_order_acquire);
  if (buffers != nullptr) buffers->Complete(buffer, valid_size);
}

void OnFatalError() {
  CuptiWorker* worker = g_worker.load(std::memory_order_acquire);
  if (worker != nullptr) worker->OnFatalError();
}

void OnEvent(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  CallbackState* state = g_state.load(std::memory_order_acquire);
  if (state == nullptr) return;
  switch (domain) {
    case CUPTI_CB_DOMAIN_RUNTIME_API:
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return state->OnCall(domain, id, *static_cast<const CUpti_CallbackData*>(data));
    case CUPTI_CB_DOMAIN_RESOURCE:
      return state->graphs.OnResource(id, *static_cast<const CUpti_ResourceData*>(data));
    case CUPTI_CB_DOMAIN_STATE:
      return id == CUPTI_CBID_STATE_FATAL_ERROR ? OnFatalError() : void();
    default:
      return;
  }
}

ActivityBuffers* MakeBuffers(const CuptiApi& api, size_t mebibytes) {
  ActivityBuffers::Options options;
  options.may_decline = api.version >= kCuptiMayDeclineBuffer;
  uint32_t emergency = options.may_decline ? 0 : kEmergencyBuffers;
  // A limit on the address space must not be what keeps us from recording.
  for (; mebibytes >= 4; mebibytes /= 4, emergency /= 4) {
    options.count = static_cast<uint32_t>(mebibytes * kLargePart / kParts);
    options.small_count =
        static_cast<uint32_t>((mebibytes - options.count) * options.bytes / options.small_bytes);
    options.emergency_count = emergency;
    if (ActivityBuffers* buffers = ActivityBuffers::Create(options)) return buffers;
  }
  return nullptr;
}

std::string HeldBy(const std::string& holder) {
  return (holder.empty() ? std::string("another tool") : holder) +
         " holds CUPTI, which serves one tool at a time; GPU time is unknown. Run without it to "
         "record the GPU";
}

}  // namespace

CuptiSource::CuptiSource(CuptiOptions options) : options_(std::move(options)) {}

CuptiSource::~CuptiSource() {
  if (worker_ != nullptr && worker_->HasEnded()) {
    g_worker.store(nullptr, std::memory_order_release);
    delete worker_;
  }
}

bool CuptiSource::GiveUp(DeviceHost* host, LedgerCounter counter, const std::string& reason) {
  // The driver asks us inside cuInit, before any work of the device can have run.
  host->MarkUnknown(NowNs(), INT64_MAX, reason);
  host->Count(counter, 1);
  host->Note(reason);
  return false;
}

bool CuptiSource::Start(DeviceHost* host) {
  if (!options_.enabled) {
    return GiveUp(host, LedgerCounter::cupti_unavailable,
                  "CUPTI is not used because GPUBOUND_CUPTI is off; GPU time is unknown");
  }
  const CuptiSearch search = DescribeProcess(options_.library_path);
  CuptiSetupResult setup;
  std::string why;  // the first reason: the first candidate is the one that was meant
  size_t next = 0;
  do {
    CuptiApi api;
    std::string failure;
    if (!options_.load(search, &next, &api, &failure)) {
      setup.outcome = CuptiSetup::kUnusable;
      if (why.empty()) why = failure;
      break;
    }
    if (StartWithEither(api, host, &setup)) {
      SetCuptiInUse(api_.path);
      DebugLog(
          "uses %s, version %u, with driver %s", api_.path.c_str(), api_.version,
          search.driver_version.empty() ? "of an unknown version" : search.driver_version.c_str());
      host->Fact("cupti_version", std::to_string(api_.version));
      host->Fact("driver_version", search.driver_version);
      host->Fact("cuda_runtime", CudaRuntimePath(search));
      if (setup.leaves_queries_uncounted) {
        host->Fact("queries_not_counted",
                   setup.has_runtime_queries ? kDriversQueriesNotCounted : kQueriesNotCounted);
      }
      return true;
    }
    if (why.empty()) why = api.path + ": " + setup.problem;
    DebugLog("cannot use %s: %s", api.path.c_str(), setup.problem.c_str());
  } while (setup.wrong_library);
  if (setup.outcome == CuptiSetup::kHeldByOther) {
    return GiveUp(host, LedgerCounter::cupti_held_by_other, HeldBy(setup.problem));
  }
  return GiveUp(host, LedgerCounter::cupti_unavailable,
                "CUPTI cannot be used: " + why + "; GPU time is unknown");
}

bool CuptiSource::StartWithEither(const CuptiApi& api, DeviceHost* host, CuptiSetupResult* setup) {
  // The older interface is not even asked where another tool uses the newer one: they exclude each
  // other.
  if (IsCuptiShared(api)) return StartWith(SharedCupti(api), host, setup);
  if (options_.share) {
    if (CanShareCupti(api) && StartWith(SharedCupti(api), host, setup)) return true;
    host->Note("CUPTI cannot be shared: " + (setup->problem.empty() ? api.path : setup->problem) +
               "; CUDA 13.3 and a driver of branch 610 are needed. It is used alone");
  }
  return StartWith(api, host, setup);
}

bool CuptiSource::StartWith(const CuptiApi& api, DeviceHost* host, CuptiSetupResult* setup) {
  api_ = api;
  UseCuptiClock();
  has_clock_.store(true, std::memory_order_release);
  ActivityBuffers* buffers = MakeBuffers(api_, options_.buffer_mebibytes);
  if (buffers == nullptr) {
    *setup = {};
    setup->problem = "no memory for its buffers";
    return false;
  }
  const int64_t started_ns = NowNs();
  // Leaked, as the buffers are: CUPTI may call back at any time.
  auto* state = new CallbackState(api_, host, options_.quiet, &buffers->worker_signal());
  auto* worker = new CuptiWorker(api_, buffers, state, host, started_ns);
  g_buffers.store(buffers, std::memory_order_release);
  state->previous = g_state.load(std::memory_order_relaxed);
  g_state.store(state, std::memory_order_release);
  g_worker.store(worker, std::memory_order_release);
  *setup = SetUpCupti(api_, {&OnBufferRequested, &OnBufferCompleted, &OnEvent}, state->functions,
                      options_.levels);
  state->watches_graph_launches.store(setup->graphs != GraphLevel::kNode);
  state->names_graph_nodes.store(setup->graphs == GraphLevel::kAuto);
  state->has_runtime_queries.store(setup->has_runtime_queries);
  if (setup->api_errors != 0) host->Count(LedgerCounter::cupti_api_errors, setup->api_errors);
  const bool recording =
      setup->outcome == CuptiSetup::kRecording || setup->outcome == CuptiSetup::kIncomplete;
  if (recording && worker->Start(setup->subscriber)) {
    worker_ = worker;
    host_ = host;
    if (api_.simulated_device) host->Count(LedgerCounter::simulated_device, 1);
    SayWhatIsLimited(host, started_ns, *setup);
    return true;
  }
  g_worker.store(nullptr, std::memory_order_release);
  delete worker;
  if (recording) {
    DisableKinds(api_);
    Unsubscribe(api_, setup->subscriber);
    setup->outcome = CuptiSetup::kUnusable;
    setup->problem = "no thread could be made to read it";
  }
  return false;
}

void CuptiSource::SayWhatIsLimited(DeviceHost* host, int64_t started_ns,
                                   const CuptiSetupResult& setup) {
  if (setup.outcome == CuptiSetup::kIncomplete) {
    const std::string reason = "CUPTI does not record " + setup.problem;
    host->MarkUnknown(started_ns, INT64_MAX, reason);
    host->Note(reason);
  }
  if (!setup.graph_problem.empty()) {
    host->Note("CUPTI cannot record CUDA graphs as a whole (" + setup.graph_problem +
               "); their nodes are recorded");
  }
  if (!setup.system_thread_ids) {
    host->Note("CUPTI does not tell system thread ids; API calls may not be matched to threads");
  }
}

bool CuptiSource::ReadClock(int64_t* now_ns) {
  return has_clock_.load(std::memory_order_acquire) && ReadCuptiClock(api_, now_ns);
}

void CuptiSource::PrepareStop(int64_t deadline_ns, AfterStop after) {
  stopped_.store(true, std::memory_order_release);
  if (worker_ == nullptr) return;
  if (after == AfterStop::kProgramGoesOn) KeepCuptiClock(api_);
  worker_->RequestStop(deadline_ns, after);
}

bool CuptiSource::Stop(int64_t deadline_ns, AfterStop after) {
  PrepareStop(deadline_ns, after);
  // The clock can still be read: the last records are converted with it.
  if (worker_ != nullptr) worker_->Stop(deadline_ns, after);
  return HasEnded();
}

void CuptiSource::Abandon() noexcept {
  if (worker_ != nullptr) worker_->Abandon();
}

void CuptiSource::Yield(int64_t deadline_ns, std::string_view to) {
  if (worker_ == nullptr) return;
  const bool stopped = stopped_.load(std::memory_order_acquire);
  if (options_.keep && !stopped && !HasEnded()) {
    host_->Note(std::string(to) +
                " asks for CUPTI and does not get it, because GPUBOUND_KEEP_CUPTI is 1");
    return;
  }
  const int64_t from_ns = NowNs();
  KeepCuptiClock(api_);
  if (HasEnded()) return;
  // Where the recording has ended, CUPTI is being given up already.
  if (stopped) return worker_->AwaitEnd(deadline_ns);
  if (yielded_.exchange(true)) return;
  worker_->Stop(deadline_ns, AfterStop::kProgramGoesOn);
  const std::string given =
      HasEnded() ? "CUPTI was handed to " + std::string(to)
                 : std::string(to) + " asked for CUPTI, which took too long to give it up";
  const std::string reason =
      given + "; GPU time is unknown from then on (GPUBOUND_KEEP_CUPTI=1 keeps it)";
  host_->MarkUnknown(from_ns, INT64_MAX, reason);
  host_->Count(LedgerCounter::cupti_yielded, 1);
  host_->Note(reason);
}

bool CuptiSource::HasEnded() const { return worker_ == nullptr || worker_->HasEnded(); }

void CuptiSource::AbandonInForkChild() noexcept {
  has_clock_.store(false, std::memory_order_relaxed);
  const ActivityBuffers* buffers = g_buffers.load(std::memory_order_relaxed);
  // A CUPTI that crashes when it is declined goes on to be given buffers, which nobody reads.
  if (buffers != nullptr && buffers->may_decline()) {
    g_buffers.store(nullptr, std::memory_order_relaxed);
  }
  g_state.store(nullptr, std::memory_order_relaxed);
  g_worker.store(nullptr, std::memory_order_relaxed);
  worker_ = nullptr;  // its thread does not exist here
}

}  // namespace gpubound
