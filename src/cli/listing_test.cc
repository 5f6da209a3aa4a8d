// SPDX-License-Identifier: Apache-2.0
#include "cli/listing.h"

#include <gtest/gtest.h>

#include "format/json/json.h"

namespace firn::cli {
namespace {

void Fill(Listing& listing) {
  listing.AddRow({SnapshotId{9007199254740993}, ByteCount{112640}, TimestampMs{1700000000123}, std::int64_t{1998},
                  std::string("x")});
  listing.AddRow({SnapshotId{2}, ByteCount{1}, TimestampMs{0}, std::monostate{}, std::string("y\n")});
  listing.AddRow({SnapshotId{3}, ByteCount{1}, TimestampMs{0}, std::int64_t{1}, std::string("z")});
  listing.Finish();
}
const std::vector<std::string> kColumns = {"snapshot_id", "size_bytes", "time", "files", "text"};

TEST(Listing, ForPeople_AlignsAndBounds) {
  MemoryTerminal terminal;
  Listing listing(terminal, {.json = false, .rows_max = 2}, kColumns);
  Fill(listing);
  EXPECT_EQ(terminal.out,
            "       SNAPSHOT ID  SIZE BYTES  TIME                     FILES  TEXT\n"
            "  9007199254740993     110 KiB  2023-11-14 22:13:20 UTC  1,998  x\n"
            "                 2         1 B  1970-01-01 00:00:00 UTC      -  y?\n"
            "  ... and 1 more row (--limit N shows more)\n");
}

TEST(Listing, Json_IsAnArrayOfAllRows) {
  MemoryTerminal terminal;
  Listing listing(terminal, {.json = true, .rows_max = 2}, kColumns);
  Fill(listing);
  auto value = json::Parse(terminal.out);
  ASSERT_TRUE(value.has_value()) << terminal.out;
  ASSERT_EQ(value->elements().size(), 3U);
  EXPECT_EQ(value->elements()[0].Find("snapshot_id")->AsInt64(), 9007199254740993);
  EXPECT_EQ(value->elements()[0].Find("time")->AsInt64(), 1700000000123);
  EXPECT_TRUE(value->elements()[1].Find("files")->is_null());
  EXPECT_EQ(*value->elements()[1].Find("text")->AsString(), "y\n");
}

TEST(Listing, Empty) {
  MemoryTerminal terminal;
  Listing(terminal, {.json = true}, kColumns).Finish();
  Listing(terminal, {}, kColumns).Finish();
  EXPECT_EQ(terminal.out, "[]\n  (none)\n");
}

}  // namespace
}  // namespace firn::cli
