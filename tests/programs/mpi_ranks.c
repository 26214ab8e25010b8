/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks of MPI that wait for each other, each with clocks of its own around every call in which it waits:
 * mpi_ranks ITERATIONS. In each iteration rank 2 is the last to come to a collective of all, 35 to 40 ms after the
 * others; of ranks 1 and 3, which have a communicator of their own, rank 1 comes 10 ms late to a barrier; and rank 3
 * waits 5 ms for a message of rank 0. A line of JSON from each rank. Work is sleep, so that it takes no longer where
 * cores are few. */
#include <gpubound/annotate.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void Work(int milliseconds) {
  const struct timespec length = {0, milliseconds * 1000000L};
  nanosleep(&length, NULL);
}

/* Calls with up to twelve parameters bring what they should. */
static int GivesWhatItShould(int rank, int size) {
  int given[8];
  int got[8] = {0};
  int counts[8];
  int places[8];
  for (int i = 0; i < 8; ++i) {
    given[i] = 10 * rank + i;
    counts[i] = 1;
    places[i] = i;
  }
  MPI_Alltoallv(given, counts, places, MPI_INT, got, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) {
    if (got[i] != 10 * i + rank) return 0;
  }
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  MPI_Status status;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, got, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &status);
  if (got[0] != before || status.MPI_SOURCE != before || status.MPI_TAG != 5) return 0;
  MPI_Gatherv(&rank, 1, MPI_INT, got, counts, places, MPI_INT, size - 1, MPI_COMM_WORLD);
  for (int i = 0; rank == size - 1 && i < size; ++i) {
    if (got[i] != i) return 0;
  }
  MPI_Request requests[2];
  MPI_Irecv(&got[0], 1, MPI_INT, before, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Status both[2];
  return MPI_Waitall(2, requests, both) == MPI_SUCCESS && got[0] == before &&
         both[0].MPI_SOURCE == before;
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 20;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int size_of_all = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size_of_all);
  if (size_of_all > 8 || !GivesWhatItShould(rank, size_of_all)) MPI_Abort(MPI_COMM_WORLD, 4);
  /* Before anything is recorded, and of communicators that come and go: all ranks count these alike. */
  MPI_Comm pair;
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &pair);
    MPI_Barrier(pair);
    if (i < 2) MPI_Comm_free(&pair);
  }
  long long all_ns = 0;
  long long pair_ns = 0;
  long long message_ns = 0;
  long long begin = 0;
  int sum = 0;
  for (int i = 0; i < iterations; ++i) {
    {
      GPUBOUND_OPERATION("work");
      Work(rank == 2 ? 52 : 2);
    }
    {
      GPUBOUND_OPERATION("average");
      begin = Now();
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      all_ns += Now() - begin;
    }
    {
      GPUBOUND_OPERATION("exchange");
      if (rank == 1) Work(10);
      begin = Now();
      if (rank % 2 == 1) MPI_Barrier(pair);
      pair_ns += Now() - begin;
    }
    {
      GPUBOUND_OPERATION("message");
      begin = Now();
      if (rank == 3) MPI_Recv(&sum, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      message_ns += Now() - begin;
      if (rank == 0) {
        Work(15);
        MPI_Send(&sum, 1, MPI_INT, 3, 7, MPI_COMM_WORLD);
      }
    }
    GPUBOUND_STEP(i);
  }
  char line[200];
  const int size = snprintf(
      line, sizeof(line),
      "{\"rank\": %d, \"pid\": %d, \"average\": %lld, \"exchange\": %lld, \"message\": %lld}\n",
      rank, (int)getpid(), all_ns, pair_ns, message_ns);
  if (write(STDOUT_FILENO, line, (size_t)size) != size) return 1;
  MPI_Comm_free(&pair);
  MPI_Finalize();
  return 0;
}
