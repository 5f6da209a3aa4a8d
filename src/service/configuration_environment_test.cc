// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "service/configuration.h"

namespace firn::service {
namespace {

using ports::Properties;

TEST(StorageVariablesTest, Azure_AsItsClientsNameThem) {
  EXPECT_EQ(StorageVariables({{"AZURE_STORAGE_ACCOUNT", "a"}, {"AZURE_STORAGE_KEY", "k"}}),
            (Properties{{"adls.account-name", "a"}, {"adls.account-key", "k"}}));
  EXPECT_EQ(StorageVariables({{"AZURE_STORAGE_ACCOUNT", "a"},
                              {"AZURE_STORAGE_ACCOUNT_NAME", "b"},
                              {"AZURE_STORAGE_ACCOUNT_KEY", "k"},
                              {"AZURE_STORAGE_SAS_TOKEN", "s"},
                              {"AZURE_STORAGE_CONNECTION_STRING", "c"}}),
            (Properties{{"adls.account-name", "b"},
                        {"adls.account-key", "k"},
                        {"adls.sas-token", "s"},
                        {"adls.connection-string", "c"}}));
}

TEST(StorageVariablesTest, EmulatorHost_IsGcsWithoutCredentials) {
  EXPECT_EQ(StorageVariables({{"STORAGE_EMULATOR_HOST", "localhost:9023"}}),
            (Properties{{"gcs.service.host", "http://localhost:9023"}, {"gcs.no-auth", "true"}}));
  EXPECT_EQ(StorageVariables({{"STORAGE_EMULATOR_HOST", "https://h"}}).at("gcs.service.host"), "https://h");
}

TEST(OverVariablesTest, Credentials_AreNeverMixed) {
  const Properties variables = {{"adls.account-name", "env"}, {"adls.account-key", "env-key"}};
  for (const char* key : {"adls.sas-token.other", "adls.connection-string", "adls.account-key", "adls.sas-token",
                          "adls.client-id", "adls.anon", "adls.auth.shared-key.account.key"}) {
    EXPECT_EQ(OverVariables(variables, {{key, "own"}}), (Properties{{key, "own"}})) << key;
  }
  EXPECT_EQ(OverVariables(variables, {{"adls.blob-storage-scheme", "http"}}),
            (Properties{
                {"adls.account-name", "env"}, {"adls.account-key", "env-key"}, {"adls.blob-storage-scheme", "http"}}));
}

TEST(OverVariablesTest, KeysOfAnotherAccount_AreLeftOut) {
  const std::vector<Properties> configured = {{{"adls.account-name", "prod"}},
                                              {{"adls.auth.shared-key.account.name", "prod"}},
                                              {{"adls.account-host", "prod.blob.core.windows.net"}}};
  const std::vector<Properties> others = {
      {{"adls.account-name", "dev"}, {"adls.account-key", "k"}},
      {{"adls.account-name", "dev"}, {"adls.sas-token", "s"}},
      {{"adls.connection-string", "AccountName=dev;AccountKey=k"}},
      {{"adls.connection-string", "BlobEndpoint=https://dev.blob.core.windows.net;SharedAccessSignature=s"}}};
  for (const Properties& properties : configured) {
    for (const Properties& variables : others) EXPECT_EQ(OverVariables(variables, properties), properties);
    // Those of the same account, and a key that says of none, are for it.
    EXPECT_EQ(OverVariables({{"adls.connection-string", "AccountName=prod;AccountKey=k"}}, properties).size(), 2U);
    EXPECT_EQ(OverVariables({{"adls.account-key", "k"}}, properties).at("adls.account-key"), "k");
  }
  EXPECT_EQ(OverVariables({{"adls.account-name", "prod"}, {"adls.account-key", "k"}}, configured[0]).size(), 2U);
}

TEST(OverVariablesTest, OwnServerOfGcs_TakesNothingOfTheEmulator) {
  const Properties variables = {{"gcs.service.host", "http://emulator"}, {"gcs.no-auth", "true"}};
  EXPECT_EQ(OverVariables(variables, {{"gcs.service.host", "https://own"}}),
            (Properties{{"gcs.service.host", "https://own"}}));
  EXPECT_EQ(OverVariables(variables, {{"uri", "u"}}).at("gcs.no-auth"), "true");
}

}  // namespace
}  // namespace firn::service
