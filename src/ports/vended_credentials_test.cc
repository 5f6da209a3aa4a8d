// SPDX-License-Identifier: Apache-2.0
#include "ports/vended_credentials.h"

#include <gtest/gtest.h>

namespace firn::ports {
namespace {

TEST(VendedCredentialsTest, End_IsThatOfTheFirst) {
  EXPECT_EQ(VendedCredentialsEnd({})->value, 0);
  EXPECT_EQ(VendedCredentialsEnd({{"s3.session-token", "t"}})->value, 0);
  EXPECT_EQ(VendedCredentialsEnd({{"s3.session-token-expires-at-ms", "9"}})->value, 9);
  EXPECT_EQ(VendedCredentialsEnd({{"gcs.oauth2.token-expires-at", "9"}})->value, 9);
  EXPECT_EQ(VendedCredentialsEnd({{"adls.sas-token-expires-at-ms.a.dfs.core.windows.net", "7"},
                                  {"adls.sas-token-expires-at-ms.b.dfs.core.windows.net", "5"},
                                  {"s3.session-token-expires-at-ms", "9"}})
                ->value,
            5);
}

TEST(VendedCredentialsTest, End_NoNumber_IsRefused) {
  const auto end = VendedCredentialsEnd({{"gcs.oauth2.token-expires-at", "soon"}});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Code::kInvalidArgument);
}

TEST(VendedCredentialsTest, Tokens_AreKnown) {
  for (const char* key : {"s3.session-token", "gcs.oauth2.token", "adls.sas-token", "adls.sas-token.lake"}) {
    EXPECT_TRUE(HasVendedToken({{key, "t"}})) << key;
  }
  EXPECT_FALSE(HasVendedToken({{"s3.access-key-id", "k"}, {"adls.account-key", "k"}}));
}

TEST(VendedCredentialsTest, Erase_LeavesOtherProperties) {
  Properties config = {{"s3.session-token", "t"},  {"s3.session-token-expires-at-ms", "1"},
                       {"gcs.oauth2.token", "t"},  {"gcs.oauth2.token-expires-at", "1"},
                       {"adls.sas-token.a", "t"},  {"adls.sas-token-expires-at-ms.a", "1"},
                       {"adls.account-name", "a"}, {"gcs.project-id", "p"},
                       {"s3.access-key-id", "k"}};
  EraseVendedTokens(config);
  EXPECT_EQ(config, (Properties{{"adls.account-name", "a"}, {"gcs.project-id", "p"}, {"s3.access-key-id", "k"}}));
}

}  // namespace
}  // namespace firn::ports
