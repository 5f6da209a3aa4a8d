// SPDX-License-Identifier: Apache-2.0
//
// Manifests that are left out by their line in the manifest list: what is selected is the same as if all were read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/projection.h"
#include "iceberg/manifest_fixture.h"
#include "iceberg/partition_ranges.h"
#include "iceberg/partition_types.h"
#include "orient/partition_key.h"
#include "ports/hooked_file_io.h"
#include "ports/memory_file_io.h"
#include "service/optimize.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

using iceberg::FieldSummary;
using iceberg::FileContent;
using iceberg::Literal;
using iceberg::ManifestContent;
using iceberg::ManifestFile;
using iceberg::TransformKind;
using iceberg::TypeKind;

constexpr const char* kList = "s3://b/t/snap.avro";
/// Specs of one table, as it would have evolved: by several fields, none, an unknown transform, a void one.
constexpr const char* kSpecs = R"j([
  {"spec-id":0,"fields":[]},
  {"spec-id":1,"fields":[{"source-id":1,"field-id":1001,"name":"i","transform":"identity"}]},
  {"spec-id":2,"fields":[{"source-id":1,"field-id":1002,"name":"ib","transform":"bucket[4]"},
                         {"source-id":2,"field-id":1003,"name":"st","transform":"truncate[2]"}]},
  {"spec-id":3,"fields":[{"source-id":3,"field-id":1004,"name":"d","transform":"day"},
                         {"source-id":4,"field-id":1005,"name":"f","transform":"identity"}]},
  {"spec-id":4,"fields":[{"source-id":3,"field-id":1006,"name":"dm","transform":"month"},
                         {"source-id":2,"field-id":1007,"name":"s","transform":"identity"}]},
  {"spec-id":5,"fields":[{"source-id":1,"field-id":1008,"name":"z","transform":"zorder"}]},
  {"spec-id":6,"fields":[{"source-id":1,"field-id":1001,"name":"i","transform":"void"},
                         {"source-id":3,"field-id":1009,"name":"dy","transform":"year"}]}])j";

class PruningWorld {
 public:
  explicit PruningWorld(std::uint64_t seed) : random_(seed) {
    const std::string text = fmt::format(
        R"j({{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
        "last-sequence-number":9,"last-updated-ms":1602638573590,"last-column-id":4,"current-schema-id":0,
        "schemas":[{{"type":"struct","schema-id":0,"fields":[
          {{"id":1,"name":"i","required":false,"type":"int"}},{{"id":2,"name":"s","required":false,"type":"string"}},
          {{"id":3,"name":"d","required":false,"type":"date"}},
          {{"id":4,"name":"f","required":false,"type":"double"}}]}}],
        "default-spec-id":1,"partition-specs":{},"last-partition-id":1100,"default-sort-order-id":0,
        "sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{{}},"current-snapshot-id":77,
        "snapshots":[{{"snapshot-id":77,"sequence-number":9,"timestamp-ms":1602638573590,
          "manifest-list":"{}","summary":{{"operation":"append"}}}}]}})j",
        kSpecs, kList);
    table_.metadata = std::make_shared<const iceberg::TableMetadata>(
        iceberg::fixture::Must(iceberg::TableMetadata::Parse(AsBytes(text))));
    files_ = std::make_shared<ports::MemoryFileIO>();
  }

  const iceberg::TableMetadata& metadata() const { return *table_.metadata; }
  const ports::LoadedTable& table() const { return table_; }
  std::vector<ManifestFile>& lines() { return lines_; }

  Literal Value(const iceberg::PartitionField& field) {
    // Values of unknown transforms cannot be written.
    if (!decide::CanProject(field.transform.kind) || random_.Below(8) == 0) return {};
    const auto number = static_cast<std::int32_t>(random_.Below(21)) - 10;
    static constexpr double kDoubles[] = {-1.5, -0.0, 0.0, 2.25, std::numeric_limits<double>::quiet_NaN()};
    static const std::string kTexts[] = {"", "a", "ab", "abc", "abcd", "b", "\xc3\xa4"};
    Literal value;
    switch (field.source_id) {
      case 1: value = number; break;
      case 2: value = kTexts[random_.Below(7)]; break;
      case 3: value = number * 20; break;
      default: value = kDoubles[random_.Below(5)]; break;
    }
    const iceberg::Type& type = metadata().current_schema().FindField(field.source_id)->type;
    value = iceberg::fixture::Must(iceberg::Apply(field.transform, type, value));
    auto* ordinal = std::get_if<std::int32_t>(&value);
    // Writers that round towards zero.
    if (field.source_id == 3 && ordinal != nullptr && *ordinal < 0 && random_.Below(4) == 0) ++*ordinal;
    return value;
  }

  iceberg::PartitionTuple Tuple(SpecId spec_id) {
    iceberg::PartitionTuple tuple;
    for (const auto& field : metadata().FindSpec(spec_id)->fields) tuple.values.push_back(Value(field));
    return tuple;
  }

  void AddManifest(SpecId spec_id, bool deletes) {
    std::vector<iceberg::ManifestEntry> entries;
    const auto tuples = 1 + random_.Below(3);
    for (std::uint64_t t = 0; t < tuples; ++t) {
      const iceberg::PartitionTuple tuple = Tuple(spec_id);
      for (std::uint64_t n = random_.Below(3) + 1; n > 0; --n) entries.push_back(Entry(spec_id, tuple, deletes));
    }
    iceberg::ManifestWriterOptions options;
    options.spec_id = spec_id;
    options.content = deletes ? ManifestContent::kDeletes : ManifestContent::kData;
    auto written = iceberg::fixture::Write(metadata(), entries, options);
    written.line.manifest_path = fmt::format("s3://b/t/m{}.avro", lines_.size());
    files_->Put(written.line.manifest_path, std::move(written.bytes));
    if (random_.Below(3) == 0) Blur(written.line);
    lines_.push_back(std::move(written.line));
  }

  void WriteList() {
    MemorySink list(kList);
    (void)iceberg::fixture::Must(iceberg::WriteManifestList(list, metadata(), SnapshotId(77), std::nullopt,
                                                            SequenceNumber(9), 0, "null", lines_));
    files_->Put(kList, std::move(list.bytes()));
  }

  /// Opens are counted.
  observe::Facts Observe(const decide::PartitionSelection* selection, const service::PartitionKeys* keys, bool prunes) {
    opened_.clear();
    ports::HookedFileIO io(files_, [this](const ports::IoEvent& event) -> Status {
      if (event.operation == ports::IoOperation::kOpen && event.moment == ports::IoMoment::kBefore) {
        opened_.insert(event.location);
      }
      return Ok();
    });
    if (prunes) {
      service::AssessOptions options;
      options.selection = selection;
      options.keys = keys;
      options.check_duplicates = true;
      return iceberg::fixture::Must(service::Diagnose(table_, io, options, TimestampMs{5})).facts;
    }
    observe::ObserveOptions options;
    options.check_duplicates = true;
    options.partition_filter = [&](SpecId spec, const iceberg::PartitionTuple& tuple) {
      return (selection == nullptr || selection->Matches(spec, tuple)) &&
             (keys == nullptr || keys->Contains(spec, tuple));
    };
    return iceberg::fixture::Must(observe::Observe(table_, io, options, TimestampMs{5}));
  }
  std::size_t opened() const { return opened_.size(); }
  bool HasOpened(const std::string& path) const { return opened_.contains(path); }
  Random& random() { return random_; }
  std::shared_ptr<ports::MemoryFileIO> files() { return files_; }

 private:
  iceberg::ManifestEntry Entry(SpecId spec_id, const iceberg::PartitionTuple& tuple, bool deletes) {
    iceberg::DataFile file;
    file.file_path = fmt::format("s3://b/t/f{}", next_file_++);
    file.format_text = "PARQUET";
    file.spec_id = spec_id;
    file.partition = tuple;
    file.record_count = 10;
    file.file_size_bytes = 1000 + static_cast<std::int64_t>(random_.Below(1000));
    if (deletes) {
      file.content = random_.Below(2) == 0 ? FileContent::kEqualityDeletes : FileContent::kPositionDeletes;
      if (file.content == FileContent::kEqualityDeletes) file.equality_ids = {1};
      return iceberg::fixture::Added(std::move(file));
    }
    return iceberg::fixture::Carried(iceberg::EntryStatus::kExisting, std::move(file), 70,
                                     static_cast<std::int64_t>(random_.Below(9)) + 1);
  }

  /// What other writers do with summaries.
  void Blur(ManifestFile& line) {
    if (random_.Below(4) == 0) line.partitions.reset();
    if (!line.partitions) return;
    const auto types = iceberg::PartitionTypesIn(metadata(), *metadata().FindSpec(line.spec_id));
    for (std::size_t i = 0; i < line.partitions->size(); ++i) {
      FieldSummary& summary = (*line.partitions)[i];
      if (random_.Below(2) == 0) summary.contains_nan.reset();
      if (random_.Below(8) == 0) summary.contains_null = true;
      if (types[i].kind == TypeKind::kString && random_.Below(2) == 0) {
        if (summary.lower_bound) summary.lower_bound->resize(std::min<std::size_t>(summary.lower_bound->size(), 1));
        if (summary.upper_bound) summary.upper_bound->resize(std::min<std::size_t>(summary.upper_bound->size(), 1));
      }
      if (random_.Below(8) == 0 && summary.lower_bound) std::swap(summary.lower_bound, summary.upper_bound);
      if (random_.Below(8) == 0 && types[i].kind != TypeKind::kString) summary.upper_bound = Bytes(11);
      if (random_.Below(8) == 0 && types[i].kind == TypeKind::kDouble && summary.lower_bound) {
        summary.upper_bound = iceberg::EncodeBound(types[i], std::numeric_limits<double>::quiet_NaN());
      }
    }
    if (random_.Below(8) == 0) line.partitions->push_back({});
  }

  Random random_;
  ports::LoadedTable table_;
  std::shared_ptr<ports::MemoryFileIO> files_;
  std::vector<ManifestFile> lines_;
  std::set<std::string> opened_;
  int next_file_ = 0;
};

std::string TextOf(const observe::Facts& facts) {
  std::string text;
  for (const observe::PartitionFacts& p : facts.partitions) {
    text += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", p.spec_id.value, iceberg::TupleKey(p.tuple), p.text,
                        p.file_count, p.size_bytes, p.record_count, p.position_delete_files, p.equality_delete_files,
                        p.deletion_vectors, p.deleted_rows_max);
  }
  for (const observe::DataFileFacts& f : facts.files) {
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", f.manifest, f.ordinal, f.partition, f.flags, f.delete_files,
                        f.size_bytes, f.record_count, f.data_sequence_number, f.deleted_rows);
  }
  return text + fmt::format("{} {} {} {}", facts.position_delete_files, facts.equality_delete_files,
                            facts.deletion_vectors, facts.manifests.size());
}

std::string RandomTest(Random& random) {
  static const std::string kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
  static const std::string kTexts[] = {"''", "'a'", "'ab'", "'abc'", "'abz'", "'b'", "'\xc3\xa4'"};
  static const std::string kDoubles[] = {"-1.5", "0", "2.25", "7"};
  const auto number = static_cast<std::int32_t>(random.Below(23)) - 11;
  const auto literal = [&](int column) -> std::string {
    const auto other = static_cast<std::int32_t>(random.Below(23)) - 11;
    switch (column) {
      case 0: return std::to_string(number);
      case 1: return kTexts[random.Below(7)];
      case 2: return "'" + iceberg::ToText({.kind = TypeKind::kDate}, other * 20) + "'";
      default: return kDoubles[random.Below(4)];
    }
  };
  static const std::string kColumns[] = {"i", "s", "d", "f"};
  const auto column = static_cast<int>(random.Below(4));
  switch (random.Below(8)) {
    case 0: return kColumns[column] + " is null";
    case 1: return kColumns[column] + " is not null";
    case 2: return kColumns[column] + " in (" + literal(column) + ", " + literal(column) + ")";
    case 3: return kColumns[column] + " not in (" + literal(column) + ", " + literal(column) + ")";
    default: return kColumns[column] + " " + kSigns[random.Below(6)] + " " + literal(column);
  }
}

std::string RandomWhere(Random& random) {
  std::string where = RandomTest(random);
  for (std::uint64_t n = random.Below(3); n > 0; --n) {
    where = "(" + where + (random.Below(2) == 0 ? " and " : " or ") + RandomTest(random) + ")";
  }
  return (random.Below(4) == 0 ? "not " : "") + where;
}

Result<decide::PartitionSelection> RandomSelection(PruningWorld& world) {
  Random& random = world.random();
  std::vector<std::string> texts;
  if (random.Below(3) == 0) {
    for (std::uint64_t n = random.Below(3) + 1; n > 0; --n) {
      const SpecId spec_id(static_cast<std::int32_t>(random.Below(6)) + 1);
      std::string text = iceberg::PartitionText(*world.metadata().FindSpec(spec_id), world.metadata().current_schema(),
                                                world.Tuple(spec_id));
      // One field, or all of them.
      texts.push_back(random.Below(2) == 0 ? text : text.substr(0, text.find('/')));
    }
    if (random.Below(2) == 0) return decide::PartitionSelection::Make(nullptr, texts, world.table().metadata);
  }
  FIRN_ASSIGN(const decide::Where where, decide::ParseWhere(RandomWhere(random)));
  return decide::PartitionSelection::Make(&where, texts, world.table().metadata);
}

TEST(PartitionPruning, RandomTables_TheSameIsSelected) {
  std::size_t read_all = 0, read_pruned = 0, selected = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    PruningWorld world(seed);
    for (int m = 0; m < 14; ++m) {
      world.AddManifest(SpecId(static_cast<std::int32_t>(world.random().Below(7))), world.random().Below(3) == 0);
    }
    world.WriteList();
    for (int round = 0; round < 8; ++round) {
      const auto selection = RandomSelection(world);
      ASSERT_TRUE(selection.has_value()) << ToString(selection.error());
      service::PartitionKeys keys;
      for (std::uint64_t n = world.random().Below(6); n > 0; --n) {
        const SpecId spec_id(static_cast<std::int32_t>(world.random().Below(7)));
        keys.Add(orient::PartitionKeyOf(spec_id, world.Tuple(spec_id)));
      }
      const bool has_keys = world.random().Below(3) == 0;
      const observe::Facts all = world.Observe(&*selection, has_keys ? &keys : nullptr, false);
      read_all += world.opened();
      const observe::Facts pruned = world.Observe(&*selection, has_keys ? &keys : nullptr, true);
      read_pruned += world.opened();
      selected += all.files.size();
      ASSERT_EQ(TextOf(pruned), TextOf(all)) << "seed " << seed << " round " << round;
    }
  }
  EXPECT_GT(selected, 10'000U);
  EXPECT_LT(read_pruned, read_all * 6 / 10);
}

TEST(PartitionPruning, OneDay_OpensItsManifestsAlone) {
  PruningWorld world(1);
  for (int m = 0; m < 40; ++m) world.AddManifest(SpecId(m % 2 == 0 ? 1 : 3), m % 4 == 3);
  for (int m = 0; m < 3; ++m) world.AddManifest(SpecId(0), true);
  world.WriteList();
  const auto where = decide::ParseWhere("i = 4");
  const auto selection = decide::PartitionSelection::Make(&*where, {}, world.table().metadata);
  (void)world.Observe(&*selection, nullptr, true);
  for (const ManifestFile& line : world.lines()) {
    // Deletes of the spec without fields may reach everywhere; the spec by day says nothing of `i`.
    const auto ranges = iceberg::PartitionRangesOf(line, world.metadata());
    const bool may_hold = line.spec_id != SpecId(1) || ranges[0].MayHold(4);
    EXPECT_EQ(world.HasOpened(line.manifest_path), may_hold) << line.manifest_path;
  }
}

TEST(PartitionPruning, DeleteOfAnotherPartitionNamesAFile_TheFileStays) {
  World world(2);
  world.Fill(6, 3);
  std::vector<std::string> paths;
  const Result<Contents> before = world.table().ReadHead();
  ASSERT_TRUE(before.has_value());
  for (const auto& [path, live] : before->files) {
    if (std::get<std::int32_t>(live.file.partition.values.at(0)) == 1) paths.push_back(path);
  }
  ASSERT_EQ(paths.size(), 6U);
  ASSERT_TRUE(world.table().AddPositionDeleteIn(0, paths[2], 1));
  const std::vector<Row> rows = world.Rows();

  const auto where = decide::ParseWhere("part = 1");
  const auto selection = decide::PartitionSelection::Make(&*where, {}, world.table().Load()->metadata);
  ASSERT_TRUE(selection.has_value());
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::OptimizeOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.assess.selection = &*selection;
  const Result<service::Optimized> done =
      world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
  ASSERT_TRUE(done.has_value()) << ToString(done.error());

  const Result<Contents> after = world.table().ReadHead();
  ASSERT_TRUE(after.has_value());
  for (const std::string& path : paths) EXPECT_EQ(after->files.contains(path), path == paths[2]) << path;
  EXPECT_EQ(world.Rows(), rows);
}

}  // namespace
}  // namespace firn::sim
