// SPDX-License-Identifier: Apache-2.0
#include "iceberg/name_mapping.h"

#include <gtest/gtest.h>

namespace firn::iceberg {
namespace {

TEST(NameMapping, NestedMapping_FindsFieldsByLiteralNames) {
  const auto mapping = ParseNameMapping(R"([
    {"field-id": 1, "names": ["id", "record_id"]},
    {"field-id": 2, "names": ["a.b"]},
    {"field-id": 3, "names": ["location"], "fields": [
      {"field-id": 4, "names": ["latitude", "lat"]}, {"field-id": 5, "names": ["id"]}]},
    {"field-id": 6, "names": []},
    {"names": ["only_in_files"]},
    {"field-id": 7, "names": ["tags"], "fields": [{"field-id": 8, "names": ["element"]}]}])");
  ASSERT_TRUE(mapping.has_value()) << ToString(mapping.error());
  EXPECT_EQ(FindMapped(mapping->fields, "record_id")->id, 1);
  EXPECT_EQ(FindMapped(mapping->fields, "a.b")->id, 2);
  EXPECT_EQ(FindMapped(mapping->fields, "a"), nullptr);
  EXPECT_EQ(FindMapped(mapping->fields, "ID"), nullptr);
  const MappedField* location = FindMapped(mapping->fields, "location");
  EXPECT_EQ(FindMapped(location->fields, "lat")->id, 4);
  EXPECT_EQ(FindMapped(location->fields, "id")->id, 5);
  ASSERT_NE(FindMapped(mapping->fields, "only_in_files"), nullptr);
  EXPECT_FALSE(FindMapped(mapping->fields, "only_in_files")->id);
  EXPECT_EQ(FindMapped(FindMapped(mapping->fields, "tags")->fields, "element")->id, 8);
}

TEST(NameMapping, WrongText_Corrupt) {
  for (const char* text :
       {"", "{}", "[1]", "[{}]", R"([{"names":"a"}])", R"([{"names":[1]}])", R"([{"field-id":"1","names":["a"]}])",
        R"([{"field-id":1,"names":["a"],"fields":{}}])", R"([{"names":["a"]},{"names":["a"]}])",
        R"([{"names":["a","a"]}])", R"([{"names":["s"],"fields":[{"names":["a"]},{"names":["b","a"]}]}])"}) {
    const auto mapping = ParseNameMapping(text);
    ASSERT_FALSE(mapping.has_value()) << text;
    EXPECT_EQ(mapping.error().code, Code::kCorrupt);
  }
}

}  // namespace
}  // namespace firn::iceberg
