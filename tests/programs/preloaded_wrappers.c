/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrappers to preload, as tracers of I/O and of threads are: each calls the function that comes
 * next. What the program sees of errno stays.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_ulong calls;

#define NEXT(name)                          \
  static __typeof__(&(name)) next = NULL;   \
  const int saved_errno = errno;            \
  if (next == NULL) {                       \
    void* symbol = dlsym(RTLD_NEXT, #name); \
    memcpy(&next, &symbol, sizeof(next));   \
  }                                         \
  errno = saved_errno;                      \
  atomic_fetch_add(&calls, 1)

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  NEXT(open);
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return next(path, flags, mode);
}

int close(int file) {
  NEXT(close);
  return next(file);
}

ssize_t read(int file, void* bytes, size_t size) {
  NEXT(read);
  return next(file, bytes, size);
}

ssize_t write(int file, const void* bytes, size_t size) {
  NEXT(write);
  return next(file, bytes, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  NEXT(pthread_create);
  return next(thread, attributes, start, argument);
}

int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  NEXT(sigaction);
  return next(number, action, before);
}

pid_t fork(void) {
  NEXT(fork);
  return next();
}

void _exit(int status) {
  NEXT(_exit);
  next(status);
  __builtin_unreachable();
}
