// SPDX-License-Identifier: Apache-2.0
#include "format/json/json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace firn::json {
namespace {

Value MustParse(std::string_view text) {
  auto value = Parse(text);
  EXPECT_TRUE(value.has_value()) << text << ": " << (value ? "" : ToString(value.error()));
  return value ? std::move(*value) : Value();
}

TEST(Json, Parse_AnyText_RoundTripsByteForByte) {
  const char* texts[] = {
      "null",
      "true",
      "false",
      "0",
      "-0",
      "-1",
      "1.0",
      "1e5",
      "1E+5",
      "0.10",
      "-0.0",
      "100000000000000000000000000000",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      "9007199254740993",
      R"("")",
      R"("a\"b\\c/\b\f\n\r\t")",
      R"("\u0000\u001f")",
      "\"\x7f\"",
      R"("äöü € 😀")",
      "[]",
      "{}",
      R"([1,[2,[3,{}]],"x"])",
      R"({"z":1,"a":{"y":[],"b":null},"":2})",
  };
  for (const char* text : texts) EXPECT_EQ(Write(MustParse(text)), text);
}

TEST(Json, Parse_EscapedText_ReadsCodePoints) {
  EXPECT_EQ(*MustParse(R"("\u0041\u00e4\u20ac\ud83d\ude00\/")").AsString(), "Aä€😀/");
}

TEST(Json, Parse_BrokenText_SaysWhere) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"", "byte 1"},
      {"   ", "byte"},
      {"{", "byte 2"},
      {R"({"a":1,})", "byte 8"},
      {R"({"a" 1})", "byte 6"},
      {"[1,2", "byte 5"},
      {"[1 2]", "byte 4"},
      {"01", "byte 2"},
      {"+1", "byte 1"},
      {"1.", "byte"},
      {".5", "byte 1"},
      {"nul", "byte"},
      {"NaN", "byte"},
      {"\"\n\"", "byte 2"},
      {"\"\xff\"", "byte 2"},
      {"\"\xc0\xaf\"", "byte 2"},
      {"\"\xed\xa0\x80\"", "byte"},
      {R"("\ud800")", "byte"},
      {R"("\x")", "byte"},
      {"\"abc", "byte"},
      {"{} {}", "byte"},
      {"'a'", "byte 1"},
      {"/* c */ 1", "byte 1"},
      {R"({1:2})", "byte 2"},
      {"1e999", "byte"},
  };
  for (const auto& [text, message] : cases) {
    const auto value = Parse(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().code, Code::kCorrupt) << text;
    EXPECT_NE(value.error().message.find(message), std::string::npos) << text << ": " << value.error().message;
  }
}

TEST(Json, Parse_LongBadToken_MessageStaysShort) {
  const auto value = Parse("[" + std::string(1'000'000, 'x') + "]");
  ASSERT_FALSE(value.has_value());
  EXPECT_LT(value.error().message.size(), 400u);
}

TEST(Json, Parse_DuplicateMembers_Refused) {
  EXPECT_FALSE(Parse(R"({"a":1,"a":1})").has_value());
  EXPECT_FALSE(Parse(R"({"x":{"a":1,"b":2,"a":3}})").has_value());
  EXPECT_TRUE(Parse(R"([{"a":1},{"a":1}])").has_value());
  // Above the size where a hash set takes over, at every place.
  for (const std::size_t size : {15u, 16u, 17u, 18u, 100u}) {
    std::string text = "{";
    for (std::size_t i = 0; i < size; ++i) text += fmt::format("\"k{}\":{},", i, i);
    EXPECT_TRUE(Parse(text + "\"other\":0}").has_value()) << size;
    for (std::size_t i = 0; i < size; ++i) {
      const auto value = Parse(text + fmt::format("\"k{}\":0}}", i));
      ASSERT_FALSE(value.has_value()) << size << " " << i;
      EXPECT_NE(value.error().message.find(fmt::format("`k{}` appears twice", i)), std::string::npos);
    }
  }
}

TEST(Json, Parse_DuplicateMember_SaysWhere) {
  EXPECT_EQ(Parse(R"({"a":1,"a":1})").error().message, "JSON is broken at byte 10: member `a` appears twice");
}

TEST(Json, Parse_Depth_BoundedForArraysAndObjects) {
  const auto nested = [](int depth, const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += "1";
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(Parse(nested(kDepthMax, "[", "]")).has_value());
  EXPECT_FALSE(Parse(nested(kDepthMax + 1, "[", "]")).has_value());
  EXPECT_TRUE(Parse(nested(kDepthMax, "{\"a\":", "}")).has_value());
  EXPECT_FALSE(Parse(nested(kDepthMax + 1, "{\"a\":", "}")).has_value());
  EXPECT_FALSE(Parse(std::string(10'000'000, '[')).has_value());
}

TEST(Json, Value_FromNumbers_WritesShortestExactText) {
  EXPECT_EQ(Write(Value(std::int64_t{9007199254740993})), "9007199254740993");
  EXPECT_EQ(Write(Value(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(Write(Value(1.0)), "1.0");
  EXPECT_EQ(Write(Value(0.1)), "0.1");
  EXPECT_EQ(Write(Value(1e300)), "1e+300");
  EXPECT_EQ(Write(Value(-0.0)), "-0.0");
  EXPECT_EQ(Write(Value(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(Write(Value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(Write(Value(7)), "7");
}

TEST(Json, Value_TypedAccess_RefusesOtherKindsAndRanges) {
  EXPECT_EQ(MustParse("9223372036854775807").AsInt64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(MustParse("-0").AsInt64(), 0);
  EXPECT_FALSE(MustParse("9223372036854775808").AsInt64());
  EXPECT_FALSE(MustParse("1.0").AsInt64());
  EXPECT_FALSE(MustParse("1e2").AsInt64());
  EXPECT_FALSE(MustParse("\"1\"").AsInt64());
  EXPECT_DOUBLE_EQ(*MustParse("1e2").AsDouble(), 100.0);
  EXPECT_FALSE(MustParse("\"1\"").AsDouble());
  EXPECT_FALSE(MustParse("1").AsBool());
  EXPECT_EQ(MustParse("1").AsString(), nullptr);
  EXPECT_TRUE(*MustParse("true").AsBool());
}

TEST(Json, Value_Edits_KeepPlacesOfOtherMembers) {
  Value value = MustParse(R"({"a":1,"b":2,"c":3})");
  value.Set("b", "x");
  value.Set("d", true);
  EXPECT_TRUE(value.Remove("a"));
  EXPECT_FALSE(value.Remove("a"));
  EXPECT_EQ(Write(value), R"({"b":"x","c":3,"d":true})");
  value.Find("c")->Append(Value(1));  // a number has no elements to show
  EXPECT_EQ(Write(value), R"({"b":"x","c":3,"d":true})");
}

TEST(Json, Value_Equality_IgnoresOrderOfMembersOnly) {
  EXPECT_EQ(MustParse(R"({"a":1,"b":[1,2]})"), MustParse(R"({"b":[1,2],"a":1})"));
  EXPECT_FALSE(MustParse("[1,2]") == MustParse("[2,1]"));
  EXPECT_FALSE(MustParse("1.0") == MustParse("1"));
  EXPECT_FALSE(MustParse("1") == MustParse("\"1\""));
  EXPECT_FALSE(MustParse(R"({"a":1})") == MustParse(R"({"a":1,"b":2})"));
  EXPECT_FALSE(MustParse(R"({"a":1,"b":2})") == MustParse(R"({"a":1,"c":2})"));
  Value big = Value::Object(), turned = Value::Object();
  for (int i = 0; i < 100; ++i) big.Set(fmt::format("k{}", i), i);
  for (int i = 99; i >= 0; --i) turned.Set(fmt::format("k{}", i), i);
  EXPECT_EQ(big, turned);
  turned.Set("k50", 51);
  EXPECT_FALSE(big == turned);
}

TEST(Json, WritePretty_Nested_IndentsByTwo) {
  EXPECT_EQ(WritePretty(MustParse(R"({"a":[1,{"b":2}],"c":{},"d":[]})")),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}\n");
}

TEST(Json, Members_MissingOrWrong_ErrorsNameTheMember) {
  const Value value = MustParse(R"({"n":5,"big":5000000000,"s":"x","t":true,"null":null})");
  EXPECT_EQ(*GetInt64(value, "n"), 5);
  EXPECT_EQ(*GetInt64(value, "big"), 5'000'000'000);
  EXPECT_EQ(*GetInt32(value, "n"), 5);
  EXPECT_EQ(*GetString(value, "s"), "x");
  EXPECT_EQ(*GetBool(value, "t"), true);
  EXPECT_EQ(GetInt64(value, "q").error().message, "`q` is missing");
  EXPECT_EQ(GetInt64(value, "null").error().message, "`null` is missing");
  EXPECT_EQ(GetInt32(value, "big").error().message, "`big` is not a signed integer of 32 bits");
  EXPECT_EQ(GetString(value, "n").error().message, "`n` is not a string");
  EXPECT_EQ(GetBool(value, "n").error().message, "`n` is not true or false");
  EXPECT_FALSE(FindInt64(value, "q")->has_value());
  EXPECT_FALSE(FindInt64(value, "null")->has_value());
  EXPECT_FALSE(FindString(value, "null")->has_value());
  EXPECT_FALSE(FindInt64(value, "s").has_value());
  EXPECT_FALSE(FindInt32(value, "big").has_value());
  EXPECT_FALSE(GetString(Value(1), "s").has_value());
}

Value RandomValue(Random& random, int depth) {
  switch (random.Below(depth > 4 ? 4 : 6)) {
    case 0: return {};
    case 1: return Value(random.Below(2) == 0);
    case 2: return random.Below(2) == 0 ? Value(static_cast<std::int64_t>(random.Next())) : Value(random.NextUnit());
    case 3: {
      std::string text;
      for (std::uint64_t i = random.Below(8); i > 0; --i) {
        const char* pieces[] = {"a", "\"", "\\", "\n", "\x01", "é", "€", "😀", "/", " "};
        text += pieces[random.Below(10)];
      }
      return Value(std::move(text));
    }
    case 4: {
      Value array = Value::Array();
      for (std::uint64_t i = random.Below(6); i > 0; --i) array.Append(RandomValue(random, depth + 1));
      return array;
    }
    default: {
      Value object = Value::Object();
      for (std::uint64_t i = random.Below(40); i > 0; --i) {
        object.Set(fmt::format("k{}\"\\", random.Below(100)), RandomValue(random, depth + 1));
      }
      return object;
    }
  }
}

TEST(Json, Write_WhatIsNotUtf8_IsReplaced_AndParses) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"a\xff\x62", "a\xef\xbf\xbd\x62"},
      {"\xc3", "\xef\xbf\xbd"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe2\x82\xac \xf0\x9f\x8c\xb2 \xc3\xbc\x7f", "\xe2\x82\xac \xf0\x9f\x8c\xb2 \xc3\xbc\x7f"}};
  for (const auto& [given, wanted] : cases) {
    Value object = Value::Object();
    object.Set(std::string(given), std::string(given));
    const Value again = MustParse(Write(object));
    ASSERT_EQ(again.members().size(), 1U);
    EXPECT_EQ(again.members()[0].first, wanted);
    EXPECT_EQ(*again.members()[0].second.AsString(), wanted);
  }
}

TEST(Json, Write_RandomTrees_ParseBackEqual) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const Value value = RandomValue(random, 0);
    const std::string text = Write(value);
    const Value again = MustParse(text);
    EXPECT_EQ(again, value);
    EXPECT_EQ(Write(again), text);
    EXPECT_EQ(MustParse(WritePretty(value)), value);
  }
}

}  // namespace
}  // namespace firn::json
