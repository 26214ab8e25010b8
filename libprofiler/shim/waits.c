/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of the functions in which threads block, and of those that let them go on. Each does
 * what it did: where nothing is recorded it costs one load, and where something is, the core hears
 * of it before and after (wait_hooks.h).
 *
 * Where a lock, a semaphore or an ended thread can be had at once, it is tried first: only what
 * fails is a wait. What a timeout has to say of itself (EINVAL) the function says, so of those with
 * one nothing is tried. What a failed try leaves in errno is undone.
 *
 * The functions that come next are looked up before main. At the first call it could be too late:
 * the loader's lock may be held by a constructor that waits for the very thread that calls. Only
 * who calls from a constructor before ours has them looked up then.
 *
 * Any thread; signal handlers as far as the function allows it.
 */
#define _GNU_SOURCE
#include "libprofiler/shim/wait_hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libprofiler/shim/shim.h"

/* Not every C library has it. */
extern void* dlvsym(void* handle, const char* name, const char* version) __attribute__((weak));

static _Atomic(const struct gpubound_wait_hooks*) wait_hooks = NULL;

void ShimSetWaitHooks(const struct gpubound_wait_hooks* hooks) {
  atomic_store_explicit(&wait_hooks, hooks, memory_order_release);
}

/* Null: nothing is recorded. */
static inline const struct gpubound_wait_hooks* Hooks(void) {
  return atomic_load_explicit(&wait_hooks, memory_order_acquire);
}

bool ShimMayWait(const void* caller) {
  const struct gpubound_wait_hooks* const hooks = Hooks();
  struct gpubound_wait wait;
  return hooks != NULL && hooks->enter(&wait, 0, caller);
}

/* X(function, what it returns, its parameters). The last ones only the GNU C library has, and only
 * programs that were compiled for it call them. */
#define GPUBOUND_ALWAYS_THERE(X)                                                                 \
  X(pthread_cond_wait, int, (pthread_cond_t*, pthread_mutex_t*))                                 \
  X(pthread_cond_timedwait, int, (pthread_cond_t*, pthread_mutex_t*, const struct timespec*))    \
  X(pthread_cond_signal, int, (pthread_cond_t*))                                                 \
  X(pthread_cond_broadcast, int, (pthread_cond_t*))                                              \
  X(pthread_mutex_lock, int, (pthread_mutex_t*))                                                 \
  X(pthread_mutex_trylock, int, (pthread_mutex_t*))                                              \
  X(pthread_mutex_timedlock, int, (pthread_mutex_t*, const struct timespec*))                    \
  X(pthread_mutex_unlock, int, (pthread_mutex_t*))                                               \
  X(pthread_join, int, (pthread_t, void**))                                                      \
  X(pthread_barrier_wait, int, (pthread_barrier_t*))                                             \
  X(sem_wait, int, (sem_t*))                                                                     \
  X(sem_trywait, int, (sem_t*))                                                                  \
  X(sem_timedwait, int, (sem_t*, const struct timespec*))                                        \
  X(sem_post, int, (sem_t*))                                                                     \
  X(nanosleep, int, (const struct timespec*, struct timespec*))                                  \
  X(clock_nanosleep, int, (clockid_t, int, const struct timespec*, struct timespec*))            \
  X(usleep, int, (useconds_t))                                                                   \
  X(sleep, unsigned, (unsigned))                                                                 \
  X(poll, int, (struct pollfd*, nfds_t, int))                                                    \
  X(ppoll, int, (struct pollfd*, nfds_t, const struct timespec*, const sigset_t*))               \
  X(select, int, (int, fd_set*, fd_set*, fd_set*, struct timeval*))                              \
  X(pselect, int, (int, fd_set*, fd_set*, fd_set*, const struct timespec*, const sigset_t*))     \
  X(epoll_wait, int, (int, struct epoll_event*, int, int))                                       \
  X(epoll_pwait, int, (int, struct epoll_event*, int, int, const sigset_t*))                     \
  X(read, ssize_t, (int, void*, size_t))                                                         \
  X(readv, ssize_t, (int, const struct iovec*, int))                                             \
  X(recv, ssize_t, (int, void*, size_t, int))                                                    \
  X(recvfrom, ssize_t, (int, void*, size_t, int, __SOCKADDR_ARG, socklen_t*))                    \
  X(recvmsg, ssize_t, (int, struct msghdr*, int))                                                \
  X(accept, int, (int, __SOCKADDR_ARG, socklen_t*))                                              \
  X(accept4, int, (int, __SOCKADDR_ARG, socklen_t*, int))                                        \
  X(wait, pid_t, (int*))                                                                         \
  X(waitpid, pid_t, (pid_t, int*, int))                                                          \
  X(waitid, int, (idtype_t, id_t, siginfo_t*, int))                                              \
  X(wait3, pid_t, (int*, int, struct rusage*))                                                   \
  X(wait4, pid_t, (pid_t, int*, int, struct rusage*))                                            \
  X(__poll_chk, int, (struct pollfd*, nfds_t, int, size_t))                                      \
  X(__ppoll_chk, int, (struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t)) \
  X(__read_chk, ssize_t, (int, void*, size_t, size_t))                                           \
  X(__recv_chk, ssize_t, (int, void*, size_t, size_t, int))                                      \
  X(__recvfrom_chk, ssize_t, (int, void*, size_t, size_t, int, __SOCKADDR_ARG, socklen_t*))

/* Of newer C libraries. */
#define GPUBOUND_NOT_EVERYWHERE(X)                                                       \
  X(pthread_cond_clockwait, int,                                                         \
    (pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*))              \
  X(pthread_mutex_clocklock, int, (pthread_mutex_t*, clockid_t, const struct timespec*)) \
  X(pthread_tryjoin_np, int, (pthread_t, void**))                                        \
  X(sem_clockwait, int, (sem_t*, clockid_t, const struct timespec*))                     \
  X(epoll_pwait2, int, (int, struct epoll_event*, int, const struct timespec*, const sigset_t*))

#define GPUBOUND_NEXT(X) GPUBOUND_ALWAYS_THERE(X) GPUBOUND_NOT_EVERYWHERE(X)

enum {
#define GPUBOUND_NUMBER(name, result, parameters) kNext_##name,
  GPUBOUND_NEXT(GPUBOUND_NUMBER) kNextCount,
  kNextAlwaysThere = kNext_pthread_cond_clockwait /* the first that may be missing */
#undef GPUBOUND_NUMBER
};
#define GPUBOUND_DECLARE(name, result, parameters) typedef result(*name##_function) parameters;
GPUBOUND_NEXT(GPUBOUND_DECLARE)
#undef GPUBOUND_DECLARE

/* One string, since an array of pointers would have to be relocated in each process. */
static const char kNextNames[] =
#define GPUBOUND_NAME(name, result, parameters) #name "\0"
    GPUBOUND_NEXT(GPUBOUND_NAME);
#undef GPUBOUND_NAME

static atomic_uintptr_t next_functions[kNextCount];

/* Of pthread_cond_t there are two layouts, and functions for each; ours are exported for the newer
 * one, with its version (exports.map), so the older ones never come here. In the C library the
 * newer ones are found by that version alone, and what stands before it and has none, like the
 * thread sanitizer, is not. */
static void* FindNext(const char* name, bool is_of_condition) {
  void* const next = dlsym(RTLD_NEXT, name);
#if defined(__x86_64__)
  if (is_of_condition && &dlvsym != NULL) {
    void* const newer = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (newer != NULL && ShimAreOfOneLibrary(next, newer)) return newer;
  }
#else
  (void)is_of_condition;
#endif
  return next;
}

/* A search that fails allocates, and an allocator that is preloaded, too, locks its mutexes through
 * us. So what is always there comes first, and is found without. */
static atomic_bool has_searched = false;
static __attribute__((cold, noinline)) void FindAllNext(void) {
  const int saved_errno = errno;
  const char* name = kNextNames;
  for (int i = 0; i < kNextCount; ++i, name += strlen(name) + 1) {
    if (i == kNextAlwaysThere && atomic_exchange(&has_searched, true)) break;
    void* symbol = FindNext(name, i <= kNext_pthread_cond_broadcast);
    atomic_store_explicit(&next_functions[i], (uintptr_t)symbol, memory_order_relaxed);
    if (symbol == NULL) dlerror(); /* NOLINT(concurrency-mt-unsafe): as if nobody had searched */
  }
  errno = saved_errno;
}

/* 0: there is no such function. */
static inline uintptr_t Next(int function) {
  const uintptr_t next = atomic_load_explicit(&next_functions[function], memory_order_relaxed);
  if (__builtin_expect(next != 0, 1)) return next;
  if (function < kNextAlwaysThere || !atomic_load(&has_searched)) FindAllNext();
  return atomic_load_explicit(&next_functions[function], memory_order_relaxed);
}
static inline uintptr_t NextAlwaysThere(int function) {
  const uintptr_t next = Next(function);
  if (next == 0) __builtin_unreachable();
  return next;
}

#define NEXT(name) ((name##_function)NextAlwaysThere(kNext_##name))
#define NEXT_IF_THERE(name) ((name##_function)Next(kNext_##name))
#define CALLER __builtin_return_address(0)
#define AT(object) ((uint64_t)(uintptr_t)(object))

static void Leave(const struct gpubound_wait_hooks* hooks, const struct gpubound_wait* wait,
                  enum gpubound_wait_kind kind, bool woken, int descriptor) {
  const int saved_errno = errno;
  hooks->leave(wait, kind, woken, descriptor);
  errno = saved_errno;
}

static void Wake(uint64_t object) {
  const struct gpubound_wait_hooks* const hooks = Hooks();
  if (hooks == NULL) return;
  const int saved_errno = errno;
  hooks->wake(object);
  errno = saved_errno;
}

/* The body of a function: `call`, which may block at `object`. `woken` is asked of its `result`. */
#define WAIT(type, kind, object, call, woken, descriptor)                      \
  const struct gpubound_wait_hooks* const hooks = Hooks();                     \
  struct gpubound_wait wait_;                                                  \
  if (hooks == NULL || !hooks->enter(&wait_, (object), CALLER)) return (call); \
  const type result = (call);                                                  \
  Leave(hooks, &wait_, (kind), (woken), (descriptor));                         \
  return result

#define WAIT_AT(type, kind, object, call) WAIT(type, kind, AT(object), call, result == 0, -1)
#define WAIT_FOR_ANY(type, kind, call) WAIT(type, kind, 0, call, false, -1)
#define WAIT_TO_READ(kind, file, call) WAIT(ssize_t, kind, 0, call, false, file)

/* Whoever waits at a condition gives its mutex up, for which others may wait. */
#define WAIT_AT_CONDITION(call) \
  Wake(AT(mutex));              \
  WAIT_AT(int, GPUBOUND_WAIT_CONDITION, condition, call)

GPUBOUND_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  WAIT_AT_CONDITION(NEXT(pthread_cond_wait)(condition, mutex));
}
GPUBOUND_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           const struct timespec* until) {
  WAIT_AT_CONDITION(NEXT(pthread_cond_timedwait)(condition, mutex, until));
}
GPUBOUND_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           clockid_t clock, const struct timespec* until) {
  const pthread_cond_clockwait_function next = NEXT_IF_THERE(pthread_cond_clockwait);
  if (next == NULL) return ENOSYS; /* before glibc 2.30 */
  WAIT_AT_CONDITION(next(condition, mutex, clock, until));
}
GPUBOUND_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  Wake(AT(condition));
  return NEXT(pthread_cond_signal)(condition);
}
GPUBOUND_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  Wake(AT(condition));
  return NEXT(pthread_cond_broadcast)(condition);
}

GPUBOUND_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (Hooks() == NULL) return NEXT(pthread_mutex_lock)(mutex);
  const int tried = NEXT(pthread_mutex_trylock)(mutex);
  if (tried != EBUSY) return tried;
  WAIT_AT(int, GPUBOUND_WAIT_MUTEX, mutex, NEXT(pthread_mutex_lock)(mutex));
}
GPUBOUND_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* until) {
  WAIT_AT(int, GPUBOUND_WAIT_MUTEX, mutex, NEXT(pthread_mutex_timedlock)(mutex, until));
}
GPUBOUND_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                            const struct timespec* until) {
  const pthread_mutex_clocklock_function next = NEXT_IF_THERE(pthread_mutex_clocklock);
  if (next == NULL) return ENOSYS;
  WAIT_AT(int, GPUBOUND_WAIT_MUTEX, mutex, next(mutex, clock, until));
}
GPUBOUND_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  Wake(AT(mutex));
  return NEXT(pthread_mutex_unlock)(mutex);
}

GPUBOUND_EXPORT int pthread_join(pthread_t thread, void** value) {
  const pthread_tryjoin_np_function try = NEXT_IF_THERE(pthread_tryjoin_np);
  if (Hooks() != NULL && try != NULL) {
    const int tried = try(thread, value);
    if (tried != EBUSY) return tried;
  }
  WAIT_AT(int, GPUBOUND_WAIT_JOIN, thread, NEXT(pthread_join)(thread, value));
}

/* The last to come lets the others go on. */
GPUBOUND_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  Wake(AT(barrier));
  WAIT_AT(int, GPUBOUND_WAIT_BARRIER, barrier, NEXT(pthread_barrier_wait)(barrier));
}

GPUBOUND_EXPORT int sem_wait(sem_t* semaphore) {
  if (Hooks() != NULL) {
    const int saved_errno = errno;
    pthread_testcancel(); /* as the function does even where it need not wait; a try does not */
    if (NEXT(sem_trywait)(semaphore) == 0) return 0;
    errno = saved_errno;
  }
  WAIT_AT(int, GPUBOUND_WAIT_SEMAPHORE, semaphore, NEXT(sem_wait)(semaphore));
}
GPUBOUND_EXPORT int sem_timedwait(sem_t* semaphore, const struct timespec* until) {
  WAIT_AT(int, GPUBOUND_WAIT_SEMAPHORE, semaphore, NEXT(sem_timedwait)(semaphore, until));
}
GPUBOUND_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* until) {
  const sem_clockwait_function next = NEXT_IF_THERE(sem_clockwait);
  if (next == NULL) {
    errno = ENOSYS;
    return -1;
  }
  WAIT_AT(int, GPUBOUND_WAIT_SEMAPHORE, semaphore, next(semaphore, clock, until));
}
GPUBOUND_EXPORT int sem_post(sem_t* semaphore) {
  Wake(AT(semaphore));
  return NEXT(sem_post)(semaphore);
}

GPUBOUND_EXPORT int nanosleep(const struct timespec* length, struct timespec* rest) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_SLEEP, NEXT(nanosleep)(length, rest));
}
GPUBOUND_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                                    struct timespec* rest) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_SLEEP, NEXT(clock_nanosleep)(clock, flags, time, rest));
}
GPUBOUND_EXPORT int usleep(useconds_t microseconds) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_SLEEP, NEXT(usleep)(microseconds));
}
GPUBOUND_EXPORT unsigned sleep(unsigned seconds) {
  WAIT_FOR_ANY(unsigned, GPUBOUND_WAIT_SLEEP, NEXT(sleep)(seconds));
}

GPUBOUND_EXPORT int poll(struct pollfd* files, nfds_t count, int milliseconds) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_POLL, NEXT(poll)(files, count, milliseconds));
}
GPUBOUND_EXPORT int __poll_chk(struct pollfd* files, nfds_t count, int milliseconds, size_t bytes) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_POLL, NEXT(__poll_chk)(files, count, milliseconds, bytes));
}
GPUBOUND_EXPORT int ppoll(struct pollfd* files, nfds_t count, const struct timespec* length,
                          const sigset_t* mask) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_POLL, NEXT(ppoll)(files, count, length, mask));
}
GPUBOUND_EXPORT int __ppoll_chk(struct pollfd* files, nfds_t count, const struct timespec* length,
                                const sigset_t* mask, size_t bytes) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_POLL, NEXT(__ppoll_chk)(files, count, length, mask, bytes));
}
GPUBOUND_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* other,
                           struct timeval* length) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_SELECT, NEXT(select)(count, in, out, other, length));
}
GPUBOUND_EXPORT int pselect(int count, fd_set* in, fd_set* out, fd_set* other,
                            const struct timespec* length, const sigset_t* mask) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_SELECT, NEXT(pselect)(count, in, out, other, length, mask));
}
GPUBOUND_EXPORT int epoll_wait(int file, struct epoll_event* events, int count, int milliseconds) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_EPOLL, NEXT(epoll_wait)(file, events, count, milliseconds));
}
GPUBOUND_EXPORT int epoll_pwait(int file, struct epoll_event* events, int count, int milliseconds,
                                const sigset_t* mask) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_EPOLL,
               NEXT(epoll_pwait)(file, events, count, milliseconds, mask));
}
GPUBOUND_EXPORT int epoll_pwait2(int file, struct epoll_event* events, int count,
                                 const struct timespec* length, const sigset_t* mask) {
  const epoll_pwait2_function next = NEXT_IF_THERE(epoll_pwait2);
  if (next == NULL) {
    errno = ENOSYS;
    return -1;
  }
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_EPOLL, next(file, events, count, length, mask));
}

GPUBOUND_EXPORT ssize_t read(int file, void* bytes, size_t size) {
  WAIT_TO_READ(GPUBOUND_WAIT_READ, file, NEXT(read)(file, bytes, size));
}
GPUBOUND_EXPORT ssize_t __read_chk(int file, void* bytes, size_t size, size_t room) {
  WAIT_TO_READ(GPUBOUND_WAIT_READ, file, NEXT(__read_chk)(file, bytes, size, room));
}
GPUBOUND_EXPORT ssize_t readv(int file, const struct iovec* parts, int count) {
  WAIT_TO_READ(GPUBOUND_WAIT_READ, file, NEXT(readv)(file, parts, count));
}
GPUBOUND_EXPORT ssize_t recv(int file, void* bytes, size_t size, int flags) {
  WAIT_TO_READ(GPUBOUND_WAIT_RECEIVE, file, NEXT(recv)(file, bytes, size, flags));
}
GPUBOUND_EXPORT ssize_t __recv_chk(int file, void* bytes, size_t size, size_t room, int flags) {
  WAIT_TO_READ(GPUBOUND_WAIT_RECEIVE, file, NEXT(__recv_chk)(file, bytes, size, room, flags));
}
GPUBOUND_EXPORT ssize_t recvfrom(int file, void* bytes, size_t size, int flags,
                                 __SOCKADDR_ARG address, socklen_t* length) {
  WAIT_TO_READ(GPUBOUND_WAIT_RECEIVE, file,
               NEXT(recvfrom)(file, bytes, size, flags, address, length));
}
GPUBOUND_EXPORT ssize_t __recvfrom_chk(int file, void* bytes, size_t size, size_t room, int flags,
                                       __SOCKADDR_ARG address, socklen_t* length) {
  WAIT_TO_READ(GPUBOUND_WAIT_RECEIVE, file,
               NEXT(__recvfrom_chk)(file, bytes, size, room, flags, address, length));
}
GPUBOUND_EXPORT ssize_t recvmsg(int file, struct msghdr* message, int flags) {
  WAIT_TO_READ(GPUBOUND_WAIT_RECEIVE, file, NEXT(recvmsg)(file, message, flags));
}
GPUBOUND_EXPORT int accept(int file, __SOCKADDR_ARG address, socklen_t* length) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_ACCEPT, NEXT(accept)(file, address, length));
}
GPUBOUND_EXPORT int accept4(int file, __SOCKADDR_ARG address, socklen_t* length, int flags) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_ACCEPT, NEXT(accept4)(file, address, length, flags));
}

GPUBOUND_EXPORT pid_t wait(int* status) {
  WAIT_FOR_ANY(pid_t, GPUBOUND_WAIT_CHILD, NEXT(wait)(status));
}
GPUBOUND_EXPORT pid_t waitpid(pid_t child, int* status, int options) {
  WAIT_FOR_ANY(pid_t, GPUBOUND_WAIT_CHILD, NEXT(waitpid)(child, status, options));
}
GPUBOUND_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* said, int options) {
  WAIT_FOR_ANY(int, GPUBOUND_WAIT_CHILD, NEXT(waitid)(type, id, said, options));
}
GPUBOUND_EXPORT pid_t wait3(int* status, int options, struct rusage* usage) {
  WAIT_FOR_ANY(pid_t, GPUBOUND_WAIT_CHILD, NEXT(wait3)(status, options, usage));
}
GPUBOUND_EXPORT pid_t wait4(pid_t child, int* status, int options, struct rusage* usage) {
  WAIT_FOR_ANY(pid_t, GPUBOUND_WAIT_CHILD, NEXT(wait4)(child, status, options, usage));
}

#if defined(__x86_64__)
/* syscall() reads registers and the stack, and may return twice or onto another stack (clone). So
 * whatever is no futex goes on as it came, by one jump: to the next library's, or before that is
 * known to a system call of our own. */
__attribute__((visibility("hidden"), used)) long ShimSystemCallFailed(int error) {
  errno = error;
  return -1;
}
long ShimSystemCall(long number, ...) __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"), used)) long (*shim_next_syscall)(long, ...) = ShimSystemCall;

__attribute__((visibility("hidden"), used)) long ShimFutex(long number, long word, long operation,
                                                           long value, long time, long other,
                                                           long bits) {
#define FUTEX_CALL shim_next_syscall(number, word, operation, value, time, other, bits)
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
    case FUTEX_WAKE_OP:
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      Wake(AT(word));
      return FUTEX_CALL;
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET: {
      WAIT_AT(long, GPUBOUND_WAIT_FUTEX, word, FUTEX_CALL);
    }
    default:
      return FUTEX_CALL;
  }
#undef FUTEX_CALL
}

__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl syscall\n"
    ".type syscall, @function\n"
    "syscall:\n"
    "  endbr64\n"
    "  cmpq $202, %rdi\n" /* SYS_futex */
    "  je ShimFutex\n"
    "  jmp *shim_next_syscall(%rip)\n"
    ".size syscall, .-syscall\n"
    ".p2align 4\n"
    ".globl ShimSystemCall\n"
    ".hidden ShimSystemCall\n"
    ".type ShimSystemCall, @function\n"
    "ShimSystemCall:\n"
    "  endbr64\n"
    "  movq %rdi, %rax\n"
    "  movq %rsi, %rdi\n"
    "  movq %rdx, %rsi\n"
    "  movq %rcx, %rdx\n"
    "  movq %r8, %r10\n"
    "  movq %r9, %r8\n"
    "  movq 8(%rsp), %r9\n"
    "  syscall\n"
    "  cmpq $-4095, %rax\n"
    "  jae 1f\n"
    "  ret\n"
    "1:\n"
    "  negl %eax\n"
    "  movl %eax, %edi\n"
    "  jmp ShimSystemCallFailed\n"
    ".size ShimSystemCall, .-ShimSystemCall\n");
_Static_assert(SYS_futex == 202, "the number above");

static void FindSystemCall(void) {
  void* symbol = dlsym(RTLD_NEXT, "syscall");
  if (symbol != NULL) memcpy(&shim_next_syscall, &symbol, sizeof(symbol));
}
#else
static void FindSystemCall(void) {}
#endif

void ShimFindWhatBlocks(void) {
  FindAllNext();
  FindSystemCall();
}
