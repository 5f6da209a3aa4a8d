// SPDX-License-Identifier: Apache-2.0
#include "service/table_name.h"

#include <gtest/gtest.h>

namespace firn::service {
namespace {

const std::vector<TableName> kTables = {{"lake/db.t", "lake", "db.t"},
                                        {"lake/db.u", "lake", "db.u"},
                                        {"pond/db.u", "pond", "db.u"},
                                        {"db/u.x", "db", "u.x"},
                                        {"lake/db.u.x", "lake", "db.u.x"}};

TEST(FindTableId, TakesEveryWayToWriteIt) {
  for (const char* given : {"lake/db.t", "db.t", "lake.db.t"}) EXPECT_EQ(*FindTableId(given, kTables), "lake/db.t");
  EXPECT_EQ(*FindTableId("pond.db.u", kTables), "pond/db.u");
}

TEST(FindTableId, NamesWhatItMayBe) {
  const auto two = FindTableId("db.u", kTables);
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, Code::kInvalidArgument);
  EXPECT_EQ(two.error().message, "`db.u` may be lake/db.u or pond/db.u");
  EXPECT_EQ(FindTableId("db.u.x", kTables).error().message, "`db.u.x` may be db/u.x or lake/db.u.x");
}

TEST(IsText, TakesAnyCharacterAndNoOtherBytes) {
  for (const char* name : {"db.t", "db.\xc3\xbc", "db.line\nbreak", "\x01\x7f", ""}) EXPECT_TRUE(IsText(name)) << name;
  for (const char* name : {"db.\xff", "db.\xc3", "\xed\xa0\x80"}) EXPECT_FALSE(IsText(name)) << name;
}

TEST(FindTableId, WhatIsNotThereIsNotGuessed) {
  for (const char* given : {"", "t", "db.", "lake", "lake/t", "DB.T"}) {
    EXPECT_EQ(FindTableId(given, kTables).error().code, Code::kNotFound) << given;
  }
}

}  // namespace
}  // namespace firn::service
