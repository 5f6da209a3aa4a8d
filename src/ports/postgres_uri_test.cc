// SPDX-License-Identifier: Apache-2.0
#include "ports/postgres_uri.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PostgresUriTest, WhatOthersWrite_AsLibpqReadsIt) {
  const std::pair<Properties, std::string> cases[] = {
      {{{"uri", "postgresql://u:p@h:5433/db?sslmode=require"}}, "postgresql://u:p@h:5433/db?sslmode=require"},
      {{{"uri", "postgresql+psycopg2://u:p@h/db"}}, "postgresql://u:p@h/db"},
      {{{"uri", "postgresql+psycopg2://u:a/b@c%40@h/db"}}, "postgresql://u:a%2Fb%40c%40@h/db"},
      {{{"uri", "postgresql+psycopg2:///db?host=/run/pg"}}, "postgresql:///db?host=/run/pg"},
      {{{"uri", "jdbc:postgresql://h1:1,h2:2/db"}}, "postgresql://h1:1,h2:2/db"},
      {{{"uri", "jdbc:postgresql:db"}}, "postgresql:///db"},
      {{{"uri", "jdbc:postgresql://h/db"}, {"jdbc.user", "u&v"}, {"jdbc.password", "p w"}},
       "postgresql://h/db?password=p%20w&user=u%26v"},
      {{{"uri", "jdbc:postgresql://h/db?user=a%20b+c&currentSchema=s"},
        {"jdbc.user", "u"},
        {"jdbc.schema-version", "V1"}},
       "postgresql://h/db?options=-csearch_path%3Ds&user=a%20b%20c"},
      {{{"uri", "jdbc:postgresql://h/db?ssl=true&sslmode=require&prepareThreshold=0"}},
       "postgresql://h/db?sslmode=verify-full&sslmode=require"},
      {{{"uri", "jdbc:postgresql://h/db?targetServerType=primary"}},
       "postgresql://h/db?target_session_attrs=read-write"},
  };
  for (const auto& [properties, expected] : cases) {
    EXPECT_TRUE(IsPostgresUri(properties.at("uri")));
    const auto made = PostgresUri(properties);
    ASSERT_TRUE(made) << ToString(made.error());
    EXPECT_EQ(*made, expected);
  }
}

TEST(PostgresUriTest, ParametersOfJava_ThatWouldBeLost_AreRefusedByName) {
  for (const char* name : {"sslfactory", "socketFactory", "targetServerType"}) {
    const auto made = PostgresUri({{"uri", "jdbc:postgresql://h/db"}, {std::string("jdbc.") + name, "hunter2"}});
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, Code::kUnsupported);
    EXPECT_THAT(made.error().message, Not(HasSubstr("hunter2")));
  }
}

TEST(PostgresUriTest, OtherUris_AreNone) {
  for (const char* uri : {"", "postgresql", "postgresqlx://h/db", "sqlite:///a.db", "jdbc:sqlite:a", "mysql://h/db"}) {
    EXPECT_FALSE(IsPostgresUri(uri)) << uri;
  }
}

}  // namespace
}  // namespace firn::ports
