#include "base/serial.h"

#include <gtest/gtest.h>

namespace tombolo {
namespace {

TEST(Serial, OrdersAcrossTheWrap) {
  EXPECT_TRUE(serial_before(1, 2));
  EXPECT_FALSE(serial_before(2, 1));
  EXPECT_FALSE(serial_before(7, 7));
  EXPECT_TRUE(serial_before(0xfffffffeu, 1));
  EXPECT_FALSE(serial_before(1, 0xfffffffeu));
}

TEST(Serial, DistanceIsSigned) {
  EXPECT_EQ(serial_distance(5, 9), 4);
  EXPECT_EQ(serial_distance(9, 5), -4);
  EXPECT_EQ(serial_distance(0xffffffffu, 1), 2);
}

}  // namespace
}  // namespace tombolo
