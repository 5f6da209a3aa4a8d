// SPDX-License-Identifier: Apache-2.0
#include "base/human_number.h"

#include <gtest/gtest.h>

#include <limits>

namespace firn {
namespace {

TEST(HumanNumber, HasNoExponentAndThreeDigitsAtMost) {
  EXPECT_EQ(HumanNumber(1089.6), "1,090");
  EXPECT_EQ(HumanNumber(1.5e6), "1,500,000");
  EXPECT_EQ(HumanNumber(99.97), "100");
  EXPECT_EQ(HumanNumber(21.34), "21.3");
  EXPECT_EQ(HumanNumber(9.998), "10");
  EXPECT_EQ(HumanNumber(0.97), "0.97");
  EXPECT_EQ(HumanNumber(0.5), "0.5");
  EXPECT_EQ(HumanNumber(1), "1");
  EXPECT_EQ(HumanNumber(-3.25), "-3.25");
  EXPECT_EQ(HumanNumber(0), "0");
}

TEST(HumanNumber, Small_KeepsOneDigit) {
  EXPECT_EQ(HumanNumber(0.0123), "0.01");
  EXPECT_EQ(HumanNumber(0.0042), "0.004");
  EXPECT_EQ(HumanNumber(7.02e-06), "0.000007");
  EXPECT_EQ(HumanNumber(2e-9), "0");
}

TEST(HumanNumber, NoNumber_IsNoCrash) {
  EXPECT_EQ(HumanNumber(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(HumanNumber(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(HumanNumber(1e300), "1,000,000,000,000,000,000");
}

}  // namespace
}  // namespace firn
