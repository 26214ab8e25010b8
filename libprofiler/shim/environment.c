/* SPDX-License-Identifier: Apache-2.0
 *
 * The variables that make a run out of a process tree: GPUBOUND_RUN, so that children write beside
 * their parent, and CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH, through which the CUDA driver
 * and NVTX load the core. What somebody else has set is left alone, but for a relative folder of
 * the run, which becomes absolute, and what is set to nothing counts as not set. In a Python
 * process PYTHONPATH begins with the start-up hook's folder, until that hook has run and taken it
 * out again.
 *
 * Thread rule: called from the constructor while the process has one thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libprofiler/shim/shim.h"

enum { kMaxNameBytes = 64, kRunSuffixBytes = 96, kMaxVariableBytes = 16 * 1024 };

extern char** environ;

char shim_core_path[PATH_MAX];
static char kept_variables[kMaxVariableBytes];

typedef int (*SetEnvFunction)(const char*, const char*, int);

/* libc's setenv, not the program's: bash, for one, exports its own, which expects to run in main.
 */
static void SetVariable(const char* name, const char* value) {
  void* symbol = dlsym(RTLD_NEXT, "setenv");
  SetEnvFunction set = NULL;
  if (symbol == NULL) return;
  memcpy(&set, &symbol, sizeof(set));
  set(name, value, 1);
}

static bool IsSet(const char* variable) {
  const char* value = getenv(variable); /* NOLINT(concurrency-mt-unsafe): one thread */
  return value != NULL && *value != '\0';
}

bool ShimAreOfOneLibrary(const void* one, const void* other) {
  Dl_info of_one;
  Dl_info of_other;
  return dladdr(one, &of_one) != 0 && dladdr(other, &of_other) != 0 &&
         of_one.dli_fbase == of_other.dli_fbase;
}

void ShimFindCore(void) {
  Dl_info self;
  if (dladdr((const void*)&shim_info, &self) == 0 || self.dli_fname == NULL) return;
  /* The name may be relative to a directory that the program leaves. */
  char* slash =
      realpath(self.dli_fname, shim_core_path) == NULL ? NULL : strrchr(shim_core_path, '/');
  const size_t folder = slash == NULL ? 0 : (size_t)(slash + 1 - shim_core_path);
  if (folder != 0 && folder + sizeof(GPUBOUND_CORE_FILE) <= sizeof(shim_core_path)) {
    memcpy(slash + 1, GPUBOUND_CORE_FILE, sizeof(GPUBOUND_CORE_FILE));
  } else {
    shim_core_path[0] = '\0';
  }
}

/* What there is no room for is looked up when it is needed. */
void ShimKeepVariables(void) {
  static const char kPrefix[] = "GPUBOUND_";
  size_t used = 0;
  for (char** next = environ; next != NULL && *next != NULL; ++next) {
    if (strncmp(*next, kPrefix, sizeof(kPrefix) - 1) != 0) continue;
    const size_t length = strlen(*next) + 1;
    if (used + length >= sizeof(kept_variables)) continue;
    memcpy(kept_variables + used, *next, length);
    used += length;
  }
  kept_variables[used] = '\0';
  shim_info.variables = kept_variables;
}

/* Calendar date of a day count since 1970-01-01, proleptic Gregorian, for days >= 0. The libc
 * functions for this read the time zone file once and for all, which a program that sets TZ later
 * would notice. */
static void CivilDate(int64_t days, int* year, int* month, int* day) {
  const int64_t shifted = days + 719468; /* since 0000-03-01: leap days end a year */
  const int64_t era = shifted / 146097;
  const int64_t day_of_era = shifted % 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  *day = (int)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  *month = (int)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  *year = (int)(era * 400 + year_of_era + (*month <= 2 ? 1 : 0));
}

/* The program's name with whatever a shell or a file name could stumble over replaced. */
static void CopySafeName(char* out, const char* name) {
  size_t length = 0;
  for (; *name != '\0' && length < kMaxNameBytes; ++name) {
    const char c = *name;
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool inner = length > 0 && (c == '.' || c == '-');
    out[length++] = (char)(plain || inner ? c : '_');
  }
  if (length == 0) out[length++] = '_';
  out[length] = '\0';
}

/* Puts "FOLDER/" into |path|, FOLDER being where the program begins, and returns its length; 0
 * where that cannot be told or leaves no |spare| bytes. */
static size_t PutBeginning(char* path, size_t capacity, size_t spare) {
  if (getcwd(path, capacity - spare - 1) == NULL || path[0] != '/') return 0;
  size_t used = strlen(path);
  if (used > 1) path[used++] = '/';
  return used;
}

/* Only names the directory; the core makes it when the first thing is recorded. */
static void SetRunDirectory(void) {
  char run[PATH_MAX];
  char name[kMaxNameBytes + 1];
  int year = 0;
  int month = 0;
  int day = 0;
  const size_t used = PutBeginning(run, sizeof(run), kMaxNameBytes + kRunSuffixBytes);
  if (used == 0) return;
  CopySafeName(name, program_invocation_short_name);
  const int64_t seconds = shim_info.realtime_ns / 1000000000;
  const int of_day = (int)(seconds % 86400);
  CivilDate(seconds / 86400, &year, &month, &day);
  snprintf(run + used, sizeof(run) - used, "%s-%04d%02d%02d-%02d%02d%02d-%llu.gpubound", name, year,
           month, day, of_day / 3600, of_day / 60 % 60, of_day % 60,
           (unsigned long long)shim_info.pid);
  SetVariable("GPUBOUND_RUN", run);
}

/* A relative one means the folder in which the program begins, not one that it or a child of it
 * goes to. */
static void MakeRunDirectoryAbsolute(void) {
  const char* given = getenv("GPUBOUND_RUN"); /* NOLINT(concurrency-mt-unsafe): one thread */
  char run[PATH_MAX];
  if (given == NULL || given[0] == '/' || strlen(given) >= sizeof(run) - 2) return;
  const size_t used = PutBeginning(run, sizeof(run), strlen(given));
  if (used == 0) return;
  memcpy(run + used, given, strlen(given) + 1);
  SetVariable("GPUBOUND_RUN", run);
}

/* Whether this is a Python interpreter, linked to its library or not. */
static bool IsPython(void) {
  if (dlsym(RTLD_DEFAULT, "Py_BytesMain") != NULL) return true;
  dlerror(); /* releases what the failed search left behind; */
  dlerror(); /* a leak checker would hold it against the program */
  return false;
}

/* Whether an option of Python's makes it look at no PYTHONPATH (-E, -I) or run no hook (-S): nobody
 * would take ours out again. Options end at the program (-c, -m) or the first word that is none. */
static bool RunsNoHook(char* const* arguments) {
  if (arguments == NULL) return false;
  for (char* const* next = arguments; *next != NULL && *++next != NULL;) {
    const char* word = *next;
    if (word[0] != '-' || word[1] == '\0' || strcmp(word, "--") == 0) return false;
    if (word[1] == '-') {
      if (strcmp(word, "--check-hash-based-pycs") == 0 && next[1] != NULL) ++next;
      continue;
    }
    for (const char* letter = word + 1; *letter != '\0'; ++letter) {
      if (strchr("EIS", *letter) != NULL) return true;
      if (strchr("cm", *letter) != NULL) return false;
      if (strchr("WX", *letter) == NULL) continue;
      if (letter[1] == '\0' && next[1] != NULL) ++next; /* its value is the next word */
      break;
    }
  }
  return false;
}

/* The program's own PYTHONPATH stays behind ours: its hook hands it back (startup/sitecustomize.py
 * in annotate/python). Where it is empty, ours stands twice: nothing behind a colon would be the
 * current directory, which Python does not search for an empty one. */
static void SetPythonPath(char* const* arguments) {
  const char* folder = getenv("GPUBOUND_PYTHON"); /* NOLINT(concurrency-mt-unsafe): one thread */
  const char* old = getenv("PYTHONPATH");         /* NOLINT(concurrency-mt-unsafe): one thread */
  if (folder == NULL || (folder[0] == '/' && (!IsPython() || RunsNoHook(arguments)))) {
    shim_info.flags |= GPUBOUND_SHIM_NO_PYTHON_HOOK;
    return;
  }
  if (folder[0] != '/') return;
  const size_t length = strlen(folder);
  if (old != NULL && strncmp(old, folder, length) == 0 &&
      (old[length] == '\0' || old[length] == ':')) {
    return;
  }
  if (old != NULL && *old == '\0') old = folder;
  const size_t capacity = length + (old == NULL ? 0 : strlen(old)) + 2;
  char* path = malloc(capacity);
  if (path == NULL) return;
  snprintf(path, capacity, "%s%s%s", folder, old == NULL ? "" : ":", old == NULL ? "" : old);
  SetVariable("PYTHONPATH", path);
  free(path);
}

static bool IsForeign(const char* variable) {
  const char* value = getenv(variable); /* NOLINT(concurrency-mt-unsafe): one thread */
  if (value == NULL) return false;
  const char* slash = strrchr(value, '/');
  return strcmp(slash == NULL ? value : slash + 1, GPUBOUND_CORE_FILE) != 0;
}

void ShimSetEnvironment(char* const* arguments) {
  if (IsSet("GPUBOUND_RUN")) {
    MakeRunDirectoryAbsolute();
  } else {
    SetRunDirectory();
  }
  SetPythonPath(arguments);
  ShimKeepVariables();
  const bool cuda_set = IsSet("CUDA_INJECTION64_PATH");
  const bool nvtx_set = IsSet("NVTX_INJECTION64_PATH");
  if (cuda_set && IsForeign("CUDA_INJECTION64_PATH")) {
    shim_info.flags |= GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION;
  }
  if (nvtx_set && IsForeign("NVTX_INJECTION64_PATH")) {
    shim_info.flags |= GPUBOUND_SHIM_FOREIGN_NVTX_INJECTION;
  }
  if (cuda_set && nvtx_set) return;
  /* NVTX turns itself off where the variable names a file that is not there. */
  if (shim_core_path[0] == '\0' || access(shim_core_path, R_OK) != 0) return;
  if (!cuda_set) SetVariable("CUDA_INJECTION64_PATH", shim_core_path);
  if (!nvtx_set) SetVariable("NVTX_INJECTION64_PATH", shim_core_path);
}
