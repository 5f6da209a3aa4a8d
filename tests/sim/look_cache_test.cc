// SPDX-License-Identifier: Apache-2.0
//
// Manifests that a look has read are not fetched again by the next one.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ports/cached_file_io.h"
#include "service/look.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

class LookCacheTest : public testing::Test {
 protected:
  /// A look at everything; reads of manifests by location.
  std::map<std::string, int> ReadsOfLook(ports::FileCache* manifests) {
    std::map<std::string, int> reads;
    world_.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      const bool is_manifest = event.location.ends_with("-m.avro");
      if (event.operation == ports::IoOperation::kReadAt && is_manifest) ++reads[event.location];
    };
    service::LookOptions options;
    options.database = "c/db";
    options.is_full = true;
    options.manifests = manifests;
    table_.record.row.id = "c/db.t";
    world_.clock.SleepMs(1000);
    const service::LookResult found = world_.AsProcess([&] {
      return service::Look(*world_.catalog, SimTable::Id(), options, world_.random, world_.clock.Now(), table_);
    });
    EXPECT_FALSE(found.error.has_value()) << found.error->message;
    world_.intrude = {};
    return reads;
  }

  World world_{2};
  service::WatchedTable table_;
};

TEST_F(LookCacheTest, SecondLook_FetchesNewManifestsAlone) {
  world_.Fill(6, 3);
  ASSERT_TRUE(world_.table().AddEqualityDelete(0, {1}));
  ports::FileCache manifests(1 << 20);
  const auto first = ReadsOfLook(&manifests);
  EXPECT_EQ(first.size(), 7U);
  for (const auto& [location, reads] : first) EXPECT_EQ(reads, 1) << location;
  EXPECT_EQ(ReadsOfLook(&manifests).size(), 0U);

  ASSERT_TRUE(world_.table().Append(0, {{1'000'000}}).has_value());
  EXPECT_EQ(ReadsOfLook(&manifests).size(), 1U);
  const service::TableRow with_cache = table_.record.row;
  EXPECT_EQ(ReadsOfLook(nullptr).size(), 8U);
  EXPECT_EQ(table_.record.row.files, with_cache.files);
  EXPECT_EQ(table_.record.row.delete_files, with_cache.delete_files);
  EXPECT_EQ(table_.record.row.score, with_cache.score);
  EXPECT_GT(manifests.counts().hits, 7);
}

}  // namespace
}  // namespace firn::sim
