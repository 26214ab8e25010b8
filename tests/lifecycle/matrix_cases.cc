// SPDX-License-Identifier: Apache-2.0
//
// A ground stands for its kind. Where a limit is given, it is far from what the program itself
// needs, so that the plain run says what the program does there.
#include "tests/lifecycle/matrix_cases.h"

#include <sys/syscall.h>

namespace gpubound {
namespace {

// A disk of its own, of which a copy is kept.
#define GPUBOUND_ON_DISK(options, meanwhile)                            \
  "mount -t tmpfs -o " options " none \"$DISK\" || exit 99\n" meanwhile \
  "\"$@\"; status=$?\n"                                                 \
  "[ -e \"$DISK/run\" ] && cp -a \"$DISK/run\" \"$KEPT\"\n"             \
  "exit $status"

// Where the library is not there, the loader would go on without it.
#define GPUBOUND_PRELOADED(library, preload)   \
  "LD_PRELOAD=" library " grep -q " library    \
  " /proc/self/maps 2> /dev/null || exit 99\n" \
  "export LD_PRELOAD=" preload "; exec \"$@\""

#define GPUBOUND_AS_NOBODY(script)                                  \
  "if [ \"$(id -u)\" = 0 ]; then\n"                                 \
  "  exec setpriv --reuid=65534 --clear-groups /bin/sh -c '" script \
  "' sh \"$@\"\n"                                                   \
  "fi\n"                                                            \
  "exec unshare --user --map-root-user /bin/sh -c '" script "' sh \"$@\""

}  // namespace

const std::vector<Ground>& Grounds() {
  using enum Loss;
  static const std::vector<const char*> while_it_runs = {"annotate for a while"};
  static const std::vector<const char*> one_thread = {"return from main", "fork child leaves"};
  static const std::vector<Ground> grounds = {
      {"nothing special", "", ""},
      // Other libraries, in front of us (around all) and after us (around the program).
      {"an allocator before us", R"(export LD_PRELOAD="$ALLOCATOR"; exec "$@")", ""},
      {"an allocator after us", "", R"(export LD_PRELOAD="$LD_PRELOAD:$ALLOCATOR"; exec "$@")"},
      {"wrappers before us", R"(export LD_PRELOAD="$WRAPPERS"; exec "$@")", ""},
      {"wrappers after us", "", R"(export LD_PRELOAD="$LD_PRELOAD:$WRAPPERS"; exec "$@")"},
      {"wrappers and an allocator around us", R"(export LD_PRELOAD="$WRAPPERS"; exec "$@")",
       R"(export LD_PRELOAD="$LD_PRELOAD:$ALLOCATOR"; exec "$@")"},
      {"an allocator in our place",
       "",
       R"(export LD_PRELOAD="$ALLOCATOR"; exec "$@")",
       kIfSaid,
       {},
       true,
       "clear the environment"},
      {"no preload at all",
       "",
       R"(unset LD_PRELOAD; exec "$@")",
       kIfSaid,
       {},
       true,
       "clear the environment"},
      {"no preload at all where threads are cancelled",
       "",
       R"(unset LD_PRELOAD; exec "$@")",
       kIfSaid,
       {"cancel threads"}},
      {"jemalloc before us and the smallest stack",
       GPUBOUND_PRELOADED("libjemalloc.so.2", "libjemalloc.so.2"),
       "",
       kNone,
       {"first scope on the smallest stack"}},
      {"jemalloc before us", GPUBOUND_PRELOADED("libjemalloc.so.2", "libjemalloc.so.2"), ""},
      {"jemalloc after us",
       "",
       GPUBOUND_PRELOADED("libjemalloc.so.2", "\"$LD_PRELOAD:libjemalloc.so.2\""),
       kNone,
       {},
       false},
      {"tcmalloc before us",
       GPUBOUND_PRELOADED("libtcmalloc_minimal.so.4", "libtcmalloc_minimal.so.4"), ""},
      {"tcmalloc after us",
       "",
       GPUBOUND_PRELOADED("libtcmalloc_minimal.so.4", "\"$LD_PRELOAD:libtcmalloc_minimal.so.4\""),
       kNone,
       {},
       false},
      {"mimalloc before us", GPUBOUND_PRELOADED("libmimalloc.so.2", "libmimalloc.so.2"), ""},
      {"mimalloc after us",
       "",
       GPUBOUND_PRELOADED("libmimalloc.so.2", "\"$LD_PRELOAD:libmimalloc.so.2\""),
       kNone,
       {},
       false},
      {"a library that is not there before us", R"(export LD_PRELOAD=libnosuch.so; exec "$@")", ""},
      // Environments.
      {"no environment", "",
       R"(exec env -i VICTIM_PROGRESS="$VICTIM_PROGRESS" VICTIM_FILE="$VICTIM_FILE" "$@")",
       kNotSaid},
      {"a run directory that cannot be made", "", R"(GPUBOUND_RUN=/proc/no/x exec "$@")", kNotSaid},
      {"a folder that is gone", "", R"(mkdir gone; cd gone; rmdir ../gone; exec "$@")"},
      {"no temporary folder", "", R"(export TMPDIR=/nowhere HOME=/nowhere; exec "$@")"},
      {"a mask that denies everything", "", R"(umask 777; exec "$@")", kNone, one_thread},
      {"no standard descriptors", "", R"(exec "$@" <&- >&- 2>&-)"},
      {"no standard error", "", R"(exec "$@" 2>&-)"},
      {"a full standard error", "", R"(exec "$@" 2>/dev/full)"},
      {"ignored signals", "", R"(trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM; exec "$@")"},
      {"bound to one processor", R"(exec taskset -c 0 "$@")", ""},
      {"the lowest priority", R"(exec nice -n 19 "$@")", "", kNone, {}, false},
      // Limits. What the test itself was started with has to leave the few there are.
      {"4 descriptors", "", R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 4; exec "$@")",
       kIfSaid},
      {"5 descriptors",
       "",
       R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 5; exec "$@")",
       kIfSaid,
       {},
       false},
      {"8 descriptors", "", R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 8; exec "$@")",
       kIfSaid},
      {"8 descriptors where the main thread ends first",
       "",
       R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 8; exec "$@")",
       kIfSaid,
       {"main thread ends first", "unload an annotated library"}},
      {"12 descriptors",
       "",
       R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 12; exec "$@")",
       kIfSaid,
       {},
       false},
      {"50 descriptors",
       "",
       R"(exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 50; exec "$@")",
       kIfSaid,
       {},
       false},
      {"20 MB of addresses", "", R"(ulimit -v 20000; exec "$@")", kIfSaid, one_thread},
      {"30 MB of addresses", "", R"(ulimit -v 30000; exec "$@")", kIfSaid, one_thread, false},
      {"200 MB of addresses", "", R"(ulimit -v 200000; exec "$@")", kIfSaid, one_thread},
      {"files of no byte", "", R"(ulimit -f 0; exec "$@")", kIfSaid, {"return from main"}},
      {"files of 4 KiB", "", R"(ulimit -f 8; exec "$@")", kIfSaid, {"return from main"}},
      {"files of 100 KiB", "", R"(ulimit -f 200; exec "$@")", kIfSaid, one_thread, false},
      {"files of 4 MiB", "", R"(ulimit -f 8192; exec "$@")", kIfSaid, one_thread, false},
      {"stacks of 128 KiB", "", R"(ulimit -s 128; exec "$@")"},
      {"no locked memory", "", R"(ulimit -l 0; exec "$@")", kNone, {}, false},
      {"no pending signals",
       "",
       R"(exec prlimit --sigpending=0 "$@")",
       kIfSaid,
       {"return from main"},
       false},
      // The launcher, a shell and the program are three, threads count.
      {"3 processes",
       GPUBOUND_AS_NOBODY(R"(exec prlimit --nproc=3 "$@")"),
       "",
       kIfSaid,
       {"return from main"}},
      {"4 processes",
       GPUBOUND_AS_NOBODY(R"(exec prlimit --nproc=4 "$@")"),
       "",
       kIfSaid,
       {"return from main"},
       false},
      {"another user", "",
       R"sh([ "$(id -u)" = 0 ] && exec setpriv --reuid=65534 --clear-groups "$@"; exec "$@")sh",
       kNotSaid, one_thread},
      // Nothing of ours acts there, not even to say so: 98 is no status of the victim's.
      {"the rights of another user", "",
       R"sh([ "$(id -u)" = 0 ] || exec "$@"
folder="${VICTIM_FILE%/*}"
chmod 711 "$folder" && cp "$1" "$folder/setuid" && chmod 4755 "$folder/setuid" || exit 98
shift
setpriv --reuid=65534 --clear-groups "$folder/setuid" "$@"
status=$?
ls "$GPUBOUND_RUN"/*.unrecorded > /dev/null 2>&1 && exit 98
exit $status)sh",
       kNotSaid, one_thread},
      // Namespaces.
      {"a user namespace", R"(exec unshare --user --map-root-user "$@")", ""},
      {"a user namespace of the program", "", R"(exec unshare --user --map-root-user "$@")"},
      // Process 1 of a namespace is spared signals, and the program is it without us alone.
      {"a pid namespace",
       R"(exec unshare --user --map-root-user --pid --fork /bin/sh -c '"$@"; exit $?' sh "$@")",
       ""},
      {"a pid namespace of the program", "",
       R"(exec unshare --user --map-root-user --pid --fork "$@")"},
      {"a pid namespace of the program where the main thread ends first",
       "",
       R"(exec unshare --user --map-root-user --pid --fork "$@")",
       kNone,
       {"main thread ends first"}},
      {"a pid namespace of the program with its own /proc",
       "",
       R"(exec unshare --user --map-root-user --pid --fork --mount-proc "$@")",
       kNone,
       {},
       false},
      {"a mount namespace of the program", "",
       R"(exec unshare --user --map-root-user --mount "$@")"},
      {"a mount namespace without /proc", "",
       R"(exec unshare --user --map-root-user --mount /bin/sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$@")",
       kIfSaid},
      {"a mount namespace without /proc where the main thread ends first",
       "",
       R"(exec unshare --user --map-root-user --mount /bin/sh -c 'mount -t tmpfs none /proc; exec "$@"' sh "$@")",
       kIfSaid,
       {"main thread ends first"}},
      {"another host name", "",
       R"(exec unshare --user --map-root-user --uts /bin/sh -c 'hostname other; exec "$@"' sh "$@")"},
      {"no network",
       "",
       R"(exec unshare --user --map-root-user --net --ipc "$@")",
       kNone,
       {},
       false},
      // Disks.
      {"a disk of 16 KiB", GPUBOUND_ON_DISK("size=16k", ""), "", kIfSaid},
      {"a disk of 100 KiB", GPUBOUND_ON_DISK("size=100k", ""), "", kIfSaid},
      {"a disk of 400 KiB", GPUBOUND_ON_DISK("size=400k", ""), "", kIfSaid, {}, false},
      {"a disk of 2 MiB", GPUBOUND_ON_DISK("size=2m", ""), "", kIfSaid},
      {"a disk of 20 MiB", GPUBOUND_ON_DISK("size=20m", ""), "", kIfSaid, {}, false},
      {"a disk of 8 files", GPUBOUND_ON_DISK("size=100m,nr_inodes=8", ""), "", kIfSaid},
      {"a disk that somebody fills",
       GPUBOUND_ON_DISK("size=30m", "(sleep 0.2; cat /dev/zero > \"$DISK/other\" 2>/dev/null) &\n"),
       "", kIfSaid, while_it_runs},
      {"a disk that vanishes",
       GPUBOUND_ON_DISK("size=100m", "(sleep 0.2; umount -l \"$DISK\") &\n"), "", kIfSaid,
       while_it_runs},
      {"a disk that is covered",
       GPUBOUND_ON_DISK("size=100m", "(sleep 0.2; mount -t tmpfs none \"$DISK\") &\n"), "", kIfSaid,
       while_it_runs, false},
      {"a run directory that somebody removes", "(sleep 0.2; rm -rf \"$DISK/run\") &\nexec \"$@\"",
       "", kIfSaid, while_it_runs},
      {"a run directory that somebody moves",
       "(sleep 0.2; mv \"$DISK/run\" \"$DISK/moved\") &\nexec \"$@\"", "", kIfSaid, while_it_runs},
      {"databases that somebody empties",
       "(sleep 0.2; for f in \"$DISK\"/run/*.db; do : > \"$f\"; done) &\nexec \"$@\"", "", kIfSaid,
       while_it_runs},
      {"a mapping that somebody removes", "(sleep 0.2; rm -f \"$DISK\"/run/*.live) &\nexec \"$@\"",
       "", kIfSaid, while_it_runs, false},
      // Segments that are sealed all the time, few pages, transactions of all kinds.
      {"small segments", R"(export GPUBOUND_SEGMENT_BYTES=1048576; exec "$@")", ""},
      {"few pages", R"(export GPUBOUND_LIVE_PAGES=4; exec "$@")", "", kIfSaid, {}, false},
      {"a flush every 10 ms", R"(export GPUBOUND_FLUSH_MS=10; exec "$@")", "", kNone, {}, false},
  };
  return grounds;
}

const std::vector<const char*>& ShortActions() {
  static const std::vector<const char*> actions = {"many threads", "fork child leaves"};
  return actions;
}

const std::vector<const char*>& LongActions() {
  static const std::vector<const char*> actions = {"return from main",
                                                   "return 3 from main",
                                                   "exit",
                                                   "_exit",
                                                   "quick_exit",
                                                   "abort",
                                                   "SIGTERM",
                                                   "SIGKILL",
                                                   "return while threads annotate",
                                                   "exit from another thread",
                                                   "main thread ends first",
                                                   "many threads",
                                                   "signal handler leaves",
                                                   "a rain of signals",
                                                   "atexit handlers annotate",
                                                   "static destructors annotate",
                                                   "fork child returns",
                                                   "fork child leaves",
                                                   "fork child execs",
                                                   "fork child is killed",
                                                   "fork inside a scope",
                                                   "grandchildren",
                                                   "fork storm",
                                                   "vfork then exec",
                                                   "posix_spawn",
                                                   "system",
                                                   "exec in place",
                                                   "unload an annotated library",
                                                   "use descriptors by number",
                                                   "cancel threads",
                                                   "keep signal mask and handlers",
                                                   "leave scopes open",
                                                   "clear the environment",
                                                   "first scope on the smallest stack"};
  return actions;
}

const std::vector<MatrixProgram>& Programs() {
  using enum Loss;
  static const std::vector<MatrixProgram> programs = {
      {"of the address sanitizer", GPUBOUND_TEST_VICTIM_OF_ADDRESS, "libasan", kNone},
      {"of the thread sanitizer", GPUBOUND_TEST_VICTIM_OF_THREAD, "libtsan", kNone},
      {"of the undefined behaviour sanitizer", GPUBOUND_TEST_VICTIM_OF_UNDEFINED, "libubsan",
       kNone},
      {"linked statically", GPUBOUND_TEST_VICTIM_STATIC, "libc6-dev", kIfSaid},
      {"of musl", GPUBOUND_TEST_VICTIM_MUSL, "musl-tools", kIfSaid},
      {"of musl, linked statically", GPUBOUND_TEST_VICTIM_MUSL_STATIC, "musl-tools", kIfSaid}};
  return programs;
}

const std::vector<RefusedCall>& RefusedCalls() {
#define GPUBOUND_CALL(name, ...) \
  { #name, SYS_##name __VA_OPT__(, ) __VA_ARGS__ }
  static const std::vector<RefusedCall> calls = {
      GPUBOUND_CALL(access),
      GPUBOUND_CALL(brk),
      GPUBOUND_CALL(clock_gettime),
      GPUBOUND_CALL(clone3),
      GPUBOUND_CALL(close),
      GPUBOUND_CALL(exit, false, false, true),
      GPUBOUND_CALL(fallocate),
      GPUBOUND_CALL(fchown),
      GPUBOUND_CALL(fcntl),
      GPUBOUND_CALL(fdatasync),
      GPUBOUND_CALL(fsync),
      GPUBOUND_CALL(ftruncate),
      GPUBOUND_CALL(futex, true),
      GPUBOUND_CALL(getdents64),
      GPUBOUND_CALL(geteuid),
      GPUBOUND_CALL(getpid, false, false, true),
      GPUBOUND_CALL(getppid),
      GPUBOUND_CALL(getrandom),
      GPUBOUND_CALL(gettid, false, false, true),
      GPUBOUND_CALL(lseek),
      GPUBOUND_CALL(madvise),
      GPUBOUND_CALL(mkdir),
      GPUBOUND_CALL(mmap),
      GPUBOUND_CALL(mprotect),
      GPUBOUND_CALL(munmap),
      GPUBOUND_CALL(newfstatat),
      GPUBOUND_CALL(openat),
      GPUBOUND_CALL(prctl, true, true),
      GPUBOUND_CALL(pread64),
      GPUBOUND_CALL(pwrite64),
      GPUBOUND_CALL(read),
      GPUBOUND_CALL(readlink),
      GPUBOUND_CALL(readlinkat),
      GPUBOUND_CALL(rseq),
      GPUBOUND_CALL(rt_sigaction),
      GPUBOUND_CALL(rt_sigpending),
      GPUBOUND_CALL(rt_sigprocmask),
      GPUBOUND_CALL(rt_sigtimedwait),
      GPUBOUND_CALL(sched_getaffinity),
      GPUBOUND_CALL(set_robust_list),
      GPUBOUND_CALL(statfs),
      GPUBOUND_CALL(uname),
      GPUBOUND_CALL(unlink),
      GPUBOUND_CALL(write),
  };
#undef GPUBOUND_CALL
  return calls;
}

}  // namespace gpubound
