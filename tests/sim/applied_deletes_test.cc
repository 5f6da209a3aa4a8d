// SPDX-License-Identifier: Apache-2.0
//
// What a rewrite remembers of the deletes that it applied does not grow with files times deletes.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "act/plan_deletes.h"
#include "observe/observe.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

TEST(AppliedDeletes, FilesWithTheSameEqualityDeletes_ShareOneList) {
  World world(2);
  world.Fill(6, 3);
  for (std::int64_t id = 0; id < 8; ++id) world.Fail(world.table().AddEqualityDelete(0, {id}));
  const auto table = world.table().Load();
  ASSERT_TRUE(table.has_value());
  const auto facts = observe::Observe(*table, *world.storage, {}, world.clock.Now());
  ASSERT_TRUE(facts.has_value()) << ToString(facts.error());
  const auto deletes = act::PlanDeletes::Read(*facts, *world.storage, *table->metadata, 1 << 20);
  ASSERT_TRUE(deletes.has_value() && *deletes != nullptr);
  std::vector<iceberg::ManifestEntry> entries;
  const auto contents = world.table().ReadHead();
  for (const auto& [path, live] : contents->files) {
    iceberg::ManifestEntry& entry = entries.emplace_back();
    entry.file = live.file;
    entry.sequence_number = SequenceNumber(live.sequence_number);
  }
  std::vector<const iceberg::ManifestEntry*> files;
  for (const iceberg::ManifestEntry& entry : entries) files.push_back(&entry);
  const auto loaded = (*deletes)->Load({*table->metadata, *world.storage}, files);
  ASSERT_TRUE(loaded.has_value()) << ToString(loaded.error());
  std::set<const void*> lists;
  std::size_t with_deletes = 0;
  for (const auto& file : *loaded) {
    ASSERT_TRUE(file.has_value()) << ToString(file.error());
    EXPECT_TRUE(file->applied.empty());
    if (!file->has_equality) continue;
    ++with_deletes;
    EXPECT_EQ(file->applied_equality->size(), 8U);
    lists.insert(file->applied_equality.get());
  }
  EXPECT_EQ(with_deletes, 6U);
  EXPECT_EQ(lists.size(), 1U);
}

}  // namespace
}  // namespace firn::sim
