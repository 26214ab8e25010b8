/* SPDX-License-Identifier: Apache-2.0
 *
 * What an annotated program leaves in the directory of a run that it is part of and cannot be
 * recorded in: nothing was preloaded into it, since it is linked statically, or LD_PRELOAD was set
 * anew on the way. Nobody else is in the process to say so. Not for inclusion by users. C11, C++17.
 *
 * Any thread; no lock. Where there is no run directory yet, or $GPUBOUND_DISABLE is set, nothing is
 * left.
 */
#ifndef GPUBOUND_DETAIL_UNRECORDED_H_
#define GPUBOUND_DETAIL_UNRECORDED_H_

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "function_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weak: a static program need not have it. */
static __typeof__(pthread_setcancelstate) gpubound_setcancelstate_
    __attribute__((weakref("pthread_setcancelstate"), unused));

enum { GPUBOUND_RUN_MODE_ = 00700, GPUBOUND_UNRECORDED_MODE_ = 01700, GPUBOUND_FILE_MODE_ = 00600 };

/* HOST.PID.0.unrecorded: when the process began is not known here. As libprofiler/unrecorded.cc. */
GPUBOUND_SLOW_PATH_ void gpubound_write_unrecorded_(const char* why) GPUBOUND_NOEXCEPT_ {
  char path[1024];
  struct utsname system;
  struct stat folder;
  const char* run = getenv("GPUBOUND_RUN");
  const char* disable = getenv("GPUBOUND_DISABLE");
  int flags = O_WRONLY | O_CREAT | O_EXCL;
  int length = 0;
  int file = -1;
  /* A program with another user's rights writes nothing where its caller says. */
  if (run == GPUBOUND_NULL_ || *run == '\0' || getauxval(AT_SECURE) != 0) return;
  if (disable != GPUBOUND_NULL_ && *disable != '\0' && strcmp(disable, "0") != 0) return;
  if (stat(run, &folder) != 0) return;
  if (uname(&system) != 0 || system.nodename[0] == '\0') strcpy(system.nodename, "localhost");
  for (char* c = system.nodename; *c != '\0'; ++c) {
    const int is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
    if (!is_letter && !(*c >= '0' && *c <= '9') && strchr("-_.", *c) == GPUBOUND_NULL_) *c = '_';
  }
  length = snprintf(path, sizeof(path), "%s/%s.%ld.0.unrecorded", run, system.nodename,
                    GPUBOUND_NARROW_(long, getpid()));
  if (length <= 0 || length >= GPUBOUND_NARROW_(int, sizeof(path))) return;
#ifdef O_CLOEXEC
  flags |= O_CLOEXEC;
#endif
  file = open(path, flags, GPUBOUND_FILE_MODE_);
  if (file >= 0) {
    (void)!write(file, why, strlen(why));
    close(file);
  } else if (errno != EEXIST && (folder.st_mode & 07777) == GPUBOUND_RUN_MODE_) {
    (void)!chmod(run, GPUBOUND_UNRECORDED_MODE_);
  }
}

/* A thread that is to be cancelled ends where it would without us. */
GPUBOUND_SLOW_PATH_ void gpubound_leave_unrecorded_(const char* why) GPUBOUND_NOEXCEPT_ {
  int state = PTHREAD_CANCEL_ENABLE;
  if (gpubound_setcancelstate_) gpubound_setcancelstate_(PTHREAD_CANCEL_DISABLE, &state);
  gpubound_write_unrecorded_(why);
  if (gpubound_setcancelstate_) gpubound_setcancelstate_(state, GPUBOUND_NULL_);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GPUBOUND_DETAIL_UNRECORDED_H_ */
