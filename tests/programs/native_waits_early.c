/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that a program is linked to. Its constructor runs before those of what is preloaded, and
 * calls functions that may block: native_waits.cc says what came of it.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

/* As fortified programs call them. */
extern ssize_t __read_chk(int file, void* bytes, size_t size, size_t room);
extern int __poll_chk(struct pollfd* files, nfds_t count, int milliseconds, size_t bytes);

int native_waits_before_main = 0;

__attribute__((constructor)) static void CallEarly(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const struct timespec past = {0, 0};
  sem_t semaphore;
  int ends[2];
  char byte = 0;
  struct pollfd file = {0, POLLIN, 0};
  if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return;
  file.fd = ends[0];
  sem_init(&semaphore, 0, 1);
  native_waits_before_main =
      __poll_chk(&file, 1, 0, sizeof(file)) == 1 &&
      __read_chk(ends[0], &byte, 1, sizeof(byte)) == 1 && pthread_mutex_lock(&mutex) == 0 &&
      pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past) != 0 &&
      pthread_mutex_unlock(&mutex) == 0 && sem_wait(&semaphore) == 0;
  close(ends[0]);
  close(ends[1]);
}
