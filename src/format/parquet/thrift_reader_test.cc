// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/thrift_reader.h"

#include <gtest/gtest.h>

#include <limits>

#include "format/parquet/thrift_writer.h"

namespace firn::parquet {
namespace {

TEST(Thrift, Numbers_RoundTrip) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{-65},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    Bytes bytes;
    AppendZigzag(bytes, value);
    ThriftReader reader(bytes);
    EXPECT_EQ(reader.ReadI64(), value);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.remaining(), 0U);
  }
}

TEST(Thrift, TruncatedOrOverlongValues_AreFaultsThatStick) {
  struct Case {
    Bytes bytes;
    void (*read)(ThriftReader&);
  };
  const Case cases[] = {
      {{0x80}, [](ThriftReader& in) { in.ReadVarint(); }},
      {Bytes(11, 0xff), [](ThriftReader& in) { in.ReadVarint(); }},
      {{0xff, 0xff, 0xff, 0xff, 0x1f}, [](ThriftReader& in) { in.ReadI32(); }},
      {{0x80, 0x80, 0x04}, [](ThriftReader& in) { in.ReadI16(); }},
      {{0x05, 'a', 'b'}, [](ThriftReader& in) { in.ReadBinary(); }},
      {{0xf5, 0xff, 0xff, 0xff, 0x7f}, [](ThriftReader& in) { in.BeginList(ThriftType::kI32); }},
      {{0x28, 0x00, 0x00}, [](ThriftReader& in) { in.BeginList(ThriftType::kI32); }},
      {{0x0e}, [](ThriftReader& in) { in.BeginList(ThriftType::kI32); }},
      {{0x0e}, [](ThriftReader& in) { in.Skip(ThriftType::kList); }},
      {{0x01, 0x8e}, [](ThriftReader& in) { in.Skip(ThriftType::kMap); }},
      {{0x00}, [](ThriftReader& in) { in.Skip(ThriftType::kDouble); }},
      {{0x01}, [](ThriftReader& in) { in.Skip(static_cast<ThriftType>(14)); }},
  };
  for (const Case& item : cases) {
    ThriftReader reader(item.bytes);
    item.read(reader);
    ASSERT_FALSE(reader.ok());
    EXPECT_EQ(reader.status().error().code, Code::kCorrupt);
    EXPECT_EQ(reader.ReadI64(), 0);
    EXPECT_TRUE(reader.ReadBinary().empty());
    ThriftStruct fields(reader);
    EXPECT_FALSE(fields.Next());
  }
}

TEST(Thrift, DeepNesting_IsRefusedWithoutRecursionToIt) {
  Bytes bytes(1000000, 0x1c);  // a struct in a struct in a struct
  ThriftReader reader(bytes);
  reader.Skip(ThriftType::kStruct);
  EXPECT_FALSE(reader.ok());
  Bytes lists(1000000, 0x19);  // a list of one list of one list
  ThriftReader list_reader(lists);
  list_reader.Skip(ThriftType::kList);
  EXPECT_FALSE(list_reader.ok());
}

TEST(Thrift, UnknownFieldsOfEveryType_AreKeptAndWrittenBack) {
  Bytes original;
  ThriftWriter writer(original);
  writer.I32(1, 7);
  writer.Bool(2, true);
  writer.Bool(3, false);
  writer.Byte(4, -3);
  writer.I16(5, -300);
  writer.I64(20, std::int64_t{1} << 40);  // more than 15 ahead: the long form
  writer.Binary(21, Bytes{1, 2, 3});
  writer.I64List(22, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  writer.List(23, ThriftType::kTrue, 2);
  original.insert(original.end(), {1, 2});
  writer.Field(24, ThriftType::kMap);
  original.insert(original.end(), {1, 0x85, 4, 'k', 'e', 'y', '!', 2});  // one entry: a binary to a number
  writer.EmptyStruct(32767);
  writer.End();

  Bytes kept;
  ThriftReader reader(original);
  ThriftStruct fields(reader);
  std::int32_t first = 0;
  while (fields.Next()) {
    if (fields.key() == ThriftKey(1, ThriftType::kI32)) {
      first = reader.ReadI32();
    } else {
      fields.Keep(kept);
    }
  }
  ASSERT_TRUE(reader.ok()) << reader.status().error().message;
  EXPECT_EQ(reader.remaining(), 0U);
  EXPECT_EQ(first, 7);

  Bytes again;
  ThriftWriter rewriter(again);
  rewriter.I32(1, first);
  rewriter.Kept(kept);
  rewriter.End();
  EXPECT_EQ(again, original);
}

TEST(Thrift, KeptFieldsBehindOtherNeighbours_GetNewDeltas) {
  Bytes kept;
  AppendKept(kept, 3, ThriftType::kI32, Bytes{0x02});
  Bytes out;
  ThriftWriter writer(out);
  writer.I32(9, 5);
  writer.Kept(kept);
  writer.End();
  ThriftReader reader(out);
  ThriftStruct fields(reader);
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.id(), 9);
  fields.Skip();
  ASSERT_TRUE(fields.Next());
  EXPECT_EQ(fields.key(), ThriftKey(3, ThriftType::kI32));
  EXPECT_EQ(reader.ReadI32(), 1);
  EXPECT_FALSE(fields.Next());
  EXPECT_TRUE(reader.ok());
}

TEST(Thrift, KnownIdWithAnotherType_DoesNotMatch) {
  Bytes bytes;
  ThriftWriter writer(bytes);
  writer.I64(1, 7);
  writer.End();
  ThriftReader reader(bytes);
  ThriftStruct fields(reader);
  ASSERT_TRUE(fields.Next());
  EXPECT_NE(fields.key(), ThriftKey(1, ThriftType::kI32));
  EXPECT_EQ(fields.seen(), 2U);
  fields.Skip();
  EXPECT_EQ(fields.seen(), 0U) << "a required member that was skipped is missing";
}

}  // namespace
}  // namespace firn::parquet
