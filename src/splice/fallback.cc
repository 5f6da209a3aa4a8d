// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "format/parquet/footer.h"
#include "format/parquet/nesting.h"
#include "splice/fallback_arrow.h"
#include "splice/fallback_levels.h"
#include "splice/fallback_values.h"

namespace firn::splice {

namespace {

using parquet::NestNode;
using parquet::NestPath;
using parquet::SchemaElement;

constexpr std::size_t kBatchLevels = 16 << 10;

/// How one output leaf is made.
struct LeafPlan {
  std::int32_t output_leaf = 0;
  std::string name;
  /// The input leaf whose levels are read; absent: the input has nothing of the whole field, one entry a row.
  std::optional<std::int32_t> level_leaf;
  bool has_values = false;  // of level_leaf, to be converted
  LevelTable levels;
  std::int16_t value_level = 0;     // output definition level of a value
  std::int16_t repetition_max = 0;  // of the output
  std::optional<ValueConverter> converter;
  std::optional<ConstantValues> constant;
};

struct Side {
  const std::vector<SchemaElement>* schema = nullptr;
  std::vector<NestNode> fields;
  std::vector<NestPath> paths;

  const SchemaElement& LeafElement(std::size_t leaf) const {
    return (*schema)[static_cast<std::size_t>(paths[leaf].back()->schema_index)];
  }
  std::string Name(std::size_t leaf) const {
    std::string name;
    for (const NestNode* node : paths[leaf]) {
      name += (name.empty() ? "" : ".") + (*schema)[static_cast<std::size_t>(node->schema_index)].name;
    }
    return name;
  }
};

Result<Side> SideOf(const std::vector<SchemaElement>& schema) {
  Side side;
  side.schema = &schema;
  FIRN_ASSIGN(side.fields, parquet::NestingOf(schema));
  side.paths = parquet::LeafPaths(side.fields);
  return side;
}

class FallbackPlan {
 public:
  FallbackPlan(const Side& input, const Side& output, const std::vector<ColumnSource>& columns)
      : input_(input), output_(output), columns_(columns) {}

  Result<LeafPlan> Plan(std::size_t leaf) const {
    LeafPlan plan;
    plan.output_leaf = static_cast<std::int32_t>(leaf);
    plan.name = output_.Name(leaf);
    plan.value_level = output_.paths[leaf].back()->present_level;
    plan.repetition_max = output_.paths[leaf].back()->repetition_level;
    const std::optional<std::size_t> from = InputLeaf(leaf);
    Status planned = from ? PlanPresent(leaf, *from, plan) : PlanMissing(leaf, plan);
    if (!planned) return std::move(planned.error()).In("column " + plan.name);
    return plan;
  }

 private:
  std::optional<std::size_t> InputLeaf(std::size_t leaf) const {
    if (columns_.empty()) return leaf;
    if (columns_[leaf].kind == ColumnSource::Kind::kConstant || columns_[leaf].leaf < 0) return std::nullopt;
    return static_cast<std::size_t>(columns_[leaf].leaf);
  }

  Status PlanPresent(std::size_t leaf, std::size_t from, LeafPlan& plan) const {
    if (from >= input_.paths.size()) {
      return Error{Code::kInvalidArgument, "the input has no leaf " + std::to_string(from)};
    }
    plan.level_leaf = static_cast<std::int32_t>(from);
    plan.has_values = true;
    FIRN_ASSIGN(plan.levels, TranslateLevels(input_.paths[from], output_.paths[leaf]));
    FIRN_ASSIGN(plan.converter, ValueConverter::Make(input_.LeafElement(from), output_.LeafElement(leaf)));
    return Ok();
  }

  /// The output leaf of the same field, present in the input, that shares most of the way from the root.
  std::optional<std::size_t> NearestSibling(std::size_t leaf) const {
    std::optional<std::size_t> nearest;
    std::size_t steps = 0;
    for (std::size_t other = 0; other < output_.paths.size(); ++other) {
      const std::size_t common = CommonSteps(output_.paths[leaf], output_.paths[other]);
      if (common <= steps || !InputLeaf(other)) continue;
      steps = common;
      nearest = other;
    }
    return nearest;
  }

  Status PlanMissing(std::size_t leaf, LeafPlan& plan) const {
    const std::optional<Bytes>& constant = columns_[leaf].constant;
    if (constant) {
      FIRN_ASSIGN(plan.constant, ConstantValues::Make(output_.LeafElement(leaf), *constant, kBatchLevels));
    }
    const std::optional<std::size_t> sibling = NearestSibling(leaf);
    if (!sibling) {
      const bool nullable = output_.paths[leaf].front()->present_level > 0;
      if (!constant && !nullable) return Error{Code::kUnsupported, "it is required and not in the file"};
      plan.levels.definition = {constant ? plan.value_level : std::int16_t{0}};
      return Ok();
    }
    const std::size_t from = *InputLeaf(*sibling);
    if (from >= input_.paths.size()) {
      return Error{Code::kInvalidArgument, "the input has no leaf " + std::to_string(from)};
    }
    plan.level_leaf = static_cast<std::int32_t>(from);
    FIRN_ASSIGN(plan.levels, LevelsOfMissing(input_.paths[from], output_.paths[*sibling], output_.paths[leaf],
                                             constant.has_value()));
    return Ok();
  }

  const Side& input_;
  const Side& output_;
  const std::vector<ColumnSource>& columns_;
};

/// Moves one leaf of one row group at a time from the decoded file to the encoded one.
class LeafMover {
 public:
  LeafMover(DecodedFile& in, EncodedFile& out)
      : in_(in), out_(out), definition_(kBatchLevels), repetition_(kBatchLevels) {}

  Status Move(LeafPlan& plan, int row_group, std::int64_t rows) {
    FIRN_TRY(out_.BeginLeaf());
    if (!plan.level_leaf) return WriteRows(plan, rows);
    FIRN_ASSIGN(std::unique_ptr<LeafReader> reader, in_.Leaf(row_group, *plan.level_leaf, kBatchLevels));
    std::int64_t rows_done = 0;
    while (true) {
      std::fill(definition_.begin(), definition_.end(), std::int16_t{0});
      std::fill(repetition_.begin(), repetition_.end(), std::int16_t{0});
      FIRN_ASSIGN(const std::size_t count, reader->Read(definition_, repetition_));
      if (count == 0) break;
      if (rows_done == 0 && repetition_[0] != 0) {
        return Error{Code::kCorrupt, "its first entry goes on a row that is not there"};
      }
      FIRN_ASSIGN(const std::size_t kept, Translate(plan, count));
      rows_done += rows_;
      if (kept > 0) FIRN_TRY(WriteBatch(plan, *reader, kept));
    }
    if (rows_done == rows) return Ok();
    return Error{Code::kCorrupt,
                 std::to_string(rows_done) + " rows in its pages, " + std::to_string(rows) + " in the row group"};
  }

 private:
  /// Translates `count` levels in place and returns how many are left; counts rows_ and values_.
  Result<std::size_t> Translate(const LeafPlan& plan, std::size_t count) {
    std::size_t kept = 0;
    rows_ = 0;
    values_ = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int16_t repetition = repetition_[i];
      const auto level = static_cast<std::size_t>(definition_[i]);
      if (repetition == 0) ++rows_;
      if (repetition > plan.levels.repetition_max) continue;
      if (level >= plan.levels.definition.size()) return Error{Code::kCorrupt, "a definition level is too high"};
      const std::int16_t translated = plan.levels.definition[level];
      if (translated == LevelTable::kForbidden) {
        return Error{Code::kCorrupt, "it is null where it must not be"};
      }
      if (translated == plan.value_level) ++values_;
      definition_[kept] = translated;
      repetition_[kept++] = repetition;
    }
    return kept;
  }

  Status WriteBatch(LeafPlan& plan, const LeafReader& reader, std::size_t kept) {
    const void* values = nullptr;
    if (plan.has_values) {
      if (values_ != reader.value_count()) return Error{Code::kCorrupt, "values and levels do not agree"};
      FIRN_ASSIGN(values, plan.converter->Convert(reader.values(), values_));
    } else if (plan.constant) {
      values = plan.constant->values();
    }
    return out_.Write(std::span(definition_).first(kept), std::span(repetition_).first(kept), values);
  }

  Status WriteRows(const LeafPlan& plan, std::int64_t rows) {
    std::fill(definition_.begin(), definition_.end(), plan.levels.definition[0]);
    std::fill(repetition_.begin(), repetition_.end(), std::int16_t{0});
    const void* const values = plan.constant ? plan.constant->values() : nullptr;
    while (rows > 0) {
      const std::size_t count = static_cast<std::size_t>(std::min<std::int64_t>(rows, kBatchLevels));
      FIRN_TRY(out_.Write(std::span(definition_).first(count), std::span(repetition_).first(count), values));
      rows -= static_cast<std::int64_t>(count);
    }
    return Ok();
  }

  DecodedFile& in_;
  EncodedFile& out_;
  std::vector<std::int16_t> definition_, repetition_;
  std::int64_t rows_ = 0;
  std::size_t values_ = 0;
};

/// The leaves below the asked-for fields, in order, and a schema with just those fields.
struct Selection {
  std::vector<std::size_t> leaves;
  std::vector<SchemaElement> schema;
};

Result<Selection> Select(const Side& output, const std::vector<std::int32_t>& wanted) {
  Selection selection;
  SchemaElement root = (*output.schema)[0];
  root.num_children = static_cast<std::int32_t>(wanted.size());
  selection.schema.push_back(std::move(root));
  const std::set<std::int32_t> ordered(wanted.begin(), wanted.end());
  if (wanted.empty() || ordered.size() != wanted.size() || *ordered.begin() < 0 ||
      static_cast<std::size_t>(*ordered.rbegin()) >= output.fields.size()) {
    return Error{Code::kInvalidArgument, "the fields to decode are not fields of the output"};
  }
  for (const std::int32_t index : ordered) {
    const NestNode& field = output.fields[static_cast<std::size_t>(index)];
    const auto begin = static_cast<std::size_t>(field.schema_index);
    const auto next = static_cast<std::size_t>(index) + 1;
    const std::size_t end = next < output.fields.size() ? static_cast<std::size_t>(output.fields[next].schema_index)
                                                        : output.schema->size();
    for (std::size_t i = begin; i < end; ++i) selection.schema.push_back((*output.schema)[i]);
    for (std::size_t leaf = 0; leaf < output.paths.size(); ++leaf) {
      if (output.paths[leaf].front() == &field) selection.leaves.push_back(leaf);
    }
  }
  return selection;
}

/// Whether all data pages of the leaf are dictionary-encoded everywhere, as far as the footer tells.
bool UsesDictionary(const parquet::FileMetaData& footer, std::int32_t leaf) {
  using parquet::Encoding;
  using parquet::PageType;
  const auto is_dictionary = [](Encoding encoding) {
    return encoding == Encoding::kPlainDictionary || encoding == Encoding::kRleDictionary;
  };
  for (const parquet::RowGroup& group : footer.row_groups) {
    const auto& meta = group.columns[static_cast<std::size_t>(leaf)].meta;
    if (!meta || !std::ranges::any_of(meta->encodings, is_dictionary)) return false;
    for (const parquet::PageEncodingStats& stats : meta->encoding_stats) {
      const bool data = stats.page_type == PageType::kData || stats.page_type == PageType::kDataV2;
      if (data && stats.count > 0 && !is_dictionary(stats.encoding)) return false;
    }
  }
  return !footer.row_groups.empty();
}

Status CheckReadable(const parquet::FileMetaData& footer) {
  if (footer.encrypted) return Error{Code::kUnsupported, "columns are encrypted"};
  for (const parquet::RowGroup& group : footer.row_groups) {
    for (const parquet::ColumnChunk& chunk : group.columns) {
      if (chunk.encrypted || !chunk.meta) return Error{Code::kUnsupported, "columns are encrypted"};
    }
  }
  return Ok();
}

Result<FallbackResult> Decode(RandomAccessSource& input, const FallbackRequest& request,
                              const parquet::FileMetaData& footer) {
  FIRN_TRY(CheckReadable(footer));
  FIRN_ASSIGN(const Side in_side, SideOf(footer.schema));
  FIRN_ASSIGN(const Side out_side, SideOf(*request.output_schema));
  FIRN_ASSIGN(const Selection selection, Select(out_side, request.output_fields));
  const FallbackPlan planner(in_side, out_side, *request.columns);
  FallbackResult result;
  EncodedFileOptions options;
  options.codec = request.codec;
  options.memory_bytes = request.memory_bytes;
  std::vector<LeafPlan> plans;
  for (const std::size_t leaf : selection.leaves) {
    FIRN_ASSIGN(LeafPlan plan, planner.Plan(leaf));
    const bool dictionary = plan.has_values ? UsesDictionary(footer, *plan.level_leaf) : plan.constant.has_value();
    if (dictionary) options.dictionary_leaves.insert(static_cast<std::int32_t>(plans.size()));
    plans.push_back(std::move(plan));
    result.output_leaves.push_back(static_cast<std::int32_t>(leaf));
  }
  FIRN_ASSIGN(std::unique_ptr<DecodedFile> decoded, DecodedFile::Open(input, request.memory_bytes));
  FIRN_ASSIGN(std::unique_ptr<EncodedFile> encoded, EncodedFile::Open(selection.schema, options));
  LeafMover mover(*decoded, *encoded);
  for (std::size_t group = 0; group < footer.row_groups.size(); ++group) {
    const std::int64_t rows = footer.row_groups[group].num_rows;
    if (rows == 0) continue;
    FIRN_TRY(encoded->BeginRowGroup());
    for (LeafPlan& plan : plans) {
      if (Status moved = mover.Move(plan, static_cast<int>(group), rows); !moved) {
        return std::move(moved.error()).In("column " + plan.name);
      }
    }
  }
  FIRN_ASSIGN(result.file, encoded->Finish());
  return result;
}

}  // namespace

Result<FallbackResult> DecodeThroughArrow(RandomAccessSource& input, const FallbackRequest& request) {
  const std::size_t leaves = parquet::LeavesOf(*request.output_schema).size();
  if (!request.columns->empty() && request.columns->size() != leaves) {
    return Error{Code::kInvalidArgument, "columns are not one an output leaf"};
  }
  FIRN_ASSIGN(const parquet::FileMetaData footer, parquet::ReadFooter(input));
  return Decode(input, request, footer).In(input.name());
}

}  // namespace firn::splice
