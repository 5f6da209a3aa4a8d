// SPDX-License-Identifier: Apache-2.0
#include "ports/properties.h"

#include <gtest/gtest.h>

namespace firn::ports {
namespace {

TEST(BoolProperty_Texts, AreReadOrRefusedByName) {
  const Properties properties = {{"a", "TRUE"}, {"b", "no"}, {"c", "1"}, {"d", "maybe"}, {"e", ""}};
  EXPECT_TRUE(*BoolProperty(properties, "a", false));
  EXPECT_FALSE(*BoolProperty(properties, "b", true));
  EXPECT_TRUE(*BoolProperty(properties, "c", false));
  EXPECT_TRUE(*BoolProperty(properties, "none", true));
  for (const char* key : {"d", "e"}) {
    const auto value = BoolProperty(properties, key, true);
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().code, Code::kInvalidArgument);
    EXPECT_NE(value.error().message.find(key), std::string::npos);
    EXPECT_EQ(value.error().message.find("maybe"), std::string::npos) << "values may be secrets";
  }
}

TEST(IntProperty_Texts, AreReadInTheirRange) {
  const Properties properties = {{"a", "42"}, {"b", "-1"}, {"c", "9223372036854775808"}, {"d", "1x"}, {"e", ""}};
  EXPECT_EQ(*IntProperty(properties, "a", 0, 0, 42), 42);
  EXPECT_EQ(*IntProperty(properties, "none", 7, 0, 10), 7);
  for (const char* key : {"b", "c", "d", "e"}) EXPECT_FALSE(IntProperty(properties, key, 0, 0, 100)) << key;
}

TEST(FindFirstProperty_EmptyValue_IsPassedOver, Case) {
  const Properties properties = {{"a", ""}, {"b", "x"}};
  EXPECT_EQ(*FindFirstProperty(properties, {"none", "a", "b"}), "x");
  EXPECT_EQ(FindFirstProperty(properties, {"a"}), nullptr);
}

TEST(IsSecret_Keys, Case) {
  for (const char* key :
       {"token", "credential", "s3.secret-access-key", "s3.access-key-id", "s3.session-token", "header.Authorization",
        "auth.basic.password", "adls.account-key", "header.X-Api-Key", "adls.auth.shared-key.account.key",
        "adls.connection-string", "adls.sas-token.lake", "gcs.oauth2.token", "rest.private-key"}) {
    EXPECT_TRUE(IsSecret(key)) << key;
  }
  for (const char* key : {"uri", "warehouse", "s3.endpoint", "s3.region"}) EXPECT_FALSE(IsSecret(key)) << key;
}

TEST(WithoutCredentials_Uris, HideTheUserPartAndSecretParameters) {
  const std::pair<std::string, std::string> cases[] = {
      {"postgresql://user:pw@host/db", "postgresql://***@host/db"},
      {"http://user:p@ss@host:80", "http://***@host:80"},
      {"http://host/path@2", "http://host/path@2"},
      {"http://host?x=a@b", "http://host?x=a@b"},
      {"sqlite:///a@b.db", "sqlite:///a@b.db"},
      {"no uri @ all", "no uri @ all"},
      {"postgresql+psycopg2://user:p/w@host/db", "postgresql+psycopg2://***@host/db"},
      {"jdbc:postgresql://h/d?user=u&password=pw&ssl=true", "jdbc:postgresql://h/d?user=u&password=***&ssl=true"},
      {"postgresql://h/d?sslpassword=pw", "postgresql://h/d?sslpassword=***"},
      {"http://host/a?x&token=&y=1", "http://host/a?x&token=***&y=1"},
  };
  for (const auto& [uri, expected] : cases) EXPECT_EQ(WithoutCredentials(uri), expected);
}

}  // namespace
}  // namespace firn::ports
