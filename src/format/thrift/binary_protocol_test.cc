// SPDX-License-Identifier: Apache-2.0
#include "format/thrift/binary_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::thrift {
namespace {

using ::testing::HasSubstr;

class Pieces final : public SequentialSource {
 public:
  Pieces(Bytes bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  const std::string& name() const override { return name_; }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    const std::size_t count = std::min({out.size(), step_, bytes_.size() - at_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }

 private:
  std::string name_ = "pieces";
  Bytes bytes_;
  std::size_t step_, at_ = 0;
};

Bytes Raw(std::initializer_list<int> bytes) {
  Bytes made;
  for (const int byte : bytes) made.push_back(static_cast<std::uint8_t>(byte));
  return made;
}

/// A reply to "f" with sequence 7 whose result are these bytes.
Bytes ReplyOf(const Bytes& result) {
  Bytes bytes = Raw({0x80, 0x01, 0, 2, 0, 0, 0, 1, 'f', 0, 0, 0, 7});
  bytes.insert(bytes.end(), result.begin(), result.end());
  return bytes;
}

Result<Reply> Decode(const Bytes& bytes, Limits limits = {}, std::size_t step = 3) {
  Pieces source(bytes, step);
  return DecodeReply(source, limits);
}

/// One value of every type, also of those that only other versions send.
Value Everything() {
  Value map = Value::TextMap();
  map.SetKey("b", "2");
  map.SetKey("a", "1");
  Value set = Value::List(Type::kI32, {Value::I32(-1), Value::I32(1 << 30)});
  set.type = Type::kSet;
  Value number = Value::I64(-2);
  Value byte = number, small = number, real = number, uuid = Value::Text("0123456789abcdef");
  byte.type = Type::kByte;
  small.type = Type::kI16;
  real.type = Type::kDouble;
  uuid.type = Type::kUuid;
  const Value text = Value::Text(std::string("a\0b", 3));
  return Value::Struct({{9, map},
                        {1, Value::Struct({{-3, Value::Text("")}, {4000, Value::Bool(true)}})},
                        {2, set},
                        {3, number},
                        {4, byte},
                        {5, small},
                        {6, real},
                        {7, uuid},
                        {8, Value::List(Type::kStruct, {Value::Struct({}), Value::Struct({{1, text}})})},
                        {10, Value::List(Type::kString, {})}});
}

TEST(BinaryProtocol, EncodeCall_IsWhatThriftSends) {
  const Bytes bytes = EncodeCall("get", 258, Value::Struct({{1, Value::Text("db")}, {2, Value::I32(-2)}}));
  EXPECT_EQ(bytes, Raw({0x80, 0x01, 0, 1, 0, 0, 0,   3,   'g', 'e', 't', 0,    0,    1,    2,    11,
                        0,    1,    0, 0, 0, 2, 'd', 'b', 8,   0,   2,   0xff, 0xff, 0xff, 0xfe, 0}));
}

TEST(BinaryProtocol, DecodeReply_EveryType_ComesBackAsItWasInItsOrder) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{5}, std::size_t{100'000}}) {
    Bytes bytes = EncodeCall("f", 7, Everything());
    bytes[3] = 2;
    const auto reply = Decode(bytes, {}, step);
    ASSERT_TRUE(reply) << ToString(reply.error());
    EXPECT_EQ(reply->kind, Answer::kReply);
    EXPECT_EQ(reply->method, "f");
    EXPECT_EQ(reply->sequence, 7);
    EXPECT_FALSE(reply->has_leftovers);
    EXPECT_TRUE(reply->result == Everything());
  }
}

TEST(BinaryProtocol, DecodeReply_LongString_IsReadWhole) {
  const std::string text(300'000, 'x');
  Bytes bytes = EncodeCall("f", 7, Value::Struct({{1, Value::Text(text)}}));
  bytes[3] = 2;
  const auto reply = Decode(bytes, {}, 1000);
  ASSERT_TRUE(reply) << ToString(reply.error());
  EXPECT_EQ(reply->result.TextOf(1), text);
}

TEST(BinaryProtocol, DecodeReply_EverywhereCut_SaysThatBytesEnd) {
  Bytes bytes = EncodeCall("f", 7, Everything());
  bytes[3] = 2;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto reply = Decode(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_FALSE(reply) << size;
    EXPECT_EQ(reply.error().code, Code::kUnavailable) << size << ToString(reply.error());
  }
}

TEST(BinaryProtocol, DecodeReply_BytesBehindIt_AreTold) {
  Bytes bytes = ReplyOf(Raw({0, 1}));
  const auto reply = Decode(bytes, {}, 100);
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->has_leftovers);
}

TEST(BinaryProtocol, DecodeReply_NoReply_IsRefused) {
  for (const Bytes& bytes : {Raw({'H', 'T', 'T', 'P', '/', '1', '.', '1'}), Raw({0x80, 0x01, 0, 1, 0, 0, 0, 0}),
                             Raw({0x80, 0x02, 0, 2, 0, 0, 0, 0}), Raw({0, 0, 0, 1, 'f', 2, 0, 0})}) {
    const auto reply = Decode(bytes);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::kCorrupt);
    EXPECT_THAT(reply.error().message, HasSubstr("pieces"));
  }
}

TEST(BinaryProtocol, DecodeReply_LengthsThatLie_TakeNoMemory) {
  // A string, a list and a map of two thousand million, and of minus one.
  for (const int top : {0x7f, 0xff}) {
    for (const Bytes& result : {Raw({11, 0, 1, top, 0xff, 0xff, 0xff}), Raw({15, 0, 1, 8, top, 0xff, 0xff, 0xff}),
                                Raw({13, 0, 1, 11, 11, top, 0xff, 0xff, 0xff})}) {
      const auto reply = Decode(ReplyOf(result));
      ASSERT_FALSE(reply);
      EXPECT_EQ(reply.error().code, top == 0x7f ? Code::kLimit : Code::kCorrupt) << ToString(reply.error());
    }
  }
  // Within the limits of one, but the bytes do not come.
  EXPECT_EQ(Decode(ReplyOf(Raw({11, 0, 1, 1, 0, 0, 0, 'x'}))).error().code, Code::kUnavailable);
  EXPECT_EQ(Decode(ReplyOf(Raw({15, 0, 1, 2, 1, 0, 0, 0, 1}))).error().code, Code::kUnavailable);
}

TEST(BinaryProtocol, DecodeReply_AboveTheLimits_IsRefused) {
  Bytes deep;
  for (int i = 0; i < 40; ++i) deep.insert(deep.end(), {12, 0, 1});
  deep.insert(deep.end(), 41, 0);
  EXPECT_TRUE(Decode(ReplyOf(deep)));
  EXPECT_EQ(Decode(ReplyOf(deep), {.depth_max = 39}).error().code, Code::kLimit);
  Bytes many = Raw({15, 0, 1, 12, 0, 0, 0, 100});
  many.insert(many.end(), 101, 0);
  EXPECT_TRUE(Decode(ReplyOf(many)));
  EXPECT_EQ(Decode(ReplyOf(many), {.values_max = 100}).error().code, Code::kLimit);
  EXPECT_EQ(Decode(ReplyOf(many), {.bytes_max = 100}).error().code, Code::kLimit);
}

TEST(BinaryProtocol, DecodeReply_UnknownTypes_AreRefused) {
  for (const Bytes& result : {Raw({1, 0, 1, 0, 0}), Raw({17, 0, 1, 0, 0}), Raw({0xff, 0, 1, 0, 0}),
                              Raw({15, 0, 1, 5, 0, 0, 0, 1, 0, 0}), Raw({13, 0, 1, 0, 11, 0, 0, 0, 1, 0, 0})}) {
    const auto reply = Decode(ReplyOf(result));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::kCorrupt) << ToString(reply.error());
  }
  EXPECT_TRUE(Decode(ReplyOf(Raw({13, 0, 1, 0, 0, 0, 0, 0, 0, 0}))) && true) << "an empty map without types";
}

TEST(ThriftValue, Keys_AreFoundSetAndRemoved) {
  Value map = Value::TextMap();
  map.SetKey("a", "1");
  map.SetKey("b", "2");
  map.SetKey("a", "3");
  EXPECT_EQ(map.elements.size(), 4U);
  ASSERT_TRUE(map.FindKey("a"));
  EXPECT_EQ(*map.FindKey("a"), "3");
  map.RemoveKey("a");
  map.RemoveKey("none");
  EXPECT_FALSE(map.FindKey("a"));
  EXPECT_EQ(*map.FindKey("b"), "2");
}

TEST(ThriftValue, Find_OtherType_IsNotFound) {
  const Value value = Value::Struct({{1, Value::I32(5)}, {2, Value::Text("x")}});
  EXPECT_EQ(value.NumberOf(1, Type::kI32), 5);
  EXPECT_EQ(value.NumberOf(1, Type::kI64, -1), -1);
  EXPECT_EQ(value.TextOf(2), "x");
  EXPECT_EQ(value.TextOf(1), "");
  EXPECT_FALSE(value.Find(3, Type::kString));
}

}  // namespace
}  // namespace firn::thrift
