// SPDX-License-Identifier: Apache-2.0
#include "splice/row_filter.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"

namespace firn::splice {
namespace {

constexpr std::int64_t kMemory = 1 << 20;

std::shared_ptr<const RowFilter> Filter(const std::vector<std::int64_t>& positions, std::int64_t first,
                                        std::int64_t rows) {
  const DeletedRowList deleted(positions);
  auto filter = RowFilter::Make(deleted, first, rows, kMemory);
  EXPECT_TRUE(filter) << ToString(filter.error());
  return filter ? *filter : nullptr;
}

TEST(DeletedRowList, AnyOrder_IsSortedAndUnique) {
  const DeletedRowList deleted({7, 3, 4, 3, 12, 5});
  EXPECT_EQ(deleted.CountDeleted(0, 100), 5);
  EXPECT_EQ(deleted.CountDeleted(4, 7), 2);
  EXPECT_EQ(deleted.CountDeleted(9, 2), 0);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  deleted.VisitDeleted(4, 12, [&](std::int64_t begin, std::int64_t end) { ranges.emplace_back(begin, end); });
  EXPECT_EQ(ranges, (std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 6}, {7, 8}}));
}

TEST(RowFilter, NothingDeletedInTheRowGroup_IsNone) {
  EXPECT_EQ(Filter({1, 2, 90}, 10, 80), nullptr);
  EXPECT_EQ(Filter({}, 0, 5), nullptr);
  EXPECT_EQ(Filter({0}, 0, 0), nullptr);
}

TEST(RowFilter, Positions_CountFromTheStartOfTheFile) {
  const auto filter = Filter({9, 10, 89, 90}, 10, 80);
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(filter->deleted(), 2);
  EXPECT_TRUE(filter->IsDeleted(0));
  EXPECT_TRUE(filter->IsDeleted(79));
  EXPECT_FALSE(filter->IsDeleted(78));
  EXPECT_FALSE(filter->IsDeleted(80));
}

TEST(RowFilter, RandomSets_AgreeWithASet) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto rows = static_cast<std::int64_t>(1 + random.Below(400));
    std::set<std::int64_t> expected;
    const std::uint64_t share = 1 + random.Below(12);
    for (std::int64_t row = 0; row < rows; ++row) {
      // Runs, so that whole words are of one kind.
      const std::uint64_t run = random.Below(share) == 0 ? random.Below(130) : 0;
      for (std::uint64_t i = 0; i < run && row < rows; ++i) expected.insert(row++);
    }
    std::vector<std::int64_t> positions;
    for (const std::int64_t row : expected) positions.push_back(row + 1000);
    const auto filter = Filter(positions, 1000, rows);
    if (expected.empty()) continue;
    ASSERT_NE(filter, nullptr);
    ASSERT_EQ(filter->deleted(), static_cast<std::int64_t>(expected.size()));
    for (std::int64_t row = 0; row < rows; ++row) {
      ASSERT_EQ(filter->IsDeleted(row), expected.contains(row));
      const std::int64_t end = row + 1 + static_cast<std::int64_t>(random.Below(200));
      std::int64_t run_end = row;
      while (run_end < end && expected.contains(run_end) == expected.contains(row)) ++run_end;
      ASSERT_EQ(filter->RunEnd(row, end), run_end) << row << " to " << end;
      ASSERT_EQ(filter->CountDeleted(row, end), std::distance(expected.lower_bound(row), expected.lower_bound(end)));
    }
    RowCursor cursor(filter.get());
    std::int64_t kept = 0;
    while (cursor.next_row() < rows) {
      const std::int64_t left = rows - cursor.next_row();
      const RowCursor::Run run = cursor.PassRun(1 + static_cast<std::int64_t>(random.Below(64)) % left);
      kept += run.kept ? run.rows : 0;
    }
    EXPECT_EQ(kept, rows - filter->deleted());
  }
}

TEST(RowFilter, RowGroupThatNeedsTooMuchMemory_IsLimit) {
  const DeletedRowList deleted({5});
  const auto filter = RowFilter::Make(deleted, 0, kMemory * 9, kMemory);
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code, Code::kLimit);
  EXPECT_TRUE(RowFilter::Make(deleted, 10, kMemory * 9, kMemory));  // none of its rows is deleted
}

/// A set whose count and ranges do not agree.
class BrokenSet final : public DeletedRows {
 public:
  explicit BrokenSet(std::vector<std::pair<std::int64_t, std::int64_t>> ranges) : ranges_(std::move(ranges)) {}
  std::int64_t CountDeleted(std::int64_t, std::int64_t) const override { return 3; }
  void VisitDeleted(std::int64_t, std::int64_t, const RowRangeVisitor& visit) const override {
    for (const auto& [begin, end] : ranges_) visit(begin, end);
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;
};

TEST(RowFilter, SetThatContradictsItself_IsInternal) {
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  for (const Ranges& ranges : {Ranges{{0, 2}}, Ranges{{5, 7}, {1, 2}}, Ranges{{2, 2}, {3, 6}}, Ranges{{8, 11}},
                               Ranges{{-1, 2}}, Ranges{{0, 2}, {1, 2}}}) {
    const auto filter = RowFilter::Make(BrokenSet(ranges), 0, 10, kMemory);
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().code, Code::kInternal);
  }
  EXPECT_TRUE(RowFilter::Make(BrokenSet({{1, 2}, {4, 6}}), 0, 10, kMemory));
}

TEST(RowCursor, WithoutAFilter_KeepsEverything) {
  RowCursor cursor(nullptr);
  const RowCursor::Run run = cursor.PassRun(100);
  EXPECT_TRUE(run.kept);
  EXPECT_EQ(run.rows, 100);
  EXPECT_EQ(cursor.next_row(), 100);
  EXPECT_EQ(cursor.CountDeleted(50), 0);
  cursor.Enter();
  EXPECT_TRUE(cursor.kept());
}

TEST(RowCursor, Enter_TellsOfTheRowItIsIn) {
  const auto filter = Filter({1}, 0, 3);
  RowCursor cursor(filter.get());
  cursor.Enter();
  EXPECT_TRUE(cursor.kept());
  EXPECT_FALSE(cursor.next_stays());
  cursor.Enter();
  EXPECT_FALSE(cursor.kept());
  cursor.Pass(1);
  EXPECT_TRUE(cursor.kept());
  EXPECT_EQ(cursor.next_row(), 3);
}

}  // namespace
}  // namespace firn::splice
