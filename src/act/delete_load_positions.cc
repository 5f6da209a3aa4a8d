// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load_positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "format/parquet/nesting.h"
#include "iceberg/deletion_vector.h"

namespace firn::act {
namespace {

/// What a path costs in the map besides its text and positions.
constexpr std::size_t kPathBytes = 128;
/// Positions between two looks at the memory that they take.
constexpr std::int64_t kCheckEvery = 1 << 20;

parquet::SchemaElement Wanted(parquet::PhysicalType type, parquet::LogicalKind kind) {
  parquet::SchemaElement element;
  element.type = type;
  element.logical.kind = kind;
  return element;
}

/// The top-level column with the id, or with the name if the file has no ids at all.
Result<std::int32_t> ColumnOf(const parquet::FileMetaData& footer, FieldId id, std::string_view name) {
  const bool by_name = std::none_of(footer.schema.begin() + 1, footer.schema.end(),
                                    [](const parquet::SchemaElement& element) { return element.field_id.has_value(); });
  FIRN_ASSIGN(const std::vector<parquet::NestNode> fields, parquet::NestingOf(footer.schema));
  for (const parquet::NestNode& node : fields) {
    const parquet::SchemaElement& element = footer.schema[static_cast<std::size_t>(node.schema_index)];
    if (node.kind != parquet::NestKind::kPrimitive) continue;
    if (by_name ? element.name == name : element.field_id == id) return node.leaf;
  }
  return Error{Code::kCorrupt, fmt::format("no position delete file: it has no column `{}`", name)};
}

/// Whether a row group may name one of the paths, which are sorted.
bool MayName(const parquet::FileMetaData& footer, const parquet::RowGroup& group, std::size_t leaf,
             const std::vector<std::string_view>& paths) {
  const auto& meta = group.columns[leaf].meta;
  if (!meta || !meta->statistics || !meta->statistics->min_value || !meta->statistics->max_value) return true;
  if (leaf >= footer.column_orders.size() || footer.column_orders[leaf] != parquet::ColumnOrder::kTypeDefined) {
    return true;
  }
  const std::string_view lowest = AsText(*meta->statistics->min_value), highest = AsText(*meta->statistics->max_value);
  if (lowest > highest) return true;
  const auto first = std::ranges::lower_bound(paths, lowest);
  // A bound that was cut is a prefix of paths that it should cover.
  return first != paths.end() && (*first <= highest || first->starts_with(highest));
}

/// Collects the paths that rows name.
class PathCollector {
 public:
  explicit PathCollector(const iceberg::DataFile& file) : file_(file) {}

  void Add(std::string_view path) {
    const std::uint64_t key = PathKey(path);
    if (!all_.insert(key).second || iceberg::EntryAllows(file_, path)) return;
    keys_.excluded.push_back(key);
    if (keys_.example.empty()) keys_.example = path;
  }
  PathKeys Take(bool is_complete) {
    keys_.is_complete = is_complete;
    keys_.all.assign(all_.begin(), all_.end());
    std::ranges::sort(keys_.all);
    std::ranges::sort(keys_.excluded);
    return std::move(keys_);
  }

 private:
  const iceberg::DataFile& file_;
  std::unordered_set<std::uint64_t> all_;
  PathKeys keys_;
};

class PositionLoader {
 public:
  PositionLoader(const DeleteLoadContext& context, const iceberg::DataFile& file,
                 const std::vector<std::string_view>* wanted, bool whole, std::size_t memory_bytes)
      : context_(context),
        file_(file),
        wanted_(wanted),
        whole_(whole || wanted == nullptr),
        memory_bytes_(memory_bytes),
        collector_(file) {}

  Result<PositionDeletes> Run() {
    FIRN_ASSIGN(const auto opened, OpenForScan(context_, file_));
    const parquet::FileMetaData& footer = opened->footer();
    FIRN_ASSIGN(const std::int32_t path_leaf, ColumnOf(footer, kDeletePathField, "file_path"));
    FIRN_ASSIGN(const std::int32_t pos_leaf, ColumnOf(footer, kDeletePosField, "pos"));
    splice::ScanOptions options;
    options.memory_bytes = ScanMemoryBytes(context_);
    if (!whole_) {
      options.wants_row_group = [&](const parquet::RowGroup& group) {
        return MayName(footer, group, static_cast<std::size_t>(path_leaf), *wanted_);
      };
    }
    const auto path = Wanted(parquet::PhysicalType::kByteArray, parquet::LogicalKind::kString);
    const auto pos = Wanted(parquet::PhysicalType::kInt64, parquet::LogicalKind::kNone);
    FIRN_ASSIGN(const auto scan,
                splice::ColumnScan::Open(*opened, {{path_leaf, path, std::nullopt}, {pos_leaf, pos, std::nullopt}},
                                         std::move(options)));
    while (true) {
      FIRN_TRY(CheckGoesOn(context_));
      FIRN_ASSIGN(const std::size_t rows, scan->Next());
      if (rows == 0) break;
      FIRN_TRY(Take(*scan, rows));
    }
    for (auto& [unused, positions] : deletes_.by_path) positions.Compact();
    deletes_.keys = collector_.Take(whole_);
    return std::move(deletes_);
  }

 private:
  Status Take(const splice::ColumnScan& scan, std::size_t rows) {
    const splice::ScanColumn &paths = scan.column(0), &positions = scan.column(1);
    if (paths.has_nulls() || positions.has_nulls()) return Error{Code::kCorrupt, "a path or position is null"};
    roaring::PositionSet* set = nullptr;
    for (std::size_t row = 0; row < rows; ++row) {
      if (row == 0 || paths.slices()[row] != paths.slices()[row - 1]) set = SetOf(AsText(paths.bytes(row)));
      if (set == nullptr) continue;
      const auto position = LoadLittle<std::int64_t>(positions.fixed() + row * sizeof(std::int64_t));
      if (position < 0) return Error{Code::kCorrupt, "a position is negative"};
      set->Add(position);
    }
    unchecked_ += static_cast<std::int64_t>(rows);
    if (wanted_ != nullptr || unchecked_ < kCheckEvery) return Ok();
    unchecked_ = 0;
    if (deletes_.memory_bytes() <= memory_bytes_) return Ok();
    return Error{Code::kLimit, "its positions do not fit in memory"};
  }

  /// Where the positions of a path belong; null if nobody wants them.
  roaring::PositionSet* SetOf(std::string_view path) {
    if (last_set_ != nullptr && path == last_path_) return last_set_;
    collector_.Add(path);
    if (wanted_ != nullptr && !std::ranges::binary_search(*wanted_, path)) return nullptr;
    auto found = deletes_.by_path.find(path);
    if (found == deletes_.by_path.end()) found = deletes_.by_path.emplace(path, roaring::PositionSet()).first;
    last_path_ = found->first;
    last_set_ = &found->second;
    return last_set_;
  }

  const DeleteLoadContext& context_;
  const iceberg::DataFile& file_;
  const std::vector<std::string_view>* wanted_;
  bool whole_;
  std::size_t memory_bytes_;
  PathCollector collector_;
  PositionDeletes deletes_;
  std::string_view last_path_;
  roaring::PositionSet* last_set_ = nullptr;
  std::int64_t unchecked_ = 0;
};

Error BadVector(const iceberg::DataFile& vector, std::string_view text) {
  return {Code::kCorrupt, fmt::format("{}: deletion vector: {}", vector.file_path, text)};
}

}  // namespace

std::uint64_t PathKey(std::string_view path) { return std::hash<std::string_view>{}(path); }

std::size_t PositionDeletes::memory_bytes() const {
  std::size_t bytes = (keys.all.size() + keys.excluded.size()) * sizeof(std::uint64_t);
  for (const auto& [path, positions] : by_path) bytes += kPathBytes + path.size() + positions.memory_bytes();
  return bytes;
}

const roaring::PositionSet* PositionDeletes::Find(std::string_view path) const {
  const auto found = by_path.find(path);
  return found == by_path.end() ? nullptr : &found->second;
}

Result<PositionDeletes> LoadPositionDeletes(const DeleteLoadContext& context, const iceberg::DataFile& delete_file,
                                            std::int64_t memory_bytes) {
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0));
  FIRN_ASSIGN(PositionDeletes deletes,
              PositionLoader(context, delete_file, nullptr, true, limit).Run().In(delete_file.file_path));
  if (deletes.memory_bytes() <= limit) return deletes;
  return Error{Code::kLimit, delete_file.file_path + ": its positions do not fit in memory"};
}

Result<PositionDeletes> LoadPositionDeletes(const DeleteLoadContext& context, const iceberg::DataFile& delete_file,
                                            std::vector<std::string_view> wanted, bool whole) {
  std::ranges::sort(wanted);
  return PositionLoader(context, delete_file, &wanted, whole, 0).Run().In(delete_file.file_path);
}

Result<PathKeys> LoadPathKeys(const DeleteLoadContext& context, const iceberg::DataFile& delete_file) {
  const auto load = [&]() -> Result<PathKeys> {
    FIRN_ASSIGN(const auto opened, OpenForScan(context, delete_file));
    FIRN_ASSIGN(const std::int32_t leaf, ColumnOf(opened->footer(), kDeletePathField, "file_path"));
    splice::ScanOptions options;
    options.memory_bytes = ScanMemoryBytes(context);
    const auto path = Wanted(parquet::PhysicalType::kByteArray, parquet::LogicalKind::kString);
    FIRN_ASSIGN(const auto scan, splice::ColumnScan::Open(*opened, {{leaf, path, std::nullopt}}, std::move(options)));
    PathCollector collector(delete_file);
    while (true) {
      FIRN_TRY(CheckGoesOn(context));
      FIRN_ASSIGN(const std::size_t rows, scan->Next());
      if (rows == 0) return collector.Take(true);
      const splice::ScanColumn& paths = scan->column(0);
      if (paths.has_nulls()) return Error{Code::kCorrupt, "a path is null"};
      for (std::size_t row = 0; row < rows; ++row) {
        if (row == 0 || paths.slices()[row] != paths.slices()[row - 1]) collector.Add(AsText(paths.bytes(row)));
      }
    }
  };
  return load().In(delete_file.file_path);
}

Result<roaring::PositionSet> LoadDeletionVector(const DeleteLoadContext& context, const iceberg::DataFile& vector,
                                                const std::string& data_file_path) {
  if (vector.referenced_data_file != data_file_path) {
    return BadVector(vector, "its data file is not " + data_file_path);
  }
  if (!vector.content_offset || !vector.content_size_bytes || *vector.content_offset < 0 ||
      *vector.content_size_bytes < 0) {
    return BadVector(vector, "its entry does not say where it is");
  }
  if (vector.key_metadata) return Error{Code::kUnsupported, vector.file_path + ": the file is encrypted"};
  FIRN_ASSIGN(const auto source, context.io.Open(vector.file_path, static_cast<std::uint64_t>(vector.file_size_bytes)));
  const auto offset = static_cast<std::uint64_t>(*vector.content_offset);
  const auto size = static_cast<std::uint64_t>(*vector.content_size_bytes);
  if (offset > source->size() || size > source->size() - offset) return BadVector(vector, "it ends behind its file");
  if (size > static_cast<std::uint64_t>(std::max<std::int64_t>(context.memory_bytes, 0))) {
    return Error{Code::kLimit, fmt::format("{}: a deletion vector of {} bytes", vector.file_path, size)};
  }
  Bytes blob(size);
  FIRN_TRY(source->ReadAt(offset, blob));
  FIRN_ASSIGN(roaring::PositionSet positions, iceberg::DecodeDeletionVector(blob).In(vector.file_path));
  if (positions.cardinality() != vector.record_count) {
    return BadVector(
        vector, fmt::format("it holds {} positions, its entry says {}", positions.cardinality(), vector.record_count));
  }
  return positions;
}

}  // namespace firn::act
