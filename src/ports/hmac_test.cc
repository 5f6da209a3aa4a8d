// SPDX-License-Identifier: Apache-2.0
#include "ports/hmac.h"

#include <gtest/gtest.h>

#include "base/byte_text.h"

namespace firn::ports {
namespace {

TEST(HmacSha256Test, ExampleOfRfc4231) {
  const auto digest = HmacSha256("Jefe", "what do ya want for nothing?");
  ASSERT_TRUE(digest);
  EXPECT_EQ(HexText(AsBytes(*digest)), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_NE(HmacSha256(std::string_view("k\0a", 3), "t").value(), HmacSha256("k", "t").value());
}

}  // namespace
}  // namespace firn::ports
