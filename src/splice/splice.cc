// SPDX-License-Identifier: Apache-2.0
#include "splice/splice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/range_copies.h"
#include "format/parquet/footer.h"
#include "format/parquet/promotion.h"
#include "splice/arrow_schema.h"
#include "splice/bloom_output.h"
#include "splice/column_name.h"
#include "splice/input_queue.h"
#include "splice/memory_limits.h"
#include "splice/output_tail.h"
#include "splice/row_group_merge.h"
#include "splice/row_group_plan.h"

namespace firn::splice {

namespace {

using parquet::Codec;

constexpr std::string_view kMagic = "PAR1";
constexpr int kReaders = 2;
constexpr std::size_t kNotesMax = 32;
constexpr std::size_t kRowGroupsMax = std::numeric_limits<std::int16_t>::max();

bool SameElement(const parquet::SchemaElement& a, const parquet::SchemaElement& b) {
  return a.type == b.type && a.type_length == b.type_length && a.repetition == b.repetition && a.name == b.name &&
         a.num_children == b.num_children && a.converted_type == b.converted_type && a.scale == b.scale &&
         a.precision == b.precision && a.logical == b.logical;
}

bool SameSource(const ColumnSource& a, const ColumnSource& b) {
  return a.kind == b.kind && a.leaf == b.leaf && a.constant == b.constant;
}

Status CheckOptions(const std::vector<Input>& inputs, const Options& options) {
  const auto invalid = [](const char* what) { return Error{Code::kInvalidArgument, what}; };
  if (inputs.empty()) return invalid("no inputs");
  if (options.row_group_row_count_max < 1 || options.row_group_size_bytes < 1) return invalid("empty row groups");
  if (options.page_size_bytes < 1024 || options.page_size_bytes > (std::int64_t{1} << 30)) return invalid("page size");
  if (options.page_row_count_max && *options.page_row_count_max < 1) return invalid("pages of no rows");
  if (options.dictionary_size_bytes < 0) return invalid("negative dictionary size");
  if (options.memory_bytes < (std::int64_t{1} << 20)) return invalid("less than 1 MiB of memory");
  return Ok();
}

/// The codec of most bytes; one that may still be written.
Codec ChooseCodec(const RowGroupPlan& plan) {
  std::map<Codec, std::int64_t> bytes;
  for (const PlannedSource& source : plan.sources) {
    for (const std::int32_t leaf : source.routes->leaves) {
      const parquet::ColumnMetaData& meta = source.group->chunk(static_cast<std::size_t>(leaf));
      bytes[meta.codec] += meta.total_compressed_size;
    }
  }
  Codec most = Codec::kZstd;
  std::int64_t most_bytes = 0;
  for (const auto& [codec, count] : bytes) {
    if (count > most_bytes) most = codec, most_bytes = count;
  }
  if (most == Codec::kLz4) return Codec::kLz4Raw;
  return most == Codec::kLzo || static_cast<int>(most) > static_cast<int>(Codec::kLz4Raw) ? Codec::kZstd : most;
}

class Splicer {
 public:
  Splicer(const std::vector<Input>& inputs, const Options& options, ByteSink& sink)
      : inputs_(inputs),
        options_(options),
        sink_(sink),
        limits_(MemoryLimits::Of(options)),
        planner_({options.row_group_row_count_max, options.row_group_size_bytes, limits_.source_bytes}) {}

  Result<Report> Run() {
    FIRN_TRY(CheckOptions(inputs_, options_));
    for (const Input& input : inputs_) {
      if (input.source == nullptr) return Error{Code::kInvalidArgument, "an input without a source"};
      report_.input_bytes += static_cast<std::int64_t>(input.source->size());
    }
    if (sink_.position() != 0) return Error{Code::kInvalidArgument, sink_.name() + ": the sink is not empty"};
    FIRN_TRY(sink_.Write(AsBytes(kMagic)));
    const int readers = options_.readers > 0 ? options_.readers : options_.threads > 1 ? kReaders : 0;
    InputQueue queue(inputs_, static_cast<std::size_t>(readers), limits_, options_.range_copies);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Result<std::shared_ptr<InputFile>> file = queue.Next();
      Status accepted = file ? Accept(i, **file) : Status(std::move(file.error()));
      if (accepted) {
        FIRN_TRY(AddInput(std::move(*file)));
      } else if (!options_.leave_out || !options_.leave_out(i, accepted.error())) {
        return std::move(accepted.error());
      } else {
        report_.input_row_bases.push_back(report_.rows);
      }
    }
    if (!planner_.empty()) FIRN_TRY(WriteRowGroup());
    FIRN_TRY(WriteTail());
    bloom_losses_.Report(columns_, report_.notes);
    return std::move(report_);
  }

 private:
  /// Checks an input and finds its columns.
  Status Accept(std::size_t index, const InputFile& file) {
    const Input& input = inputs_[index];
    const parquet::FileMetaData& footer = file.footer();
    if (Status good = arrow_schemas_.Check(footer); !good) return file.Corrupt(file.data_end(), good.error().message);
    if (input.expected_rows && *input.expected_rows != footer.num_rows) {
      return Error{Code::kCorrupt, file.name() + ": " + std::to_string(footer.num_rows) + " rows, not the expected " +
                                       std::to_string(*input.expected_rows)};
    }
    if (options_.resolve) {
      FIRN_ASSIGN(InputContent content, options_.resolve(index, footer));
      SetColumns(content.columns);
      deleted_rows_ = std::move(content.deleted_rows);
    } else {
      SetColumns(input.columns);
      deleted_rows_ = input.deleted_rows;
    }
    return Ok();
  }

  /// Inputs mostly come with the columns of the one before.
  void SetColumns(const std::vector<ColumnSource>& columns) {
    const auto same = [](const ColumnSource& a, const ColumnSource& b) {
      return SameSource(a, b) && a.number == b.number;
    };
    if (columns_of_input_ != nullptr && std::ranges::equal(columns, *columns_of_input_, same)) return;
    columns_of_input_ = std::make_shared<const std::vector<ColumnSource>>(columns);
  }

  Status AddInput(std::shared_ptr<InputFile> file) {
    const parquet::FileMetaData& footer = file->footer();
    if (columns_.empty()) FIRN_TRY(OpenSchema(footer).In(file->name()));
    FIRN_TRY(FindRoutes(footer.schema).In(file->name()));
    version_ = std::max(version_, std::min(footer.version, 2));
    FIRN_TRY(CheckNumbers(footer.num_rows).In(file->name()));
    report_.input_row_bases.push_back(report_.rows);
    std::int64_t first_row = 0;
    for (std::size_t i = 0; i < footer.row_groups.size(); ++i) {
      PlannedSource source{std::make_shared<SourceGroup>(file, i), routes_, columns_of_input_, first_row};
      first_row += source.rows_in();
      if (deleted_rows_ != nullptr) {
        FIRN_ASSIGN(source.filter,
                    RowFilter::Make(*deleted_rows_, source.first_row, source.rows_in(), limits_.total_bytes / 8)
                        .In(file->name()));
      }
      report_.deleted_rows += source.rows_in() - source.rows();
      if (source.rows() == 0) continue;
      report_.rows += source.rows();
      if (planner_.Ends(source)) FIRN_TRY(WriteRowGroup());
      planner_.Add(std::move(source));
    }
    return Ok();
  }

  /// Row ids must not wrap around.
  Status CheckNumbers(std::int64_t rows) const {
    for (const ColumnSource& source : *columns_of_input_) {
      if (!source.number) continue;
      const bool counts = source.kind == ColumnSource::Kind::kRowId;
      if (*source.number < 0 || (counts && *source.number > std::numeric_limits<std::int64_t>::max() - rows)) {
        return Error{Code::kInvalidArgument, "impossible row lineage: " + std::to_string(*source.number)};
      }
    }
    return Ok();
  }

  Status OpenSchema(const parquet::FileMetaData& first) {
    schema_ = options_.schema.empty() ? first.schema : options_.schema;
    FIRN_ASSIGN(columns_, ColumnsOf(schema_));
    report_.column_compressed_bytes.resize(columns_.size());
    return Ok();
  }

  /// Inputs mostly come with the schema of the one before.
  Status FindRoutes(const std::vector<parquet::SchemaElement>& schema) {
    if (routes_ != nullptr && std::ranges::equal(schema, routed_schema_, SameElement) &&
        std::ranges::equal(*columns_of_input_, *routed_columns_, SameSource)) {
      return Ok();
    }
    FIRN_ASSIGN(const std::vector<OutputColumn> from, ColumnsOf(schema));
    if (options_.schema.empty() && columns_of_input_->empty()) WidenSchema(from);
    auto routes = std::make_shared<InputRoutes>();
    FIRN_ASSIGN(routes->columns, MatchSchema(columns_, from, *columns_of_input_));
    std::set<std::int32_t> decoded_fields;
    for (const OutputColumn& column : columns_) {
      const ColumnRoute& route = routes->columns[static_cast<std::size_t>(column.index)];
      if (route.leaf >= 0) routes->leaves.push_back(route.leaf);
      if (route.kind == ColumnRoute::Kind::kDecode) decoded_fields.insert(column.top_field);
    }
    for (const OutputColumn& column : columns_) {
      const std::int32_t leaf = routes->columns[static_cast<std::size_t>(column.index)].leaf;
      if (leaf >= 0 && decoded_fields.contains(column.top_field)) routes->decoded.push_back(leaf);
    }
    std::ranges::sort(routes->leaves);
    routes->leaves.erase(std::ranges::unique(routes->leaves).begin(), routes->leaves.end());
    routes_ = std::move(routes);
    routed_schema_ = schema;
    routed_columns_ = columns_of_input_;
    return Ok();
  }

  /// Without a wanted schema the output promises of its values what all inputs promise. Parts of a variant mean
  /// something only together and are left to MatchSchema.
  void WidenSchema(const std::vector<OutputColumn>& from) {
    if (from.size() != columns_.size()) return;
    std::vector<parquet::Leaf> leaves;
    for (OutputColumn& column : columns_) {
      if (column.in_variant) continue;
      const auto leaf = static_cast<std::size_t>(column.index);
      const parquet::SchemaElement before = column.element, &theirs = from[leaf].element;
      if (parquet::WidenAnnotation(column.element, theirs)) {
        if (leaves.empty()) leaves = parquet::LeavesOf(schema_);
        parquet::SchemaElement& element = schema_[static_cast<std::size_t>(leaves[leaf].schema_index)];
        element.logical = column.element.logical;
        element.converted_type = column.element.converted_type;
      } else if (parquet::SchemaElement lost = theirs; !parquet::WidenAnnotation(lost, before)) {
        continue;
      }
      NoteAnnotation(column, before, theirs);
    }
  }

  void NoteAnnotation(const OutputColumn& column, const parquet::SchemaElement& one,
                      const parquet::SchemaElement& other) {
    const bool first = parquet::TypeText(one) < parquet::TypeText(other);  // the same note in whichever order
    std::string note = "column " + PathName(column) + " is " + parquet::TypeText(first ? one : other) +
                       " in some inputs and " + parquet::TypeText(first ? other : one) + " in others: it became " +
                       parquet::TypeText(column.element);
    if (report_.notes.size() < kNotesMax && std::ranges::find(report_.notes, note) == report_.notes.end()) {
      report_.notes.push_back(std::move(note));
    }
  }

  void OpenMerger(const RowGroupPlan& plan) {
    MergeSettings settings;
    settings.effort = options_.effort;
    settings.chunk.codec = options_.codec.value_or(ChooseCodec(plan));
    settings.chunk.codec_level = options_.codec_level.value_or(DefaultLevel(settings.chunk.codec));
    if (!options_.codec_level) settings.chunk.faster_level_share = 1.0;
    settings.page_size_bytes = static_cast<std::size_t>(std::min(options_.page_size_bytes, limits_.column_bytes));
    settings.page_rows_max = options_.page_row_count_max.value_or(settings.page_rows_max);
    settings.dictionary_size_bytes =
        static_cast<std::size_t>(std::min(options_.dictionary_size_bytes, limits_.column_bytes));
    settings.mapping_bytes_max = static_cast<std::size_t>(limits_.column_bytes);
    settings.columns = SettingsOf(columns_, options_);
    merger_ = std::make_unique<RowGroupMerger>(schema_, columns_, options_, limits_, settings);
  }

  /// What the benchmark chose: see docs/formats/parquet.md.
  int DefaultLevel(Codec codec) const { return codec == Codec::kZstd ? 1 : parquet::kDefaultLevel; }

  Status WriteRowGroup() {
    RowGroupPlan plan = planner_.Take();
    if (tail_.size() == kRowGroupsMax) return Error{Code::kLimit, sink_.name() + ": more than 32767 row groups"};
    if (merger_ == nullptr) OpenMerger(plan);
    const auto start = static_cast<std::int64_t>(sink_.position());
    planned_bytes_ += plan.bytes;
    FIRN_ASSIGN(WrittenGroup group, merger_->Run(std::move(plan), sink_, report_, [&](std::int64_t bytes) {
      done_bytes_ += bytes;
      return Progress(done_bytes_);
    }));
    const auto written = static_cast<std::int64_t>(sink_.position()) - filter_bytes_;
    FIRN_TRY(WriteBlooms(group, sink_, report_, bloom_losses_));
    filter_bytes_ = static_cast<std::int64_t>(sink_.position()) - written;
    group.meta.ordinal = static_cast<std::int16_t>(tail_.size());
    report_.split_offsets.push_back(start);
    ++report_.row_groups;
    tail_.Add(std::move(group));
    if (tail_.memory_bytes() > limits_.tail_bytes) {
      return Error{Code::kLimit, sink_.name() + ": the footer needs more memory than the limit allows"};
    }
    if (planned_bytes_ > 0) {
      planner_.SetRatio(std::clamp(static_cast<double>(written) / static_cast<double>(planned_bytes_), 0.2, 5.0));
    }
    return Ok();
  }

  Status Progress(std::int64_t done) const {
    if (!options_.progress || options_.progress(std::min(done, report_.input_bytes), report_.input_bytes)) return Ok();
    return Error{Code::kCancelled, "splice was cancelled"};
  }

  /// Column indexes, offset indexes, footer.
  Status WriteTail() {
    parquet::FileMetaData footer;
    footer.version = version_;
    footer.schema = schema_;
    footer.num_rows = report_.rows;
    footer.key_value_metadata = options_.key_value_metadata;
    footer.created_by = options_.created_by;
    footer.column_orders.assign(columns_.size(), parquet::ColumnOrder::kTypeDefined);
    FIRN_TRY(tail_.Write(footer, sink_));
    report_.output_bytes = static_cast<std::int64_t>(sink_.position());
    return Progress(report_.input_bytes);
  }

  const std::vector<Input>& inputs_;
  const Options& options_;
  ByteSink& sink_;
  const MemoryLimits limits_;
  RowGroupPlanner planner_;
  ArrowSchemaCheck arrow_schemas_;
  std::vector<parquet::SchemaElement> schema_;
  std::vector<OutputColumn> columns_;
  std::shared_ptr<const std::vector<ColumnSource>> columns_of_input_;  // of the last input
  std::shared_ptr<const DeletedRows> deleted_rows_;                    // of the last input
  std::shared_ptr<const InputRoutes> routes_;                          // of the last input
  std::vector<parquet::SchemaElement> routed_schema_;
  std::shared_ptr<const std::vector<ColumnSource>> routed_columns_;
  std::unique_ptr<RowGroupMerger> merger_;
  OutputTail tail_;
  BloomLosses bloom_losses_;
  std::int64_t planned_bytes_ = 0, done_bytes_ = 0, filter_bytes_ = 0;
  std::int32_t version_ = 1;
  Report report_;
};

}  // namespace

std::string_view TierName(Tier tier) {
  constexpr std::string_view kNames[kTierCount] = {"R", "P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7", "new"};
  const auto index = static_cast<std::size_t>(tier);
  return index < kTierCount ? kNames[index] : "?";
}

std::optional<std::size_t> BrokenInput(const std::vector<Input>& inputs, const Error& error) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].source != nullptr && error.message.starts_with(inputs[i].source->name() + ": ")) return i;
  }
  return std::nullopt;
}

bool HasRangeFile(const std::vector<Input>& inputs) {
  return std::ranges::any_of(
      inputs, [](const Input& input) { return input.source != nullptr && input.source->size() >= kRangeFileBytesMin; });
}

bool MayBeCopies(const Report& report, const Error& error) {
  return error.code == Code::kCorrupt && report.storage_copied_bytes > 0;
}

void NoteCopies(const RangeCopies& copies, Report& report) {
  const CopiedRanges copied = copies.copied();
  report.storage_copied_bytes = static_cast<std::int64_t>(copied.size_bytes);
  if (!copied.refusal.empty()) report.notes.push_back("the storage did not copy a range itself: " + copied.refusal);
}

Result<Report> Splice(const std::vector<Input>& inputs, const Options& options, ByteSink& sink) {
  return Splicer(inputs, options, sink).Run();
}

}  // namespace firn::splice
