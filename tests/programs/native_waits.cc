// SPDX-License-Identifier: Apache-2.0
//
// Waits in every function that blocks, each in an operation of its own: native_waits ACCOUNT. What
// the functions return, and what is in errno then, goes to stdout, and has to be the same whoever
// is preloaded. ACCOUNT gets a line for each operation:
//
//   OPERATION TAB how long the call took, ns TAB whether the thread "waker" ended it TAB function
//
// where the function is one of the names that the recorder has for waits, or with a question mark
// one that is called only once spinning did not help.
#include <fcntl.h>
#include <gpubound/annotate.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

extern "C" int native_waits_before_main;  // native_waits_early.c

namespace {

using namespace std::chrono_literals;

constexpr int64_t kWaitNs = 60'000'000;
constexpr int kUntouched = 4321;  // in errno

FILE* g_account = nullptr;

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

timespec TimeOf(int64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

timespec In(clockid_t clock, int64_t ns) {
  timespec now;
  clock_gettime(clock, &now);
  return TimeOf(int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec + ns);
}

timespec g_pause = TimeOf(kWaitNs);

void Pause() {
  const timespec pause = TimeOf(kWaitNs);
  nanosleep(&pause, nullptr);
}

// A thread that records, and does |act| after a while.
class Waker {
 public:
  template <typename Act>
  explicit Waker(Act act)
      : thread_([act] {
          pthread_setname_np(pthread_self(), "waker");
          GPUBOUND_OPERATION("waker");
          Pause();
          act();
        }) {}
  ~Waker() {
    if (thread_.joinable()) thread_.join();
  }
  std::thread& thread() { return thread_; }

 private:
  std::thread thread_;
};

// Calls |wait| in an operation called |name|. What it returns goes to stdout, with errno.
template <typename Wait>
void Case(const char* name, const char* function, bool woken, Wait wait) {
  gpubound::Operation operation(name);
  errno = kUntouched;
  const int64_t begin_ns = NowNs();
  const auto result = static_cast<long>(wait());
  const int error = errno;
  const int64_t took_ns = NowNs() - begin_ns;
  std::printf("%s: %ld, errno %d\n", name, result, error);
  std::fprintf(g_account, "%s\t%lld\t%d\t%s\n", name, static_cast<long long>(took_ns), woken,
               function);
}

struct Pipe {
  Pipe() {
    if (pipe(ends) != 0) std::abort();
  }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
  void Write() const {
    if (write(ends[1], "x", 1) != 1) std::abort();
  }
};

struct Sockets {
  Sockets() {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  }
  ~Sockets() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
  void Write() const {
    if (write(ends[1], "x", 1) != 1) std::abort();
  }
};

struct Condition {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  void Signal() { pthread_cond_signal(&condition); }
  void Broadcast() {
    pthread_mutex_lock(&mutex);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
};

void WaitAtConditions() {
  static constexpr char kName[] = "pthread_cond_wait";
  {
    Condition at;
    pthread_mutex_lock(&at.mutex);
    Waker waker([&at] { at.Signal(); });
    Case("pthread_cond_wait", kName, true,
         [&] { return pthread_cond_wait(&at.condition, &at.mutex); });
    pthread_mutex_unlock(&at.mutex);
  }
  {
    Condition at;
    pthread_mutex_lock(&at.mutex);
    Waker waker([&at] { at.Broadcast(); });
    const timespec until = In(CLOCK_REALTIME, 100 * kWaitNs);
    Case("pthread_cond_timedwait", kName, true,
         [&] { return pthread_cond_timedwait(&at.condition, &at.mutex, &until); });
    pthread_mutex_unlock(&at.mutex);
  }
  Condition at;
  pthread_mutex_lock(&at.mutex);
  const timespec until = In(CLOCK_REALTIME, kWaitNs);
  Case("pthread_cond_timedwait that runs out", kName, false,
       [&] { return pthread_cond_timedwait(&at.condition, &at.mutex, &until); });
  const timespec on = In(CLOCK_MONOTONIC, kWaitNs);
  Case("pthread_cond_clockwait that runs out", kName, false,
       [&] { return pthread_cond_clockwait(&at.condition, &at.mutex, CLOCK_MONOTONIC, &on); });
  const timespec wrong = {0, -1};
  Case("pthread_cond_timedwait until no time", "", false,
       [&] { return pthread_cond_timedwait(&at.condition, &at.mutex, &wrong); });
  pthread_mutex_unlock(&at.mutex);
  {
    std::mutex mutex;
    std::condition_variable_any condition;
    bool ready = false;
    Waker waker([&] {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        ready = true;
      }
      condition.notify_all();
    });
    std::unique_lock<std::mutex> lock(mutex);
    Case("std::condition_variable_any", kName, true, [&] {
      condition.wait(lock, [&] { return ready; });
      return 0;
    });
  }
}

// As a program of 2002 is linked: the older pthread_cond_t is a pointer, which the first function
// that needs it makes.
#if defined(__x86_64__)
extern "C" int old_cond_signal(void* condition);
__asm__(".symver old_cond_signal, pthread_cond_signal@GLIBC_2.2.5");
void UseOlderCondition() {
  void* condition[8] = {};
  old_cond_signal(condition);
  std::printf("an older condition is a pointer: %d\n", condition[0] != nullptr);
}
#else
void UseOlderCondition() {}
#endif

void WaitForLocks() {
  static constexpr char kName[] = "pthread_mutex_lock";
  const auto held_by_waker = [](auto lock, const char* name, bool woken) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::latch taken(1);
    std::thread holder([&] {
      pthread_setname_np(pthread_self(), "waker");
      GPUBOUND_OPERATION("waker");
      pthread_mutex_lock(&mutex);
      taken.count_down();
      Pause();
      if (!woken) Pause();
      pthread_mutex_unlock(&mutex);
    });
    taken.wait();
    Case(name, kName, woken, [&] { return lock(&mutex); });
    if (woken) pthread_mutex_unlock(&mutex);
    holder.join();
  };
  held_by_waker([](pthread_mutex_t* mutex) { return pthread_mutex_lock(mutex); },
                "pthread_mutex_lock", true);
  held_by_waker(
      [](pthread_mutex_t* mutex) {
        const timespec until = In(CLOCK_REALTIME, 100 * kWaitNs);
        return pthread_mutex_timedlock(mutex, &until);
      },
      "pthread_mutex_timedlock", true);
  held_by_waker(
      [](pthread_mutex_t* mutex) {
        const timespec until = In(CLOCK_MONOTONIC, kWaitNs / 2);
        return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until);
      },
      "pthread_mutex_clocklock that runs out", false);
  pthread_mutexattr_t checks;
  pthread_mutexattr_init(&checks);
  pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &checks);
  Case("the first lock", "", false, [&] { return pthread_mutex_lock(&mutex); });
  Case("the second lock of one that checks", "", false, [&] { return pthread_mutex_lock(&mutex); });
  Case("its unlock", "", false, [&] { return pthread_mutex_unlock(&mutex); });
  Case("the unlock of another's", "", false, [&] { return pthread_mutex_unlock(&mutex); });
}

void WaitForThreads() {
  {
    Waker waker([] {});
    Case("std::thread::join", "pthread_join", true, [&] {
      waker.thread().join();
      return 0;
    });
  }
  {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pthread_setname_np(pthread_self(), "waker");
          GPUBOUND_OPERATION("waker");
          Pause();
          return &g_pause;
        },
        nullptr);
    void* value = nullptr;
    Case("pthread_join of a thread", "pthread_join", true,
         [&] { return pthread_join(thread, &value) + (value == &g_pause ? 0 : 1000); });
  }
  Case("pthread_join of oneself", "", false, [] { return pthread_join(pthread_self(), nullptr); });
  {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    Waker waker([&] { pthread_barrier_wait(&barrier); });
    Case("pthread_barrier_wait", "pthread_barrier_wait", true,
         [&] { return pthread_barrier_wait(&barrier); });
  }
  {
    std::promise<int> promise;
    Waker waker([&] { promise.set_value(17); });
    Case("std::future", "futex", true, [&] { return promise.get_future().get(); });
  }
  {
    std::atomic<int> value{0};
    Waker waker([&] {
      value = 18;
      value.notify_one();
    });
    Case("std::atomic::wait", "futex?", true, [&] {
      value.wait(0);
      return value.load();
    });
  }
  {
    std::latch latch(1);
    Waker waker([&] { latch.count_down(); });
    Case("std::latch", "futex?", true, [&] {
      latch.wait();
      return 0;
    });
  }
  {
    std::atomic<uint32_t> word{0};
    Waker waker([&] {
      word = 1;
      syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    });
    Case("futex", "futex", true,
         [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); });
    Case("futex with another value", "", false,
         [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0); });
    Case("futex that runs out", "futex", false,
         [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &g_pause, nullptr, 0); });
  }
  Case("another system call", "", false,
       [] { return syscall(SYS_openat, AT_FDCWD, "/nowhere/at/all", O_RDONLY, 0); });
}

void WaitAtSemaphores() {
  static constexpr char kName[] = "sem_wait";
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  Case("sem_wait at once", "", false, [&] { return sem_wait(&semaphore); });
  {
    Waker waker([&] { sem_post(&semaphore); });
    Case("sem_wait", kName, true, [&] { return sem_wait(&semaphore); });
  }
  {
    Waker waker([&] { sem_post(&semaphore); });
    const timespec until = In(CLOCK_REALTIME, 100 * kWaitNs);
    Case("sem_timedwait", kName, true, [&] { return sem_timedwait(&semaphore, &until); });
  }
  const timespec until = In(CLOCK_REALTIME, kWaitNs);
  Case("sem_timedwait that runs out", kName, false,
       [&] { return sem_timedwait(&semaphore, &until); });
  const timespec on = In(CLOCK_MONOTONIC, kWaitNs);
  Case("sem_clockwait that runs out", kName, false,
       [&] { return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &on); });
  sem_post(&semaphore);
  const timespec wrong = {0, 2'000'000'000};
  Case("sem_timedwait until no time", "", false, [&] { return sem_timedwait(&semaphore, &wrong); });
}

void Sleep() {
  static constexpr char kName[] = "nanosleep";
  Case("nanosleep", kName, false, [] { return nanosleep(&g_pause, nullptr); });
  Case("clock_nanosleep", kName, false, [] {
    const timespec until = In(CLOCK_MONOTONIC, kWaitNs);
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  });
  Case("usleep", kName, false, [] { return usleep(kWaitNs / 1000); });
  Case("sleep", kName, false, [] { return sleep(1); });
  Case("sleep_for", kName, false, [] {
    std::this_thread::sleep_for(60ms);
    return 0;
  });
  const timespec wrong = {0, -1};
  Case("nanosleep of no time", "", false, [&] { return nanosleep(&wrong, nullptr); });
  Case("clock_nanosleep of no time", "", false,
       [&] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, nullptr); });
}

void WaitForFiles() {
  const Pipe pipe;
  pollfd file = {pipe.ends[0], POLLIN, 0};
  Case("poll", "poll", false, [&] { return poll(&file, 1, kWaitNs / 1'000'000); });
  Case("ppoll", "poll", false, [&] { return ppoll(&file, 1, &g_pause, nullptr); });
  Case("poll that does not wait", "", false, [&] { return poll(&file, 1, 0); });
  fd_set files;
  FD_ZERO(&files);
  FD_SET(pipe.ends[0], &files);
  Case("select", "select", false, [&] {
    timeval length = {0, kWaitNs / 1000};
    return select(pipe.ends[0] + 1, &files, nullptr, nullptr, &length);
  });
  FD_SET(pipe.ends[0], &files);
  Case("pselect", "select", false,
       [&] { return pselect(pipe.ends[0] + 1, &files, nullptr, nullptr, &g_pause, nullptr); });
  const int epoll = epoll_create1(0);
  epoll_event event = {EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, pipe.ends[0], &event);
  Case("epoll_wait", "epoll_wait", false,
       [&] { return epoll_wait(epoll, &event, 1, kWaitNs / 1'000'000); });
  Case("epoll_pwait", "epoll_wait", false,
       [&] { return epoll_pwait(epoll, &event, 1, kWaitNs / 1'000'000, nullptr); });
  {
    Waker waker([&] { pipe.Write(); });
    Case("epoll_wait until there is something", "epoll_wait", false,
         [&] { return epoll_wait(epoll, &event, 1, -1); });
  }
  Case("epoll_wait of no descriptor", "", false, [&] { return epoll_wait(-1, &event, 1, -1); });
  close(epoll);
}

void Read() {
  char byte = 0;
  iovec part = {&byte, 1};
  Pipe pipe;
  const auto when_written = [](const auto& channel, const char* name, const char* function,
                               auto call) {
    Waker waker([&channel] { channel.Write(); });
    Case(name, function, false, call);
  };
  when_written(pipe, "read", "read", [&] { return read(pipe.ends[0], &byte, 1); });
  when_written(pipe, "readv", "read", [&] { return readv(pipe.ends[0], &part, 1); });
  const Sockets sockets;
  const int end = sockets.ends[0];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  when_written(sockets, "read from a socket", "read", [&] { return read(end, &byte, 1); });
  when_written(sockets, "recv", "recv", [&] { return recv(end, &byte, 1, 0); });
  when_written(sockets, "recvfrom", "recv",
               [&] { return recvfrom(end, &byte, 1, 0, nullptr, nullptr); });
  when_written(sockets, "recvmsg", "recv", [&] { return recvmsg(end, &message, 0); });
  Case("recv that does not wait", "", false, [&] { return recv(end, &byte, 1, MSG_DONTWAIT); });
  Case("read of no descriptor", "", false, [&] { return read(-1, &byte, 1); });
  {
    const int events = eventfd(0, 0);
    Waker waker([events] { eventfd_write(events, 3); });
    uint64_t value = 0;
    Case("read of an eventfd", "read", false,
         [&] { return static_cast<uint64_t>(read(events, &value, sizeof(value))) * 100 + value; });
    close(events);
  }
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {AF_UNIX, ""};
  bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t));  // a name of its own
  socklen_t length = sizeof(address);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  listen(listener, 1);
  const auto connects = [&] {
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(client, reinterpret_cast<sockaddr*>(&address), length);
    close(client);
  };
  {
    Waker waker(connects);
    Case("accept", "accept", false, [&] { return close(accept(listener, nullptr, nullptr)); });
  }
  {
    Waker waker(connects);
    Case("accept4", "accept", false,
         [&] { return close(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)); });
  }
  close(listener);
}

void WaitForChildren() {
  const auto for_child = [](const char* name, auto call) {
    const pid_t child = fork();
    if (child == 0) {
      Pause();
      _exit(7);
    }
    int status = 0;
    Case(name, "waitpid", false, [&] { return call(child, &status); });
    std::printf("%s: status %x\n", name, status);
  };
  for_child("waitpid", [](pid_t child, int* status) { return waitpid(child, status, 0) - child; });
  for_child("wait", [](pid_t child, int* status) { return wait(status) - child; });
  for_child("wait3", [](pid_t child, int* status) { return wait3(status, 0, nullptr) - child; });
  for_child("wait4",
            [](pid_t child, int* status) { return wait4(child, status, 0, nullptr) - child; });
  for_child("waitid", [](pid_t child, int* status) {
    siginfo_t said = {};
    const int result = waitid(P_PID, static_cast<id_t>(child), &said, WEXITED);
    *status = said.si_status;
    return result;
  });
  int status = 0;
  Case("waitpid without a child", "", false, [&] { return waitpid(-1, &status, 0); });
}

// Whether it was.
bool Cancel(const char* name, void* (*wait)(void*), bool at_once) {
  pthread_t thread;
  struct Start {
    void* (*wait)(void*);
    bool at_once;
    std::atomic<bool> cancelled;
  } start = {wait, at_once, false};
  pthread_create(
      &thread, nullptr,
      [](void* from) -> void* {
        Start* const begin = static_cast<Start*>(from);
        GPUBOUND_OPERATION("to be cancelled");
        while (begin->at_once && !begin->cancelled) sched_yield();  // it is pending then
        return begin->wait(nullptr);
      },
      &start);
  if (!at_once) Pause();
  pthread_cancel(thread);
  start.cancelled = true;
  void* value = nullptr;
  pthread_join(thread, &value);
  std::printf("cancel %s%s: %s\n", name, at_once ? " at once" : "",
              value == PTHREAD_CANCELED ? "cancelled" : "came back");
  return value == PTHREAD_CANCELED;
}

void CancelWaits() {
  static Condition at;
  static sem_t none;
  static sem_t some;
  static Pipe pipe;
  sem_init(&none, 0, 0);
  sem_init(&some, 0, 8);
  struct Cancelled {
    const char* name;
    void* (*wait)(void*);
  };
  static const Cancelled cases[] = {
      {"pthread_cond_wait",
       [](void*) -> void* {
         pthread_mutex_lock(&at.mutex);
         pthread_cleanup_push(
             [](void* mutex) { pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex)); },
             &at.mutex);
         pthread_cond_wait(&at.condition, &at.mutex);
         pthread_cleanup_pop(1);
         return nullptr;
       }},
      {"sem_wait", [](void*) -> void* { return sem_wait(&none), nullptr; }},
      {"sem_wait that has one", [](void*) -> void* { return sem_wait(&some), nullptr; }},
      {"nanosleep",
       [](void*) -> void* {
         const timespec pause = TimeOf(2 * kWaitNs);
         return nanosleep(&pause, nullptr), nullptr;
       }},
      {"poll", [](void*) -> void* { return poll(nullptr, 0, 1000), nullptr; }},
      {"read",
       [](void*) -> void* {
         char byte = 0;
         return read(pipe.ends[0], &byte, 1) == 1 ? &pipe : nullptr;
       }},
      {"select",
       [](void*) -> void* {
         timeval length = {1, 0};
         return select(0, nullptr, nullptr, nullptr, &length), nullptr;
       }},
  };
  for (const Cancelled& one : cases) {
    for (const bool at_once : {false, true}) Cancel(one.name, one.wait, at_once);
  }
  // A thread that has ended, and one that has not.
  for (const bool ended : {false, true}) {
    static std::atomic<bool> go{false};
    go = ended;
    static pthread_t awaited;
    pthread_create(
        &awaited, nullptr,
        [](void*) -> void* {
          while (!go) usleep(1000);
          return nullptr;
        },
        nullptr);
    Pause();
    const bool cancelled = Cancel(
        ended ? "pthread_join of one that has ended" : "pthread_join",
        [](void*) -> void* { return pthread_join(awaited, nullptr), nullptr; }, ended);
    go = true;
    if (cancelled) std::printf("it can still be joined: %d\n", pthread_join(awaited, nullptr));
  }
  at.Broadcast();
  std::printf("the mutex is free: %d\n", pthread_mutex_trylock(&at.mutex));
  pthread_mutex_unlock(&at.mutex);
}

sigjmp_buf g_out_of_wait;
sem_t g_posted_by_handler;

void Interrupt(void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval once = {{0, 0}, {0, kWaitNs / 1000}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

void InterruptWaits() {
  Pipe pipe;
  char byte = 0;
  Interrupt([](int) {}, 0);
  Case("read that a signal interrupts", "read", false,
       [&] { return read(pipe.ends[0], &byte, 1); });
  Interrupt([](int) {}, 0);
  timespec rest = {};
  Case("nanosleep that a signal interrupts", "nanosleep", false, [&] {
    const timespec pause = TimeOf(10 * kWaitNs);
    return nanosleep(&pause, &rest);
  });
  std::printf("some was left: %d\n", rest.tv_nsec > 0);
  // A handler may post, read, and wait itself.
  sem_init(&g_posted_by_handler, 0, 0);
  pipe.Write();
  static int end = 0;
  end = pipe.ends[0];
  Interrupt(
      [](int) {
        const int saved = errno;
        char written = 0;
        if (read(end, &written, 1) == 1) sem_post(&g_posted_by_handler);
        errno = saved;
      },
      SA_RESTART);
  Case("sem_wait that a handler ends", "", false, [] { return sem_wait(&g_posted_by_handler); });
  Interrupt(
      [](int) {
        const timespec pause = TimeOf(kWaitNs / 10);
        nanosleep(&pause, nullptr);
        sem_post(&g_posted_by_handler);
      },
      SA_RESTART);
  std::printf("waited while a handler did: %d\n", sem_wait(&g_posted_by_handler));
  // It leaves the wait for good.
  static int i;
  for (i = 0; i < 3; ++i) {
    if (sigsetjmp(g_out_of_wait, 1) == 0) {
      Interrupt([](int) { siglongjmp(g_out_of_wait, 1); }, 0);
      if (i == 0) nanosleep(&(g_pause = TimeOf(100 * kWaitNs)), nullptr);
      if (i == 1 && read(pipe.ends[0], &byte, 1) == 1) std::printf("read\n");
      if (i == 2) sem_wait(&g_posted_by_handler);
      std::printf("came back\n");
    }
    g_pause = TimeOf(kWaitNs);
    std::printf("left %d\n", i);
  }
  Case("nanosleep after them", "nanosleep", false, [] { return nanosleep(&g_pause, nullptr); });
}

void WaitInChildren() {
  std::fflush(stdout);
  std::fflush(g_account);
  const pid_t child = fork();
  if (child == 0) {
    Case("sleep of a fork child", "nanosleep", false, [] { return nanosleep(&g_pause, nullptr); });
    {
      sem_t semaphore;
      sem_init(&semaphore, 0, 0);
      Waker waker([&] { sem_post(&semaphore); });
      Case("sem_wait of a fork child", "sem_wait", true, [&] { return sem_wait(&semaphore); });
    }
    std::fflush(stdout);
    std::fflush(g_account);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("the child left %x\n", status);
  const pid_t borrowed = vfork();
  if (borrowed == 0) {
    nanosleep(&g_pause, nullptr);
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  waitpid(borrowed, &status, 0);
  std::printf("the vfork child left %x\n", status);
}

}  // namespace

int main(int, char** arguments) {
  g_account = std::fopen(arguments[1], "w");
  if (g_account == nullptr) return 1;
  std::printf("before main: %d\n", native_waits_before_main);
  WaitAtConditions();
  UseOlderCondition();
  WaitForLocks();
  WaitForThreads();
  WaitAtSemaphores();
  Sleep();
  WaitForFiles();
  Read();
  WaitForChildren();
  CancelWaits();
  InterruptWaits();
  WaitInChildren();
  std::fclose(g_account);
}
