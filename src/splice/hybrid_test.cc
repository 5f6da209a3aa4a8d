// SPDX-License-Identifier: Apache-2.0
#include "splice/hybrid.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "splice/bit_pack.h"
#include "splice/index_kernels.h"

namespace firn::splice {
namespace {

std::uint32_t MaskOf(unsigned width) { return width == 32 ? ~0U : (1U << width) - 1; }

std::vector<std::uint32_t> RandomValues(Random& random, std::size_t count, unsigned width) {
  std::vector<std::uint32_t> values(count);
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random.Next()) & MaskOf(width);
  return values;
}

std::vector<std::uint32_t> ReadAll(ByteView bytes, unsigned width, std::size_t count, std::size_t step) {
  HybridReader reader(bytes, width);
  std::vector<std::uint32_t> values(count);
  std::size_t done = 0;
  while (done < count) {
    const std::size_t read = reader.Read(values.data() + done, std::min(step, count - done));
    if (read == 0) break;
    done += read;
  }
  values.resize(done);
  return values;
}

TEST(BitPack, EveryWidth_SurvivesPackingAndUnpacking) {
  Random random(1);
  for (unsigned width = 0; width <= kBitWidthMax; ++width) {
    const std::vector<std::uint32_t> values = RandomValues(random, 256, width);
    RawBuffer packed;
    packed.Resize(256 / 8 * width);
    PackBits(values.data(), 256 / 8, width, packed.data());
    for (const std::size_t first : {0UL, 1UL, 7UL, 8UL, 13UL, 250UL}) {
      std::vector<std::uint32_t> fast(256 - first), portable(256 - first);
      UnpackBits(packed.data(), width, first, fast.size(), fast.data());
      UnpackBitsPortable(packed.data(), width, first, portable.size(), portable.data());
      EXPECT_EQ(fast, portable) << width << " from " << first;
      EXPECT_TRUE(std::equal(fast.begin(), fast.end(), values.begin() + static_cast<std::ptrdiff_t>(first))) << width;
    }
  }
}

TEST(BitPack, ExampleOfTheSpecification) {
  const std::uint32_t values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  RawBuffer packed;
  packed.Resize(3);
  PackBits(values, 1, 3, packed.data());
  EXPECT_EQ(Bytes(packed.view().begin(), packed.view().end()), (Bytes{0x88, 0xc6, 0xfa}));
}

TEST(BitPack, BitWidth_OfTheLargestValue) {
  EXPECT_EQ(BitWidth(0), 0U);
  EXPECT_EQ(BitWidth(1), 1U);
  EXPECT_EQ(BitWidth(2), 2U);
  EXPECT_EQ(BitWidth(255), 8U);
  EXPECT_EQ(BitWidth(256), 9U);
  EXPECT_EQ(BitWidth(~std::uint64_t{0}), 64U);
}

TEST(IndexKernels, BothPaths_FindTheMaximum) {
  Random random(2);
  for (std::size_t count = 0; count < 70; ++count) {
    const std::vector<std::uint32_t> values = RandomValues(random, count, 32);
    EXPECT_EQ(MaxOf(values.data(), count), MaxOfPortable(values.data(), count));
  }
  EXPECT_EQ(MaxOf(nullptr, 0), 0U);
}

TEST(Hybrid, MixedRuns_AnyAppendAndReadSteps_GiveTheValuesBack) {
  Random random(3);
  for (unsigned width = 0; width <= kBitWidthMax; ++width) {
    for (int round = 0; round < 20; ++round) {
      HybridWriter writer;
      writer.Reset(width);
      std::vector<std::uint32_t> expected;
      while (expected.size() < 9000) {
        const std::uint64_t kind = random.Below(3);
        const std::size_t count = 1 + random.Below(random.Below(4) == 0 ? 2000 : 30);
        if (kind == 0) {
          const std::uint32_t value = static_cast<std::uint32_t>(random.Below(3)) & MaskOf(width);
          writer.AppendRun(value, count);
          expected.insert(expected.end(), count, value);
        } else {
          std::vector<std::uint32_t> values = RandomValues(random, count, kind == 1 ? width : std::min(width, 1U));
          writer.Append(values.data(), count);
          expected.insert(expected.end(), values.begin(), values.end());
        }
      }
      RawBuffer bytes;
      bytes.Append(writer.Finish());
      EXPECT_EQ(ReadAll(bytes.view(), width, expected.size(), 1 + random.Below(3000)), expected) << width;
    }
  }
}

TEST(Hybrid, PackedRuns_AreShort_AndWholeBlocksOf32) {
  // A reader that left a run in the middle of a byte may go on value by value until the next run begins.
  constexpr std::size_t kWidth = 5, kValues = 5000;
  Random random(4);
  const std::vector<std::uint32_t> values = RandomValues(random, kValues, kWidth);
  HybridWriter writer;
  writer.Reset(kWidth);
  writer.Append(values.data(), values.size());
  const ByteView bytes = writer.Finish();
  std::size_t seen = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t head = bytes[at];
    ASSERT_EQ(head & 0x81, 1U) << at;  // packed, and a head of one byte
    const std::size_t groups = head >> 1;
    seen += groups * 8;
    at += 1 + groups * kWidth;
    if (at < bytes.size()) {
      EXPECT_EQ(groups % 4, 0U) << at;
    }
  }
  EXPECT_EQ(seen, kValues);
}

TEST(Hybrid, OneRun_IsHandedOverAsARun) {
  HybridWriter writer;
  writer.Reset(1);
  writer.AppendRun(1, 1000000);
  RawBuffer bytes;
  bytes.Append(writer.Finish());
  EXPECT_EQ(bytes.size(), 4U);
  HybridReader reader(bytes.view(), 1);
  std::uint32_t value = 0;
  EXPECT_EQ(reader.Repeated(value), 1000000U);
  EXPECT_EQ(value, 1U);
  reader.SkipRepeated(999999);
  EXPECT_EQ(reader.Repeated(value), 1U);
}

TEST(Hybrid, BrokenStreams_EndEarly) {
  const std::vector<Bytes> broken = {
      {},
      {0x80},                                // a varint without an end
      {0xff, 0xff, 0xff, 0xff, 0xff, 0x01},  // a varint of more than 32 bits
      {0x02},                                // a run without its value
      {0x00, 0x00, 0x00},                    // empty runs
  };
  for (const Bytes& one : broken) {
    RawBuffer bytes;
    bytes.Append(one);
    EXPECT_TRUE(ReadAll(bytes.view(), 3, 100, 100).empty());
  }
  for (const Bytes& one : {Bytes{0x05, 0, 1, 2, 3, 4, 5, 6, 7}, Bytes{0x00, 5, 0x10, 7}, Bytes{0x01, 0x10, 7}}) {
    RawBuffer runs;  // a packed run that lacks a whole group; runs of no values, which nothing may follow
    runs.Append(one);
    EXPECT_EQ(ReadAll(runs.view(), 8, 100, 100).size(), 0U);
    HybridReader reader(runs.view(), 8);
    std::uint32_t value = 0;
    EXPECT_EQ(reader.Repeated(value), 0U);
    EXPECT_EQ(reader.Read(&value, 1), 0U);
  }
  RawBuffer cut;  // a packed run of 16 values of 8 bits, cut after 10
  cut.Append(Bytes{0x05, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(ReadAll(cut.view(), 8, 100, 100).size(), 10U);
}

}  // namespace
}  // namespace firn::splice
