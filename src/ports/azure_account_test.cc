// SPDX-License-Identifier: Apache-2.0
#include "ports/azure_account.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHost = "lake.dfs.core.windows.net";

AzureAccount Made(const Properties& properties, const std::string& host = kHost) {
  auto made = AzureAccountOf(properties, host);
  EXPECT_TRUE(made) << ToString(made.error());
  return made ? *made : AzureAccount{};
}

Error Refused(const Properties& properties, const std::string& host = kHost) {
  const auto made = AzureAccountOf(properties, host);
  EXPECT_FALSE(made);
  return made ? Error{} : made.error();
}

std::string Servers(const AzureAccount& account) {
  return account.blob.scheme + account.blob.authority + " " + account.dfs.scheme + account.dfs.authority;
}

TEST(AzureAccountTest, Host_NamesTheAccountAndItsCloud) {
  const AzureAccount account = Made({});
  EXPECT_EQ(account.name, "lake");
  EXPECT_EQ(Servers(account), "https.blob.core.windows.net https.dfs.core.windows.net");
  EXPECT_EQ(account.sas_token + account.key + account.client_id, "");
  EXPECT_EQ(Servers(Made({}, "lake.blob.core.chinacloudapi.cn")),
            "https.blob.core.chinacloudapi.cn https.dfs.core.chinacloudapi.cn");
}

TEST(AzureAccountTest, NoHost_TheAccountIsThatOfTheProperties) {
  EXPECT_EQ(Made({{"adls.account-name", "a"}}, "").name, "a");
  EXPECT_EQ(Made({{"adls.auth.shared-key.account.name", "a"}}, "").name, "a");
  EXPECT_EQ(Made({{"adls.connection-string", "AccountName=a;AccountKey=k"}}, "").name, "a");
  const Error error = Refused({}, "");
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("adls.account-name"));
}

TEST(AzureAccountTest, ConnectionString_OfACloud) {
  const AzureAccount account = Made({{"adls.connection-string",
                                      "DefaultEndpointsProtocol=https;AccountName=lake;AccountKey=a2V5PQ==;"
                                      "EndpointSuffix=core.usgovcloudapi.net"}});
  EXPECT_EQ(account.key, "a2V5PQ==");
  EXPECT_EQ(Servers(account), "https.blob.core.usgovcloudapi.net https.dfs.core.usgovcloudapi.net");
}

TEST(AzureAccountTest, ConnectionString_OfAnEmulator) {
  const AzureAccount account = Made({{"adls.connection-string",
                                      "defaultendpointsprotocol=http;AccountName=lake;AccountKey=k;"
                                      "BlobEndpoint=http://127.0.0.1:10000/lake;"}});
  EXPECT_EQ(account.key, "k");
  EXPECT_EQ(Servers(account), "http127.0.0.1:10000 http127.0.0.1:10000");
}

TEST(AzureAccountTest, ConnectionString_EndpointsAndSignature) {
  const AzureAccount account = Made({{"adls.connection-string",
                                      "BlobEndpoint=https://lake.blob.storage.azure.net/;"
                                      "SharedAccessSignature=sv=1&sig=x%3D"},
                                     {"adls.account-name", "lake"}});
  EXPECT_EQ(account.sas_token, "sv=1&sig=x%3D");
  EXPECT_EQ(Servers(account), "https.blob.storage.azure.net https.dfs.storage.azure.net");
  for (const char* endpoint :
       {"lake.blob.core.windows.net", "https://other.blob.core.windows.net", "http://h:1/other"}) {
    const Error error = Refused({{"adls.connection-string", std::string("AccountName=lake;BlobEndpoint=") + endpoint}});
    EXPECT_EQ(error.code, Code::kInvalidArgument) << endpoint;
    EXPECT_THAT(error.message, HasSubstr("adls.connection-string"));
  }
}

TEST(AzureAccountTest, PropertiesGoBeforeTheConnectionString) {
  const AzureAccount account = Made({{"adls.connection-string", "AccountName=lake;AccountKey=old"},
                                     {"adls.account-key", "new"},
                                     {"adls.blob-storage-authority", "h:1"},
                                     {"adls.dfs-storage-scheme", "http"}});
  EXPECT_EQ(account.key, "new");
  EXPECT_EQ(Servers(account), "httpsh:1 http.dfs.core.windows.net");
  EXPECT_EQ(Servers(Made({{"adls.account-host", "lake.blob.core.cloudapi.de"}})),
            "https.blob.core.cloudapi.de https.dfs.core.cloudapi.de");
}

TEST(AzureAccountTest, KeysOfAnotherAccount_AreNeverUsed) {
  const Error error = Refused({{"adls.account-name", "other"}, {"adls.account-key", "hidden"}});
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("`other`"));
  EXPECT_THAT(error.message, Not(HasSubstr("hidden")));
  EXPECT_EQ(Refused({{"adls.connection-string", "AccountName=other;AccountKey=k"}}).code, Code::kInvalidArgument);
  // Without keys the name alone does no harm.
  EXPECT_EQ(Made({{"adls.account-name", "other"}, {"adls.client-id", "c"}}).client_id, "c");
}

TEST(AzureAccountTest, SignatureThatNamesItsAccount_GoesFirst) {
  for (const char* key : {"adls.sas-token.lake.dfs.core.windows.net", "adls.sas-token.lake"}) {
    const AzureAccount account = Made({{key, "?sv=1"},
                                       {"adls.account-name", "other"},
                                       {"adls.account-key", "k"},
                                       {"adls.sas-token", "general"},
                                       {"adls.blob-storage-authority", "127.0.0.1:1"}});
    EXPECT_EQ(account.sas_token, "sv=1");
    EXPECT_EQ(account.key, "");
    EXPECT_EQ(account.blob.authority, ".blob.core.windows.net") << "that of another account";
  }
  EXPECT_EQ(Made({{"adls.sas-token.other.dfs.core.windows.net", "x"},
                  {"adls.sas-token", "?general"},
                  {"adls.account-name", "lake"}})
                .sas_token,
            "general");
}

TEST(AzureAccountTest, HostThatNobodyKnows_GetsNothing) {
  for (const Properties& properties :
       std::vector<Properties>{{{"adls.sas-token", "hidden"}, {"adls.account-name", "lake"}},
                               {{"adls.sas-token.lake", "hidden"}},
                               {{"adls.sas-token.lake.dfs.core.windows.net", "hidden"}},
                               {{"adls.account-key", "hidden"}, {"adls.account-name", "lake"}},
                               {{"adls.connection-string", "AccountName=lake;AccountKey=hidden"}},
                               {{"adls.client-id", "c"}, {"adls.client-secret", "hidden"}, {"adls.tenant-id", "t"}},
                               {{"adls.account-name", "other"}, {"adls.blob-storage-authority", ".blob.attacker.com"}},
                               {}}) {
    for (const char* host : {"lake.dfs.attacker.com", "lake.blob.core.windows.net.attacker.com", "lake.attacker.com",
                             "lake.dfs.core.windows.net:8443", "lake.dfs.core.windows.net@attacker.com",
                             "lake.dfs.attacker.com/.dfs.core.windows.net", "lake.x.dfs.core.windows.net",
                             "2130706433:80?.dfs.core.windows.net", "2130706433:80", "lake#.dfs.core.windows.net"}) {
      const Error error = Refused(properties, host);
      EXPECT_EQ(error.code, Code::kInvalidArgument) << host;
      EXPECT_THAT(error.message, Not(HasSubstr("hidden")));
    }
  }
  EXPECT_EQ(Made({}, "onelake.dfs.fabric.microsoft.com").dfs.authority, ".dfs.fabric.microsoft.com");
  EXPECT_EQ(Made({}, "lake").dfs.authority, ".dfs.core.windows.net");
}

TEST(AzureAccountTest, HostThatTheConfigurationNames_IsTaken) {
  const std::string host = "lake.dfs.my.cloud";
  const std::string servers = "https.blob.my.cloud https.dfs.my.cloud";
  EXPECT_EQ(Servers(Made({{"adls.account-host", "lake.blob.my.cloud"}}, host)), servers);
  EXPECT_EQ(Servers(Made({{"adls.connection-string", "AccountName=lake;EndpointSuffix=my.cloud"}}, host)), servers);
  EXPECT_EQ(Servers(Made({{"adls.account-name", "lake"},
                          {"adls.blob-storage-authority", ".blob.my.cloud"},
                          {"adls.dfs-storage-authority", ".dfs.my.cloud"}},
                         host)),
            servers);
  const AzureAccount named = Made({{"adls.sas-token." + host, "sv=1"}, {"adls.account-key", "k"}}, host);
  EXPECT_EQ(Servers(named) + named.sas_token + named.key, servers + "sv=1");
  EXPECT_EQ(Refused({{"adls.account-host", "other.blob.my.cloud"}}, host).code, Code::kInvalidArgument);
}

TEST(AzureAccountTest, KeysThatDoNotSayWhose_NeedAnOwner) {
  for (const char* key : {"adls.sas-token", "adls.account-key", "adls.auth.shared-key.account.key"}) {
    const Error error = Refused({{key, "hidden"}});
    EXPECT_EQ(error.code, Code::kInvalidArgument) << key;
    EXPECT_THAT(error.message, HasSubstr("adls.account-name"));
    EXPECT_THAT(error.message, Not(HasSubstr("hidden")));
    for (const Properties& owner : std::vector<Properties>{{{"adls.account-host", "lake.blob.core.windows.net"}},
                                                           {{"warehouse", "abfss://c@lake.dfs.core.windows.net/w"}}}) {
      Properties properties = owner;
      properties.emplace(key, "k");
      const AzureAccount account = Made(properties);
      EXPECT_EQ(account.key + account.sas_token, "k") << key;
      EXPECT_EQ(Refused(properties, "other.dfs.core.windows.net").code, Code::kInvalidArgument) << key;
    }
    EXPECT_EQ(Refused({{key, "k"}, {"warehouse", "s3://lake/w"}}).code, Code::kInvalidArgument) << key;
  }
  for (const char* endpoint : {"https://lake.blob.core.windows.net/", "http://127.0.0.1:1/lake"}) {
    const Properties properties = {
        {"adls.connection-string", fmt::format("BlobEndpoint={};SharedAccessSignature=sv=1", endpoint)}};
    EXPECT_EQ(Made(properties).sas_token, "sv=1");
    EXPECT_EQ(Refused(properties, "other.dfs.core.windows.net").code, Code::kInvalidArgument);
  }
}

TEST(AzureAccountTest, NameAndConnectionStringOfDifferentAccounts_AreRefused) {
  const Error error =
      Refused({{"adls.account-name", "lake"}, {"adls.connection-string", "AccountName=other;AccountKey=hidden"}});
  EXPECT_EQ(error.code, Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("different accounts"));
  EXPECT_THAT(error.message, Not(HasSubstr("hidden")));
}

TEST(AzureAccountTest, HalfOfASecret_AndWhatIsNotKnown_AreRefused) {
  EXPECT_EQ(Refused({{"adls.tenant-id", "t"}}).code, Code::kInvalidArgument);
  EXPECT_EQ(Refused({{"adls.client-secret", "s"}, {"adls.tenant-id", "t"}}).code, Code::kInvalidArgument);
  EXPECT_EQ(Refused({{"adls.client-secret", "s"}, {"adls.client-id", "t"}}).code, Code::kInvalidArgument);
  EXPECT_EQ(Made({{"adls.client-secret", "s"}, {"adls.client-id", "c"}, {"adls.tenant-id", "t"}}).client_secret, "s");
  const Error token = Refused({{"adls.token", "hidden"}});
  EXPECT_EQ(token.code, Code::kUnsupported);
  EXPECT_THAT(token.message, Not(HasSubstr("hidden")));
  EXPECT_TRUE(Made({{"adls.anon", "true"}}).anonymous);
}

}  // namespace
}  // namespace firn::ports
