// SPDX-License-Identifier: Apache-2.0
//
// What wheels have of a newer C library (tools/packaging/old_glibc.c), under other names, against this system's own.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <set>
#include <thread>

extern "C" {
int OldFindObject(void* address, dl_find_object* result);
int OldClockWait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
uint32_t OldRandom(void);
// For the search of the system's function: as where there is none.
void* OldDlvsym(void*, const char*, const char*) noexcept { return nullptr; }
}

namespace gpubound {
namespace {

void ExpectSameObject(void* address) {
  dl_find_object ours = {};
  dl_find_object systems = {};
  ASSERT_EQ(OldFindObject(address, &ours), 0);
  ASSERT_EQ(_dl_find_object(address, &systems), 0);
  EXPECT_EQ(ours.dlfo_eh_frame, systems.dlfo_eh_frame);
  EXPECT_EQ(ours.dlfo_map_start, systems.dlfo_map_start);
  EXPECT_EQ(ours.dlfo_map_end, systems.dlfo_map_end);
}

TEST(OldGlibc, TheObjectOfAFunctionAndItsTableAreTheSystems) {
  ExpectSameObject(reinterpret_cast<void*>(&ExpectSameObject));
  ExpectSameObject(dlsym(RTLD_DEFAULT, "getpid"));
  ExpectSameObject(dlsym(RTLD_DEFAULT, "__cxa_throw"));
}

TEST(OldGlibc, AnAddressOfNoObjectIsNotFound) {
  int on_stack = 0;
  dl_find_object found = {};
  EXPECT_EQ(OldFindObject(&on_stack, &found), -1);
}

class OldWait : public testing::Test {
 protected:
  int WaitUntil(int64_t seconds_from_now, clockid_t clock, long nanoseconds = 0) {
    timespec until = {};
    clock_gettime(clock, &until);
    until.tv_sec += seconds_from_now;
    if (nanoseconds != 0) until.tv_nsec = nanoseconds;
    pthread_mutex_lock(&mutex_);
    const int waited = OldClockWait(&condition_, &mutex_, clock, &until);
    pthread_mutex_unlock(&mutex_);
    return waited;
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

TEST_F(OldWait, AMomentThatIsPastTimesOut) {
  EXPECT_EQ(WaitUntil(-1, CLOCK_MONOTONIC), ETIMEDOUT);
  EXPECT_EQ(WaitUntil(-1, CLOCK_REALTIME), ETIMEDOUT);
  EXPECT_EQ(WaitUntil(-1, CLOCK_MONOTONIC, 999'999'999), ETIMEDOUT);
}

TEST_F(OldWait, AMomentThatComesTimesOut) {
  EXPECT_EQ(WaitUntil(1, CLOCK_MONOTONIC, 1), ETIMEDOUT);
}

TEST_F(OldWait, MoreThanASecondOfNanosecondsIsInvalid) {
  EXPECT_EQ(WaitUntil(0, CLOCK_MONOTONIC, 1'000'000'000), EINVAL);
}

TEST_F(OldWait, AWaiterIsWokenBeforeItsTime) {
  pthread_mutex_lock(&mutex_);  // the other can signal once this one waits
  std::thread other([this] {
    pthread_mutex_lock(&mutex_);
    pthread_cond_signal(&condition_);
    pthread_mutex_unlock(&mutex_);
  });
  timespec until = {};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += 3600;
  EXPECT_EQ(OldClockWait(&condition_, &mutex_, CLOCK_MONOTONIC, &until), 0);
  pthread_mutex_unlock(&mutex_);
  other.join();
}

TEST(OldGlibc, RandomNumbersDiffer) {
  std::set<uint32_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(OldRandom());
  EXPECT_THAT(numbers.size(), testing::Gt(90u));
}

}  // namespace
}  // namespace gpubound
