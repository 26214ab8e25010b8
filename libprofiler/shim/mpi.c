/* SPDX-License-Identifier: Apache-2.0
 *
 * In front of the functions of MPI in which a rank waits for others. Each calls the next one of its
 * name, which is MPI's own or another tool's. Where nothing is recorded a call costs its count.
 *
 * A collective is known to all ranks of its communicator as the n-th of them, which every rank
 * counts for itself; so who came last shows when the run is read (api.h, GPUBOUND_SHARED).
 * Communicators of the same ranks in the same order share a count, whatever their handles: MPI
 * has the ranks call their collectives in one order.
 *
 * Nothing of mpi.h is here: a communicator is a pointer in Open MPI and an int in MPICH and what
 * descends from it. Both go through a register or a word of the stack as they came.
 *
 * Any thread; no signal handler, as MPI has it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/include/gpubound/api.h"
#include "libprofiler/shim/shim.h"

/* An int or a pointer. */
typedef intptr_t Word;

enum {
  kErrOther = 15,     /* MPI_ERR_OTHER, of Open MPI and MPICH */
  kMostRanks = 65536, /* of a communicator whose collectives are counted */
  kGroups = 64,
  kCommunicators = 256
};

/* X(name, number of parameters, which of them is the communicator) */
#define GPUBOUND_COLLECTIVES(X)     \
  X(MPI_Barrier, 1, 0)              \
  X(MPI_Bcast, 5, 4)                \
  X(MPI_Gather, 8, 7)               \
  X(MPI_Gatherv, 9, 8)              \
  X(MPI_Scatter, 8, 7)              \
  X(MPI_Scatterv, 9, 8)             \
  X(MPI_Allgather, 7, 6)            \
  X(MPI_Allgatherv, 8, 7)           \
  X(MPI_Alltoall, 7, 6)             \
  X(MPI_Alltoallv, 9, 8)            \
  X(MPI_Alltoallw, 9, 8)            \
  X(MPI_Reduce, 7, 6)               \
  X(MPI_Allreduce, 6, 5)            \
  X(MPI_Reduce_scatter, 6, 5)       \
  X(MPI_Reduce_scatter_block, 6, 5) \
  X(MPI_Scan, 6, 5)                 \
  X(MPI_Exscan, 6, 5)

/* Waits for somebody whom the call does not name alike on both sides. */
#define GPUBOUND_OTHER_CALLS(X) \
  X(MPI_Send, 6)                \
  X(MPI_Ssend, 6)               \
  X(MPI_Recv, 7)                \
  X(MPI_Sendrecv, 12)           \
  X(MPI_Sendrecv_replace, 9)    \
  X(MPI_Probe, 4)               \
  X(MPI_Mprobe, 5)              \
  X(MPI_Mrecv, 5)               \
  X(MPI_Wait, 2)                \
  X(MPI_Waitall, 3)             \
  X(MPI_Waitany, 4)             \
  X(MPI_Waitsome, 5)            \
  X(MPI_Win_fence, 2)

#define GPUBOUND_ALSO_CALLED(X)   \
  X(MPI_Comm_free, 1)             \
  X(MPI_Comm_disconnect, 1)       \
  X(MPI_Comm_size, 2)             \
  X(MPI_Comm_group, 2)            \
  X(MPI_Comm_test_inter, 2)       \
  X(MPI_Group_translate_ranks, 5) \
  X(MPI_Group_free, 1)            \
  X(MPI_Comm_f2c, 1)              \
  X(MPI_Get_library_version, 2)

#define GPUBOUND_NUMBER(name, ...) k_##name,
enum {
  GPUBOUND_COLLECTIVES(GPUBOUND_NUMBER) kCollectives,
  kBeforeOthers = kCollectives - 1,
  GPUBOUND_OTHER_CALLS(GPUBOUND_NUMBER) kWaits,
  kBeforeAlso = kWaits - 1,
  GPUBOUND_ALSO_CALLED(GPUBOUND_NUMBER) kFunctions
};
#undef GPUBOUND_NUMBER

/* One string, since an array of pointers would have to be relocated in each process. */
#define GPUBOUND_NAME(name, ...) #name "\0"
static const char kNames[] = GPUBOUND_COLLECTIVES(GPUBOUND_NAME) GPUBOUND_OTHER_CALLS(GPUBOUND_NAME)
    GPUBOUND_ALSO_CALLED(GPUBOUND_NAME);
#undef GPUBOUND_NAME

static const char* NameOf(int function) {
  const char* name = kNames;
  while (function-- > 0) name += strlen(name) + 1;
  return name;
}

static atomic_uintptr_t functions[kFunctions];
static atomic_uint labels[kWaits]; /* of waits that are of no communicator */

/* MPI may be known to the library alone that calls it, as where Python has loaded that. */
static void* FindSymbol(const char* name, const void* caller) {
  const int saved_errno = errno;
  void* symbol = dlsym(RTLD_NEXT, name);
  Dl_info info;
  if (symbol == NULL && dladdr(caller, &info) != 0) {
    void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
      symbol = dlsym(library, name);
      dlclose(library);
    }
  }
  if (symbol == NULL) dlerror(); /* NOLINT(concurrency-mt-unsafe): as if nobody had searched */
  errno = saved_errno;
  return symbol;
}

static __attribute__((cold, noinline)) uintptr_t Find(int function, const void* caller) {
  const uintptr_t found = (uintptr_t)FindSymbol(NameOf(function), caller);
  atomic_store_explicit(&functions[function], found, memory_order_relaxed);
  return found;
}

static inline uintptr_t Function(int function, const void* caller) {
  const uintptr_t known = atomic_load_explicit(&functions[function], memory_order_relaxed);
  return known != 0 ? known : Find(function, caller);
}

typedef int (*Function1)(Word);
typedef int (*Function2)(Word, Word);
typedef int (*Function5)(Word, Word, Word, Word, Word);

static int Call1(int function, const void* caller, Word a) {
  const Function1 call = (Function1)Function(function, caller);
  return call == NULL ? kErrOther : call(a);
}
static int Call2(int function, const void* caller, Word a, Word b) {
  const Function2 call = (Function2)Function(function, caller);
  return call == NULL ? kErrOther : call(a, b);
}
static int Call5(int function, const void* caller, Word a, Word b, Word c, Word d, Word e) {
  const Function5 call = (Function5)Function(function, caller);
  return call == NULL ? kErrOther : call(a, b, c, d, e);
}

/* --- Communicators --- */

struct Group {
  uint64_t key; /* of its ranks in MPI_COMM_WORLD, in order, and of the job */
  atomic_ullong next;
  atomic_uint label;
  char name[48];
};
static struct Group groups[kGroups];
static size_t group_count;

struct Communicator {
  Word handle;
  struct Group* group; /* null: of one that is not counted */
};
static struct Communicator communicators[kCommunicators];
static size_t communicator_count;
static pthread_mutex_t communicator_mutex = PTHREAD_MUTEX_INITIALIZER; /* of all four */

static uint64_t Hash(uint64_t hash, const void* bytes, size_t size) { /* FNV-1a, 64 bits */
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ ((const unsigned char*)bytes)[i]) * 0x100000001b3;
  }
  return hash;
}

/* Tells jobs of one run apart. */
static uint64_t HashOfJob(void) {
  static const char* const kVariables[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID",
                                           "PMI_JOBID"};
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < sizeof(kVariables) / sizeof(kVariables[0]); ++i) {
    const char* const value = getenv(kVariables[i]); /* NOLINT(concurrency-mt-unsafe) */
    if (value != NULL) hash = Hash(hash, value, strlen(value));
    hash = Hash(hash, "", 1);
  }
  return hash;
}

enum Handles { kNotAsked, kPointers /* Open MPI */, kInts /* MPICH */, kOthers };
static atomic_int kind_of_handles;

static __attribute__((cold, noinline)) enum Handles AskForHandles(const void* caller) {
  enum { kVersionText = 8192 }; /* MPI_MAX_LIBRARY_VERSION_STRING */
  char* const version = calloc(1, kVersionText);
  int length = 0;
  enum Handles kind = kOthers;
  if (version != NULL &&
      Call2(k_MPI_Get_library_version, caller, (Word)version, (Word)&length) == 0) {
    version[kVersionText - 1] = '\0';
    if (strstr(version, "Open MPI") != NULL) {
      kind = kPointers;
    } else if (strstr(version, "MPICH") != NULL || strstr(version, "MVAPICH") != NULL ||
               strstr(version, "Intel(R) MPI") != NULL) {
      kind = kInts;
    }
  }
  free(version);
  atomic_store_explicit(&kind_of_handles, kind, memory_order_relaxed);
  return kind;
}

static enum Handles KindOfHandles(const void* caller) {
  const int known = atomic_load_explicit(&kind_of_handles, memory_order_relaxed);
  return known != kNotAsked ? (enum Handles)known : AskForHandles(caller);
}

/* The symbol of MPI_COMM_WORLD may be a copy of the program's, so Open MPI is asked. */
static Word HandleOfFortran(int number, const void* caller) {
  Word (*const convert)(int) = (Word(*)(int))Function(k_MPI_Comm_f2c, caller);
  return convert == NULL ? 0 : convert(number);
}

/* MPI_COMM_WORLD; 0: not known. */
static Word World(const void* caller) {
  enum { kOfMpich = 0x44000000 };
  switch (KindOfHandles(caller)) {
    case kPointers: /* MPI_COMM_WORLD is number 0 to Fortran */
      return HandleOfFortran(0, caller);
    case kInts:
      return kOfMpich;
    default:
      return 0;
  }
}

/* What was passed as `handle`. */
static Word Handle(Word handle, const void* caller) {
  return KindOfHandles(caller) == kInts ? (Word)(uint32_t)handle : handle;
}

/* "MPI_COMM_WORLD", or the ranks, as far as they fit. */
static void NameGroup(struct Group* group, const int* ranks, int count, int world_size) {
  if (count == world_size) {
    snprintf(group->name, sizeof(group->name), "collective:[MPI_COMM_WORLD]");
    return;
  }
  const size_t room = sizeof(group->name) - 5; /* for " ..]" */
  size_t used = (size_t)snprintf(group->name, sizeof(group->name), "collective:[MPI ranks");
  for (int i = 0; i < count; ++i) {
    char text[16];
    const size_t size = (size_t)snprintf(text, sizeof(text), " %d", ranks[i]);
    if (used + size >= room) {
      used += (size_t)snprintf(group->name + used, sizeof(group->name) - used, " ..");
      break;
    }
    memcpy(group->name + used, text, size);
    used += size;
  }
  snprintf(group->name + used, sizeof(group->name) - used, "]");
}

/* The group of `count` ranks; null: there are too many. */
static struct Group* GroupOfRanks(const int* ranks, int count, int world_size) {
  uint64_t key = HashOfJob();
  key = Hash(key, &world_size, sizeof(world_size));
  key = Hash(key, ranks, (size_t)count * sizeof(*ranks));
  for (size_t i = 0; i < group_count; ++i) {
    if (groups[i].key == key) return &groups[i];
  }
  if (group_count == kGroups) return NULL;
  struct Group* const group = &groups[group_count++];
  group->key = key;
  NameGroup(group, ranks, count, world_size);
  return group;
}

/* Asks MPI, which answers from what this rank knows. */
static __attribute__((cold, noinline)) struct Group* AskForGroup(Word communicator,
                                                                 const void* caller) {
  const Word world = World(caller);
  int count = 0;
  int world_size = 0;
  int is_between_two = 1;
  if (world == 0 || Call2(k_MPI_Comm_test_inter, caller, communicator, (Word)&is_between_two) ||
      is_between_two || Call2(k_MPI_Comm_size, caller, communicator, (Word)&count) ||
      Call2(k_MPI_Comm_size, caller, world, (Word)&world_size) || count < 1 || count > kMostRanks) {
    return NULL;
  }
  int* const ranks = calloc((size_t)count * 2, sizeof(*ranks));
  if (ranks == NULL) return NULL;
  for (int i = 0; i < count; ++i) ranks[count + i] = i;
  struct Group* group = NULL;
  Word own = 0;
  Word all = 0;
  if (Call2(k_MPI_Comm_group, caller, communicator, (Word)&own) == 0) {
    if (Call2(k_MPI_Comm_group, caller, world, (Word)&all) == 0) {
      if (Call5(k_MPI_Group_translate_ranks, caller, own, count, (Word)(ranks + count), all,
                (Word)ranks) == 0) {
        group = GroupOfRanks(ranks, count, world_size);
      }
      Call1(k_MPI_Group_free, caller, (Word)&all);
    }
    Call1(k_MPI_Group_free, caller, (Word)&own);
  }
  free(ranks);
  return group;
}

static struct Group* GroupOf(Word communicator, const void* caller) {
  pthread_mutex_lock(&communicator_mutex);
  struct Group* group = NULL;
  size_t i = 0;
  while (i < communicator_count && communicators[i].handle != communicator) ++i;
  if (i < communicator_count) {
    group = communicators[i].group;
  } else {
    group = AskForGroup(communicator, caller);
    if (communicator_count < kCommunicators) {
      communicators[communicator_count++] = (struct Communicator){communicator, group};
    }
  }
  pthread_mutex_unlock(&communicator_mutex);
  return group;
}

/* Another one may have that handle next. */
static void Forget(Word communicator) {
  pthread_mutex_lock(&communicator_mutex);
  for (size_t i = 0; i < communicator_count; ++i) {
    if (communicators[i].handle != communicator) continue;
    communicators[i] = communicators[--communicator_count];
    break;
  }
  pthread_mutex_unlock(&communicator_mutex);
}

/* --- Waits --- */

static uint32_t Label(atomic_uint* kept, const struct gpubound_api* api, const char* name) {
  uint32_t label = atomic_load_explicit(kept, memory_order_relaxed);
  if (label != 0) return label;
  label = api->label(GPUBOUND_LABEL_LAYER, GPUBOUND_LAYER_wait, "channel", name, strlen(name));
  atomic_store_explicit(kept, label, memory_order_relaxed);
  return label;
}

struct Wait {
  const struct gpubound_api* api; /* null: nothing is recorded of it */
  uint32_t label;
  uint64_t what; /* 0: nothing that others know, too */
};

static struct Wait Enter(int function, const Word* communicator, const void* caller) {
  struct Wait wait = {NULL, 0, 0};
  const int saved_errno = errno;
  struct Group* const group =
      communicator == NULL ? NULL : GroupOf(Handle(*communicator, caller), caller);
  if (group != NULL) {
    const uint64_t number = atomic_fetch_add_explicit(&group->next, 1, memory_order_relaxed);
    wait.what = GPUBOUND_SHARED | ((group->key + number) % GPUBOUND_SHARED);
  }
  if (ShimMayWait(caller)) {
    wait.api = gpubound_api_v1();
    if (wait.api != NULL) {
      wait.label = group != NULL ? Label(&group->label, wait.api, group->name)
                                 : Label(&labels[function], wait.api, NameOf(function));
      if (wait.what != 0) wait.api->wake(wait.what);
      __atomic_load_n(&wait.api->begin, __ATOMIC_RELAXED)(wait.label);
    }
  }
  errno = saved_errno;
  return wait;
}

static void Leave(const struct Wait* wait) {
  if (wait->api == NULL) return;
  const int saved_errno = errno;
  if (wait->what != 0) wait->api->woken(wait->what);
  __atomic_load_n(&wait->api->end, __ATOMIC_RELAXED)(wait->label);
  errno = saved_errno;
}

/* What a call was given, and zeros: a function finds its own parameters where they always are, and
 * does not look at what comes after them. */
enum { kMostParameters = 12, kNoCommunicator = -1 };
typedef int (*Any)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

static __attribute__((noinline)) int Waiting(int function, int communicator, const void* caller,
                                             const Word* a) {
  const Any next = (Any)Function(function, caller);
  if (next == NULL) return kErrOther;
  const struct Wait wait =
      Enter(function, communicator == kNoCommunicator ? NULL : &a[communicator], caller);
  const int result = next(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  Leave(&wait);
  return result;
}

#define P1 Word a0
#define P2 P1, Word a1
#define P3 P2, Word a2
#define P4 P3, Word a3
#define P5 P4, Word a4
#define P6 P5, Word a5
#define P7 P6, Word a6
#define P8 P7, Word a7
#define P9 P8, Word a8
#define P12 P9, Word a9, Word a10, Word a11
#define A1 a0
#define A2 A1, a1
#define A3 A2, a2
#define A4 A3, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A8 A7, a7
#define A9 A8, a8
#define A12 A9, a9, a10, a11

#define GPUBOUND_COLLECTIVE(name, count, communicator)                           \
  GPUBOUND_EXPORT int name(P##count);                                            \
  GPUBOUND_EXPORT int name(P##count) {                                           \
    const Word passed[kMostParameters] = {A##count};                             \
    return Waiting(k_##name, communicator, __builtin_return_address(0), passed); \
  }
#define GPUBOUND_OTHER_CALL(name, count) GPUBOUND_COLLECTIVE(name, count, kNoCommunicator)
GPUBOUND_COLLECTIVES(GPUBOUND_COLLECTIVE)
GPUBOUND_OTHER_CALLS(GPUBOUND_OTHER_CALL)

/* `communicator`: a pointer to the handle. */
static int Free(int function, const void* caller, Word communicator) {
  const size_t size = KindOfHandles(caller) == kInts ? sizeof(int) : sizeof(Word);
  Word handle = 0;
  memcpy(&handle, (const void*)communicator, size);
  Forget(handle);
  return Call1(function, caller, communicator);
}
#define GPUBOUND_FREEING(name)                                        \
  GPUBOUND_EXPORT int name(Word communicator);                        \
  GPUBOUND_EXPORT int name(Word communicator) {                       \
    return Free(k_##name, __builtin_return_address(0), communicator); \
  }
GPUBOUND_FREEING(MPI_Comm_free)
GPUBOUND_FREEING(MPI_Comm_disconnect)
