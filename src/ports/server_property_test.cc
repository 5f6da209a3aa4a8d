// SPDX-License-Identifier: Apache-2.0
#include "ports/server_property.h"

#include <gtest/gtest.h>

namespace firn::ports {
namespace {

TEST(ServerPropertyTest, SchemeAndHost_HttpsWhereNoneIsNamed) {
  const auto server = [](const std::string& text) {
    const auto found = ServerProperty({{"b.host", text}}, {"a.host", "b.host"});
    return found && *found ? (*found)->scheme + "|" + (*found)->host : "";
  };
  EXPECT_EQ(server("http://127.0.0.1:9000/"), "http|127.0.0.1:9000");
  EXPECT_EQ(server("https://h/path/"), "https|h/path");
  EXPECT_EQ(server("h:443"), "https|h:443");
  EXPECT_EQ(server(""), "");
}

TEST(ServerPropertyTest, AnotherScheme_IsRefusedByItsKey) {
  const auto found = ServerProperty({{"a.host", "ftp://h"}}, {"a.host"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kInvalidArgument);
  EXPECT_NE(found.error().message.find("`a.host`"), std::string::npos);
}

}  // namespace
}  // namespace firn::ports
