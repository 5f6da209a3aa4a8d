// SPDX-License-Identifier: Apache-2.0
#include "iceberg/delete_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace firn::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr FieldId kFilePathField = 2147483546;

DataFile File(std::string path, std::int32_t spec, std::int32_t partition) {
  DataFile file;
  file.file_path = std::move(path);
  file.spec_id = SpecId(spec);
  file.partition.values = {partition};
  return file;
}

DeleteEntry Positions(std::int64_t sequence_number, std::int32_t spec, std::int32_t partition) {
  DeleteEntry entry{File("positions", spec, partition), SequenceNumber(sequence_number)};
  entry.file.content = FileContent::kPositionDeletes;
  return entry;
}

DeleteEntry Equality(std::int64_t sequence_number, std::int32_t spec, std::int32_t partition) {
  DeleteEntry entry = Positions(sequence_number, spec, partition);
  entry.file.content = FileContent::kEqualityDeletes;
  return entry;
}

DeleteEntry Vector(std::int64_t sequence_number, std::int32_t spec, std::int32_t partition, std::string path) {
  DeleteEntry entry = Positions(sequence_number, spec, partition);
  entry.file.format = FileFormat::kPuffin;
  entry.file.referenced_data_file = std::move(path);
  return entry;
}

DeleteEntry WithBounds(DeleteEntry entry, std::string_view lower, std::string_view upper) {
  entry.file.lower_bounds = {{kFilePathField, Bytes(lower.begin(), lower.end())}};
  entry.file.upper_bounds = {{kFilePathField, Bytes(upper.begin(), upper.end())}};
  return entry;
}

std::vector<std::uint32_t> FindIn(const std::vector<DeleteEntry>& deletes, const DataFile& file, std::int64_t number,
                                  bool unpartitioned = false) {
  DeleteIndex index;
  for (const DeleteEntry& entry : deletes) index.Add(entry, unpartitioned);
  index.Build();
  EXPECT_EQ(index.Any(file, SequenceNumber(number)), !index.Find(file, SequenceNumber(number)).empty());
  return index.Find(file, SequenceNumber(number));
}

TEST(DeleteIndex_Find, SequenceNumbers_EqualityIsStrictPositionsAreNot) {
  const std::vector<DeleteEntry> deletes{Positions(5, 0, 1), Equality(5, 0, 1), Vector(5, 0, 2, "b")};
  EXPECT_THAT(FindIn(deletes, File("a", 0, 1), 4), ElementsAre(0, 1));
  EXPECT_THAT(FindIn(deletes, File("a", 0, 1), 5), ElementsAre(0));
  EXPECT_THAT(FindIn(deletes, File("a", 0, 1), 6), IsEmpty());
  EXPECT_THAT(FindIn(deletes, File("b", 0, 2), 5), ElementsAre(2));
  EXPECT_THAT(FindIn(deletes, File("b", 0, 2), 6), IsEmpty());
}

TEST(DeleteIndex_Find, SpecAndTupleMustMatch_ExceptForGlobalEquality) {
  const std::vector<DeleteEntry> deletes{Positions(5, 0, 1), Equality(5, 0, 1)};
  EXPECT_THAT(FindIn(deletes, File("a", 0, 2), 1), IsEmpty());
  EXPECT_THAT(FindIn(deletes, File("a", 1, 1), 1), IsEmpty());
  EXPECT_THAT(FindIn(deletes, File("a", 1, 7), 1, /*unpartitioned=*/true), ElementsAre(1));
  EXPECT_THAT(FindIn(deletes, File("a", 0, 1), 1, /*unpartitioned=*/true), ElementsAre(0, 1));
}

TEST(DeleteIndex_Find, VectorHidesPositionDeletes) {
  DeleteEntry referenced = Positions(6, 0, 1);
  referenced.file.referenced_data_file = "a";
  const std::vector<DeleteEntry> deletes{Positions(5, 0, 1), Vector(7, 0, 1, "a"), Equality(8, 0, 1), referenced};
  EXPECT_THAT(FindIn(deletes, File("a", 0, 1), 5), ElementsAre(1, 2));
  EXPECT_THAT(FindIn(deletes, File("other", 0, 1), 5), ElementsAre(0, 2));
}

TEST(DeleteIndex_Find, ReferencedFileAndBounds_PruneOnlyWhenSure) {
  DeleteEntry referenced = Positions(9, 0, 1);
  referenced.file.referenced_data_file = "s3://b/data/f1";
  const std::vector<DeleteEntry> deletes{
      referenced,
      WithBounds(Positions(9, 0, 1), "s3://b/data/f1", "s3://b/data/f1"),
      WithBounds(Positions(9, 0, 1), "s3://b/da", "s3://b/da"),  // cut to the same prefix
      WithBounds(Positions(9, 0, 1), "s3://b/data/f0", "s3://b/data/f2"),
      WithBounds(Positions(9, 0, 1), "s3://b/data/f0", "s3://b/data/f"),  // upper bound cut, not raised: inverted
      WithBounds(Positions(9, 0, 1), "s3://b/a", "s3://b/d"),             // the same, not inverted
      WithBounds(Positions(9, 0, 1), "s3://b/data/f8", "s3://b/data/f9"),
      Positions(9, 0, 1),
  };
  EXPECT_THAT(FindIn(deletes, File("s3://b/data/f1", 0, 1), 1), ElementsAre(0, 1, 2, 3, 4, 5, 7));
  EXPECT_THAT(FindIn(deletes, File("s3://b/data/f2", 0, 1), 1), ElementsAre(2, 3, 4, 5, 7));
  EXPECT_THAT(FindIn(deletes, File("s3://b/data/f85", 0, 1), 1), ElementsAre(2, 4, 5, 6, 7));
  EXPECT_THAT(FindIn(deletes, File("s3://b/x", 0, 1), 1), ElementsAre(4, 7));
}

TEST(DeleteIndex_FindMisplaced, NamesThePathButDoesNotApply) {
  DeleteIndex index;
  index.Add(Vector(5, 0, 2, "a"), false);
  index.Add(Vector(5, 0, 1, "b"), false);
  index.Add(WithBounds(Positions(5, 1, 1), "c", "c"), false);
  index.Build();
  EXPECT_TRUE(index.FindMisplaced(File("a", 0, 1), SequenceNumber(1)).vector);
  EXPECT_FALSE(index.FindMisplaced(File("b", 0, 1), SequenceNumber(1)).any());
  EXPECT_TRUE(index.FindMisplaced(File("b", 0, 1), SequenceNumber(6)).vector);
  EXPECT_TRUE(index.FindMisplaced(File("c", 0, 1), SequenceNumber(1)).positions);
  EXPECT_FALSE(index.FindMisplaced(File("d", 0, 1), SequenceNumber(1)).any());
}

/// The rules of the specification, one delete file at a time.
std::vector<std::uint32_t> BruteForce(const std::vector<DeleteEntry>& deletes, const std::vector<bool>& unpartitioned,
                                      const DataFile& file, SequenceNumber number) {
  const auto scope = [&](const DataFile& other) {
    return other.spec_id == file.spec_id && SameTuple(other.partition, file.partition);
  };
  const auto bound = [](const ByField<Bytes>& bounds) {
    return bounds.empty() ? std::string() : std::string(AsText(bounds.front().second));
  };
  bool has_vector = false;
  for (const DeleteEntry& entry : deletes) {
    has_vector |= KindOf(entry.file) == DeleteKind::kVector && entry.file.referenced_data_file == file.file_path &&
                  number <= entry.sequence_number && scope(entry.file);
  }
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < deletes.size(); ++i) {
    const DataFile& own = deletes[i].file;
    bool applies = false;
    if (KindOf(own) == DeleteKind::kEquality) {
      applies = number < deletes[i].sequence_number && (unpartitioned[i] || scope(own));
    } else {
      applies = number <= deletes[i].sequence_number && scope(own);
      if (own.referenced_data_file) applies = applies && *own.referenced_data_file == file.file_path;
      if (KindOf(own) == DeleteKind::kPositions) {
        applies = applies && !has_vector;
        if (!own.referenced_data_file && !own.lower_bounds.empty()) {
          const std::string lower = bound(own.lower_bounds), upper = bound(own.upper_bounds);
          const bool inside = file.file_path >= lower && (file.file_path <= upper || file.file_path.starts_with(upper));
          applies = applies && (lower > upper || inside);
        }
      }
    }
    if (applies) found.push_back(i);
  }
  return found;
}

TEST(DeleteIndex_Find, RandomTables_AgreeWithBruteForce) {
  Random random(42);
  const auto below = [&random](std::uint64_t bound) { return static_cast<std::int32_t>(random.Below(bound)); };
  const auto path = [&] {
    std::string text = "s3://b/";
    for (std::int32_t i = below(5); i > 0; --i) text += static_cast<char>('a' + below(3));
    return text;
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<DeleteEntry> deletes;
    std::vector<bool> unpartitioned;
    DeleteIndex index;
    const std::int32_t count = below(30);
    for (std::int32_t i = 0; i < count; ++i) {
      const std::int64_t number = below(6);
      const std::int32_t spec = below(3), partition = below(3);
      DeleteEntry entry = Positions(number, spec, partition);
      switch (below(6)) {
        case 0: entry = Equality(number, spec, partition); break;
        case 1: entry = Vector(number, spec, partition, path()); break;
        case 2: entry.file.referenced_data_file = path(); break;
        case 3: entry = WithBounds(std::move(entry), path(), path()); break;
        case 4: {
          const std::string only = path();
          entry = WithBounds(std::move(entry), only, only);
          break;
        }
        default: break;
      }
      unpartitioned.push_back(spec == 2);
      index.Add(entry, spec == 2);
      deletes.push_back(std::move(entry));
    }
    index.Build();
    for (int look = 0; look < 40; ++look) {
      const DataFile file = File(path(), below(3), below(3));
      const SequenceNumber number(below(7));
      const auto expected = BruteForce(deletes, unpartitioned, file, number);
      ASSERT_EQ(index.Find(file, number), expected) << "round " << round << " path " << file.file_path;
      ASSERT_EQ(index.Any(file, number), !expected.empty());
      const DeleteIndex::Kinds kinds = index.FindKinds(file, number);
      const auto has = [&](DeleteKind kind) {
        return std::ranges::any_of(expected, [&](auto i) { return KindOf(deletes[i].file) == kind; });
      };
      ASSERT_EQ(kinds.positions, has(DeleteKind::kPositions));
      ASSERT_EQ(kinds.vector, has(DeleteKind::kVector));
      ASSERT_EQ(kinds.equality, has(DeleteKind::kEquality));
    }
  }
}

TEST(DeleteIndex_Find, ManyFileScopedDeletes_AreFoundWithoutReadingAll) {
  DeleteIndex index;
  const auto path = [](int i) { return "s3://bucket/t/data/part-" + std::to_string(i) + ".parquet"; };
  for (int i = 0; i < 20'000; ++i) {
    const std::string only = path(i);
    index.Add(WithBounds(Positions(5, 0, 1), only, only), false);
  }
  index.Build();
  for (int i = 0; i < 40'000; ++i) {
    ASSERT_EQ(index.Find(File(path(i), 0, 1), SequenceNumber(1)).size(), i < 20'000 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace firn::iceberg
