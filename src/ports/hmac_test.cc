// SPDX-License-Identifier: Apache-2.0
#include "ports/hmac.h"

#include <gtest/gtest.h>

#include "ports/rest_authorization.h"

namespace firn::ports {
namespace {

TEST(HmacSha256Test, ExampleOfRfc4231) {
  const auto digest = HmacSha256("Jefe", "what do ya want for nothing?");
  ASSERT_TRUE(digest);
  EXPECT_EQ(Base64(*digest), "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=") << "5bdcc146...64ec3843";
  EXPECT_NE(HmacSha256(std::string_view("k\0a", 3), "t").value(), HmacSha256("k", "t").value());
}

}  // namespace
}  // namespace firn::ports
