// SPDX-License-Identifier: Apache-2.0
#include "splice/arrow_scan.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {
namespace {

std::string Put(const std::string& name, const Bytes& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

Bytes File(std::int64_t rows) {
  Random random(1);
  TableChoice choice;
  choice.types = {"int64", "string", "list<int32>"};
  choice.rows = rows;
  return WriteFile(RandomTable(choice, random));
}

TEST(ArrowScan, CountsRows_FewerColumnsAreFewerBytes) {
  const std::vector<std::string> paths = {Put("scan_a.parquet", File(40'000)), Put("scan_b.parquet", File(5))};
  const auto all = ScanFiles(paths, 0, nullptr), one = ScanFiles(paths, 1, nullptr);
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(all->rows, 40'005);
  EXPECT_EQ(one->rows, 40'005);
  EXPECT_GE(one->decoded_bytes, 8 * 40'005);
  EXPECT_GT(all->decoded_bytes, one->decoded_bytes);
}

TEST(ArrowScan, DamagedMissingCancelled_Errors) {
  Bytes damaged = File(20'000);
  std::fill(damaged.begin() + 100, damaged.end() - 2000, std::uint8_t{0xff});
  const std::vector<std::string> bad = {Put("scan_bad.parquet", damaged)};
  const auto corrupt = ScanFiles(bad, 0, nullptr);
  ASSERT_FALSE(corrupt.has_value());
  EXPECT_NE(corrupt.error().message.find("scan_bad"), std::string::npos);
  const std::vector<std::string> none = {"/no/such/file.parquet"};
  EXPECT_EQ(ScanFiles(none, 0, nullptr).error().code, Code::kUnavailable);
  const std::atomic<bool> cancelled = true;
  const std::vector<std::string> good = {Put("scan_c.parquet", File(100))};
  EXPECT_EQ(ScanFiles(good, 0, &cancelled).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace firn::splice::testing
