// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "act/delete_load_tables_test.h"
#include "act/equality_match.h"
#include "base/random.h"

namespace firn::act {
namespace {

using iceberg::DeleteEntry;
using testing::Column;
using testing::DeleteTable;
using testing::FieldOf;
using testing::ParquetOf;
using testing::TableOf;
using Positions = std::vector<std::int64_t>;

/// Rows and deletes at random; what must be deleted is found by sets of texts.
class RandomDeletes {
 public:
  explicit RandomDeletes(std::uint64_t seed)
      : random_(seed),
        table_(TableOf(FieldOf(1, "a", "long") + "," + FieldOf(2, "b", "string") + "," + FieldOf(3, "c", "int"))) {}

  void Run(std::int64_t memory_bytes, int threads, std::int64_t keys) {
    MakeDeletes(keys);
    for (int i = 0; i < 4; ++i) MakeData(i);
    std::vector<DataFileRef> data;
    for (const DeleteEntry& entry : data_) data.push_back({&entry.file, entry.sequence_number});
    std::vector<const DeleteEntry*> entries;
    for (const DeleteEntry& entry : deletes_) entries.push_back(&entry);
    const auto found = MatchEqualityDeletes(table_.context(memory_bytes, threads), data, entries, &statistics_);
    ASSERT_TRUE(found.has_value()) << ToString(found.error());
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ((*found)[i].value().ToVector(), wanted_[i]) << i;
  }
  const EqualityStatistics& statistics() const { return statistics_; }

 private:
  struct Values {
    std::vector<std::string> cells[3];  // a, b, c as JSON
    std::vector<Column> columns() const {
      return {{"a", 1, "long", fmt::format("[{}]", fmt::join(cells[0], ","))},
              {"b", 2, "string", fmt::format("[{}]", fmt::join(cells[1], ","))},
              {"c", 3, "int", fmt::format("[{}]", fmt::join(cells[2], ","))}};
    }
    std::string Key(std::size_t row, const std::vector<FieldId>& ids) const {
      std::string key;
      for (const FieldId id : ids) key += cells[id - 1][row] + "|";
      return key;
    }
  };

  Values Draw(std::size_t rows, std::uint64_t distinct) {
    Values values;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto number = [&] {
        return random_.Below(20) == 0 ? std::string("null") : std::to_string(random_.Below(distinct));
      };
      values.cells[0].push_back(number());
      const std::string text = number();
      values.cells[1].push_back(text == "null" ? text : '"' + text + '"');
      values.cells[2].push_back(random_.Below(2) == 0 ? "null" : "1");
    }
    return values;
  }

  void MakeDeletes(std::int64_t keys) {
    const std::vector<std::vector<FieldId>> id_sets = {{1}, {2}, {1, 3}, {3, 2}};
    for (std::int64_t sequence = 2; sequence < 8; ++sequence) {
      const std::vector<FieldId>& ids = id_sets[random_.Below(id_sets.size())];
      const Values values = Draw(static_cast<std::size_t>(keys), static_cast<std::uint64_t>(keys) * 6);
      deletes_.push_back(
          table_.PutEquality(fmt::format("mem:/t/e{}", sequence), ParquetOf(values.columns()), ids, sequence));
      for (std::size_t row = 0; row < values.cells[0].size(); ++row) {
        keys_[sequence].second.insert(values.Key(row, ids));
      }
      keys_[sequence].first = ids;
    }
  }

  void MakeData(int index) {
    const auto sequence = static_cast<std::int64_t>(1 + random_.Below(8));
    const Values values = Draw(3000, 8000);
    testing::FileShape shape;
    shape.row_group_rows = 700;
    data_.push_back(
        {table_.Put(fmt::format("mem:/t/f{}", index), ParquetOf(values.columns(), shape)), SequenceNumber(sequence)});
    Positions& wanted = wanted_.emplace_back();
    for (std::size_t row = 0; row < values.cells[0].size(); ++row) {
      bool deleted = false;
      for (const auto& [delete_sequence, keys] : keys_) {
        deleted = deleted || (delete_sequence > sequence && keys.second.contains(values.Key(row, keys.first)));
      }
      if (deleted) wanted.push_back(static_cast<std::int64_t>(row));
    }
  }

  Random random_;
  DeleteTable table_;
  std::vector<DeleteEntry> deletes_, data_;
  std::map<std::int64_t, std::pair<std::vector<FieldId>, std::set<std::string>>> keys_;
  std::vector<Positions> wanted_;
  EqualityStatistics statistics_;
};

TEST(MatchEqualityDeletes, RandomTables_EqualTheModel) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomDeletes(seed).Run(64 << 20, 1 + static_cast<int>(seed % 3), 500);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(MatchEqualityDeletes, LittleMemory_TakesSeveralPasses) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    RandomDeletes deletes(seed);
    deletes.Run(1, 2, 20000);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    EXPECT_GT(deletes.statistics().passes, 12) << "seed " << seed;
  }
}

}  // namespace
}  // namespace firn::act
