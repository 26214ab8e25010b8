// SPDX-License-Identifier: Apache-2.0
//
// Processes on a device, from listing to listing.
#include "cupti_hooks/sampling/device_clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cupti_hooks/recording_host.h"

namespace gpubound {
namespace {

using ::testing::SizeIs;

constexpr char kFirst[] = "GPU-1";
constexpr char kSecond[] = "GPU-2";

class DeviceClientsTest : public ::testing::Test {
 protected:
  RecordingHost host_;
  DeviceClients clients_{"/nowhere", &host_};
};

TEST_F(DeviceClientsTest, AProcessIsToldWhenItComesAndWhenItHasGone) {
  clients_.Update(kFirst, {{7, false}}, 100);
  clients_.Update(kFirst, {{7, false}}, 200);
  ASSERT_THAT(host_.clients, SizeIs(1));
  EXPECT_EQ(host_.clients[0].client.first_ns, 100);
  EXPECT_EQ(host_.clients[0].client.last_ns, INT64_MAX);
  clients_.Update(kFirst, {}, 300);
  ASSERT_THAT(host_.clients, SizeIs(2));
  EXPECT_EQ(host_.clients[1].client.pid, 7u);
  EXPECT_EQ(host_.clients[1].client.first_ns, 100);
  EXPECT_EQ(host_.clients[1].client.last_ns, 200);
}

TEST_F(DeviceClientsTest, OneThatComesBackIsAnother) {
  clients_.Update(kFirst, {{7, false}}, 100);
  clients_.Update(kFirst, {}, 200);
  clients_.Update(kFirst, {{7, false}}, 300);
  ASSERT_THAT(host_.clients, SizeIs(3));
  EXPECT_EQ(host_.clients[2].client.first_ns, 300);
}

TEST_F(DeviceClientsTest, DevicesHaveTheirOwn) {
  clients_.Update(kFirst, {{7, false}}, 100);
  clients_.Update(kSecond, {{7, false}}, 101);
  clients_.Update(kSecond, {}, 201);
  ASSERT_THAT(host_.clients, SizeIs(3));
  EXPECT_EQ(host_.clients[2].uuid, kSecond);
}

TEST_F(DeviceClientsTest, AClientOfMpsThatIsListedBothWaysIsOne) {
  clients_.Update(kFirst, {{7, false}, {7, true}}, 100);
  clients_.Update(kFirst, {{7, false}, {7, true}}, 200);
  ASSERT_THAT(host_.clients, SizeIs(2));
  EXPECT_TRUE(host_.clients[1].client.through_mps);
  EXPECT_EQ(host_.clients[1].client.first_ns, 100);
}

}  // namespace
}  // namespace gpubound
