// SPDX-License-Identifier: Apache-2.0
#include "act/file_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "act/column_layouts.h"
#include "act/merge_settings.h"
#include "format/parquet/footer.h"
#include "iceberg/metrics.h"
#include "iceberg/parquet_schema.h"
#include "iceberg/row_lineage.h"
#include "ports/reopened_source.h"

namespace firn::act {
namespace {

using iceberg::ManifestEntry;

bool IsVariant(const parquet::SchemaElement& element) { return element.logical.kind == parquet::LogicalKind::kVariant; }

Status CheckInput(const iceberg::DataFile& file) {
  if (file.content != iceberg::FileContent::kData) return Error{Code::kInternal, "it is no data file"};
  if (file.format != iceberg::FileFormat::kParquet) return Error{Code::kUnsupported, "it is no Parquet file"};
  if (file.key_metadata) return Error{Code::kUnsupported, "it is encrypted"};
  if (file.file_size_bytes <= 0) return Error{Code::kCorrupt, "its recorded size is not positive"};
  return Ok();
}

/// What is the same for files that differ in their row ids only.
std::vector<splice::ColumnSource> WithoutNumbers(std::vector<splice::ColumnSource> columns) {
  for (splice::ColumnSource& column : columns) column.number.reset();
  return columns;
}

/// What earlier merges of the same files have shown.
struct MergeRetry {
  int merges = 0;                       // each has a name of its own: what became of the last file may not be known
  std::map<std::size_t, Error> broken;  // by entry
  bool reads_all = false;               // the storage copies nothing
};

/// Each costs another merge.
constexpr std::size_t kBrokenFilesMax = 8;

/// One merge, step by step.
class FileMerge {
 public:
  FileMerge(const MergeContext& context, const MergeInputs& inputs, const MergeRetry& retry,
            std::vector<std::string>& leftovers)
      : context_(context),
        retry_(retry),
        given_(inputs),
        entries_(inputs.entries),
        leftovers_(leftovers),
        options_(context.options),
        deleted_rows_(inputs.entries.size()),
        layouts_(inputs.entries.size()) {}

  Result<MergedFile> Run(std::int64_t task, SortOrderId sort_order_id, const MergeProgress& progress);
  /// After Run has failed: changes what the next merge of the same files has to do otherwise; false: nothing helps.
  bool Retry(const Error& error, MergeRetry& retry) const;

 private:
  Status ChooseVariantLayouts();
  void CollectInputs();
  Status LoadDeletes();
  Result<bool> AllRowsDeleted();
  Result<splice::InputContent> Resolve(std::size_t input, const parquet::FileMetaData& footer);
  bool LeaveOut(std::size_t input, const Error& error);
  Status CheckCount(std::size_t files) const;
  SequenceNumber DataSequenceNumber() const;
  Status WriteAndCheck(const std::string& location, const MergeProgress& progress);
  Status Write(ports::OutputFile& file, const MergeProgress& progress);
  Status Check(const std::string& location);
  Status Describe(const std::string& location, SortOrderId sort_order_id);

  const MergeContext& context_;
  const MergeRetry& retry_;
  const MergeInputs& given_;
  const std::vector<ManifestEntry>& entries_;
  std::vector<std::string>& leftovers_;
  splice::Options options_;
  std::vector<splice::Input> inputs_;
  std::vector<std::size_t> entry_of_;       // by input: its place in entries_
  std::vector<FileDeletes> deletes_;        // by input; empty: the plan has none
  std::vector<std::size_t> used_inputs_;    // parallel to merged_.used
  std::vector<std::int64_t> deleted_rows_;  // by entry
  ColumnLayouts layouts_;                   // by entry
  parquet::FileMetaData written_;           // footer of the output
  std::int64_t rows_ = 0;                   // of the inputs
  std::int64_t size_bytes_ = 0;
  MergedFile merged_;
  bool copied_wrongly_ = false;  // Run failed, and what the storage copied may be the reason
};

Result<MergedFile> FileMerge::Run(std::int64_t task, SortOrderId sort_order_id, const MergeProgress& progress) {
  FIRN_TRY(ChooseVariantLayouts());
  CollectInputs();
  FIRN_TRY(LoadDeletes());
  FIRN_TRY(CheckCount(inputs_.size()));
  FIRN_ASSIGN(const bool none_left, AllRowsDeleted());
  if (none_left) return std::move(merged_);
  const iceberg::DataFile& first = entries_.front().file;
  const iceberg::PartitionSpec* spec = context_.metadata.FindSpec(first.spec_id);
  if (spec == nullptr) {
    return Error{Code::kCorrupt, fmt::format("there is no partition spec {}", first.spec_id.value)};
  }
  const std::string name = fmt::format("{:05d}-{}-{}-{:05d}.parquet", 0, task, context_.run_uuid, retry_.merges + 1);
  const std::string location = context_.locations.NewLocation(
      iceberg::PartitionPath(*spec, context_.metadata.current_schema(), first.partition), name);
  FIRN_TRY(WriteAndCheck(location, progress));
  merged_.added.emplace().data_sequence_number = DataSequenceNumber();
  Status described = Describe(location, sort_order_id);
  if (described) return std::move(merged_);
  if (!context_.io.Delete(location)) leftovers_.push_back(location);
  return std::move(described.error());
}

/// That of the newest input. What equality deletes were applied to must not meet them again: their numbers are at most
/// that of the plan, later ones are above it.
SequenceNumber FileMerge::DataSequenceNumber() const {
  SequenceNumber number{0};
  for (const std::size_t i : merged_.used) {
    number = std::max(number, entries_[i].sequence_number.value_or(SequenceNumber(0)));
  }
  if (std::ranges::any_of(merged_.deletes, &FileDeletes::has_equality)) {
    number = std::max(number, context_.plan_sequence_number);
  }
  return number;
}

/// A variant column gets the layout that it has in the first file that has it.
Status FileMerge::ChooseVariantLayouts() {
  std::set<std::int32_t> open;  // variants whose layout is not known yet
  for (const parquet::SchemaElement& element : options_.schema) {
    if (IsVariant(element) && element.field_id) open.insert(*element.field_id);
  }
  std::vector<parquet::FileMetaData> footers;  // schemas only
  for (const ManifestEntry& entry : entries_) {
    if (open.empty()) break;
    if (!CheckInput(entry.file)) continue;
    ports::ReopenedSource source(context_.io, entry.file.file_path, entry.file.file_size_bytes);
    Result<parquet::FileMetaData> footer = parquet::ReadFooter(source);
    if (!footer && footer.error().code == Code::kUnavailable) return std::move(footer.error());
    if (!footer) continue;  // it will be left out
    const std::size_t before = open.size();
    for (const parquet::SchemaElement& element : footer->schema) {
      if (IsVariant(element) && element.field_id) open.erase(*element.field_id);
    }
    if (open.size() == before) continue;
    footer->row_groups = {};
    footers.push_back(std::move(*footer));
  }
  std::vector<const parquet::FileMetaData*> pointers;
  for (const parquet::FileMetaData& footer : footers) pointers.push_back(&footer);
  if (!pointers.empty()) options_.schema = iceberg::WithVariantLayouts(std::move(options_.schema), pointers);
  return Ok();
}

void FileMerge::CollectInputs() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const iceberg::DataFile& file = entries_[i].file;
    if (const auto broken = retry_.broken.find(i); broken != retry_.broken.end()) {
      merged_.left_out.push_back({i, broken->second});
      continue;
    }
    if (Status good = CheckInput(file); !good) {
      merged_.left_out.push_back({i, std::move(good.error()).In(file.file_path)});
      continue;
    }
    inputs_.push_back({std::make_shared<ports::ReopenedSource>(context_.io, file.file_path, file.file_size_bytes),
                       {},
                       file.record_count});
    entry_of_.push_back(i);
  }
}

/// A file whose deletes cannot be read is left out.
Status FileMerge::LoadDeletes() {
  if (!context_.deletes || inputs_.empty()) return Ok();
  DeleteLoadContext load{context_.metadata, context_.io};
  load.name_mapping = context_.name_mapping ? &*context_.name_mapping : nullptr;
  load.memory_bytes = options_.memory_bytes;
  load.threads = options_.threads;
  load.cancelled = context_.cancelled;
  std::vector<const ManifestEntry*> files;
  for (const std::size_t i : entry_of_) files.push_back(&entries_[i]);
  FIRN_ASSIGN(std::vector<Result<FileDeletes>> loaded, context_.deletes->Load(load, files));
  std::size_t kept = 0;
  for (std::size_t k = 0; k < loaded.size(); ++k) {
    if (!loaded[k]) {
      merged_.left_out.push_back({entry_of_[k], std::move(loaded[k].error())});
      continue;
    }
    deleted_rows_[entry_of_[k]] = loaded[k]->deleted;
    deletes_.push_back(std::move(*loaded[k]));
    inputs_[kept] = std::move(inputs_[k]);
    entry_of_[kept++] = entry_of_[k];
  }
  inputs_.resize(kept);
  entry_of_.resize(kept);
  return Ok();
}

/// Then there is nothing to write. The footers must confirm that no file has rows that its entry does not count.
Result<bool> FileMerge::AllRowsDeleted() {
  std::int64_t deleted = 0;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (deleted_rows_[entry_of_[k]] != *inputs_[k].expected_rows) return false;
    deleted += deleted_rows_[entry_of_[k]];
  }
  if (deleted == 0) return false;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    FIRN_ASSIGN(const parquet::FileMetaData footer, parquet::ReadFooter(*inputs_[k].source));
    if (footer.num_rows != *inputs_[k].expected_rows) return false;
  }
  merged_.used = entry_of_;
  merged_.row_bases.assign(entry_of_.size(), 0);
  merged_.deletes = std::move(deletes_);
  merged_.deleted_rows = deleted;
  return true;
}

/// Finds the output's columns in a file whose footer has been read.
Result<splice::InputContent> FileMerge::Resolve(std::size_t input, const parquet::FileMetaData& footer) {
  const std::size_t entry = entry_of_[input];
  const iceberg::DataFile& file = entries_[entry].file;
  const iceberg::NameMapping* mapping = context_.name_mapping ? &*context_.name_mapping : nullptr;
  const iceberg::PartitionSpec* spec = context_.metadata.FindSpec(file.spec_id);
  if (spec == nullptr) return Error{Code::kCorrupt, file.file_path + ": unknown partition spec"};
  FIRN_ASSIGN(auto columns,
              iceberg::ResolveColumns(context_.schema, options_.schema, footer, mapping, *spec, file.partition)
                  .In(file.file_path));
  FIRN_TRY(iceberg::SetLineageSources(options_.schema, footer, file,
                                      entries_[entry].sequence_number.value_or(SequenceNumber(0)), columns)
               .In(file.file_path));
  layouts_.Set(entry, WithoutNumbers(columns));
  merged_.used.push_back(entry);
  used_inputs_.push_back(input);
  rows_ += file.record_count;
  if (deletes_.empty()) return splice::InputContent{std::move(columns)};
  merged_.deleted_rows += deleted_rows_[entry];
  merged_.deletes.push_back(std::move(deletes_[input]));
  return splice::InputContent{std::move(columns), merged_.deletes.back().rows};
}

/// Storage that is down ends the merge; a single file that is missing or broken is only left out.
bool FileMerge::LeaveOut(std::size_t input, const Error& error) {
  if (IsOfTheAttempt(error.code)) return false;
  merged_.left_out.push_back({entry_of_[input], error});
  return true;
}

bool FileMerge::Retry(const Error& error, MergeRetry& retry) const {
  if (copied_wrongly_) {
    // Nobody has looked at these bytes in the inputs: reading them tells which input is broken, if one is.
    retry.reads_all = true;
    return true;
  }
  if (error.code != Code::kCorrupt && error.code != Code::kUnsupported && error.code != Code::kNotFound) return false;
  const std::optional<std::size_t> input = splice::BrokenInput(inputs_, error);
  if (!input || retry.broken.size() == kBrokenFilesMax) return false;
  return retry.broken.emplace(entry_of_[*input], error).second;
}

/// A file alone is only rewritten if it was planned alone, for its deletes.
Status FileMerge::CheckCount(std::size_t files) const {
  if (files >= std::min<std::size_t>(entries_.size(), 2) && files > 0) return Ok();
  if (merged_.left_out.empty()) return Error{Code::kInvalidArgument, "there are no files to merge"};
  Error error = merged_.left_out.front().error;
  const std::size_t named = std::min<std::size_t>(merged_.left_out.size(), 3);
  for (std::size_t i = 1; i < named; ++i) error.message += "; " + merged_.left_out[i].error.message;
  if (const std::size_t more = merged_.left_out.size() - named; more > 0) {
    error.message += fmt::format("; and {} more", more);
  }
  return std::move(error).In("too few files of the group can be merged");
}

Status FileMerge::WriteAndCheck(const std::string& location, const MergeProgress& progress) {
  FIRN_ASSIGN(const std::unique_ptr<ports::OutputFile> file, context_.io.Create(location));
  if (Status written = Write(*file, progress); !written) {
    file->Abort();
    return std::move(written.error());
  }
  Status checked = file->Close();
  if (checked) {
    if (options_.range_copies != nullptr) splice::NoteCopies(*options_.range_copies, merged_.report);
    checked = Check(location);
    copied_wrongly_ = !checked && splice::MayBeCopies(merged_.report, checked.error());
  }
  if (checked) return Ok();
  // A close that failed may have made the file all the same.
  if (!context_.io.Delete(location)) leftovers_.push_back(location);
  return std::move(checked.error());
}

Status FileMerge::Write(ports::OutputFile& file, const MergeProgress& progress) {
  if (progress) {
    options_.progress = [&progress](std::int64_t done, std::int64_t) { return progress(done); };
  }
  options_.resolve = [this](std::size_t input, const parquet::FileMetaData& footer) { return Resolve(input, footer); };
  options_.leave_out = [this](std::size_t input, const Error& error) { return LeaveOut(input, error); };
  options_.range_copies = !retry_.reads_all && splice::HasRangeFile(inputs_) ? file.range_copies() : nullptr;
  FIRN_ASSIGN(merged_.report, splice::Splice(inputs_, options_, file));
  FIRN_TRY(CheckCount(merged_.used.size()));
  for (const std::size_t input : used_inputs_) merged_.row_bases.push_back(merged_.report.input_row_bases[input]);
  size_bytes_ = static_cast<std::int64_t>(file.position());
  if (merged_.report.rows != rows_ - merged_.deleted_rows || merged_.report.deleted_rows != merged_.deleted_rows) {
    return Error{Code::kInternal,
                 fmt::format("{}: {} rows, {} of them deleted, became {} without {}", file.name(), rows_,
                             merged_.deleted_rows, merged_.report.rows, merged_.report.deleted_rows)};
  }
  if (merged_.report.rows > 0 || rows_ == 0) return Ok();
  return CheckCount(0).error().In("all rows of the others are deleted");
}

Status FileMerge::Check(const std::string& location) {
  FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> output, context_.io.Open(location));
  if (static_cast<std::int64_t>(output->size()) != size_bytes_) {
    return Error{Code::kInternal,
                 fmt::format("{}: {} bytes were written, {} can be read", location, size_bytes_, output->size())};
  }
  FIRN_ASSIGN(written_, splice::Verify(*output, merged_.report, options_.memory_bytes, options_.threads).In(location));
  return Ok();
}

Status FileMerge::Describe(const std::string& location, SortOrderId sort_order_id) {
  iceberg::DataFile& file = merged_.added->file;
  file.file_path = location;
  file.format_text = "PARQUET";
  file.spec_id = entries_.front().file.spec_id;
  file.partition = entries_.front().file.partition;
  file.record_count = merged_.report.rows;
  file.file_size_bytes = size_bytes_;
  file.split_offsets = merged_.report.split_offsets;
  file.sort_order_id = sort_order_id;
  iceberg::MetricsMerger metrics(context_.metadata.current_schema(), options_.schema, context_.metrics);
  const auto add = [&](std::size_t i, const ManifestEntry& entry) -> Status {
    if (!layouts_.is_used(i)) return Ok();
    iceberg::DataFile unknown;  // of a file whose columns were not kept nothing is known but its rows
    unknown.record_count = entry.file.record_count;
    const ColumnLayouts::Columns* columns = layouts_.Find(i);
    metrics.Add({columns == nullptr ? &unknown : &entry.file, columns, deleted_rows_[i]});
    return Ok();
  };
  if (given_.for_each_complete) {
    FIRN_TRY(given_.for_each_complete(add));
  } else {
    for (std::size_t i = 0; i < entries_.size(); ++i) FIRN_TRY(add(i, entries_[i]));
  }
  metrics.Store(merged_.report.column_compressed_bytes, file, &written_);
  return Ok();
}

}  // namespace

Result<MergeContext> MakeMergeContext(const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                      const std::string& effort, std::string run_uuid) {
  FIRN_ASSIGN(splice::Options options, SpliceOptionsOf(metadata, effort));
  iceberg::Schema schema = metadata.current_schema();
  if (metadata.format_version() >= 3) {
    FIRN_ASSIGN(schema, iceberg::WithRowLineage(schema));
  }
  FIRN_ASSIGN(options.schema, iceberg::ToParquetSchema(schema));
  options.key_value_metadata = iceberg::FooterMetadata(schema);
  FIRN_ASSIGN(DataLocations locations, DataLocations::For(metadata));
  FIRN_ASSIGN(std::optional<iceberg::NameMapping> mapping, iceberg::NameMappingOf(metadata));
  const iceberg::SortOrder* order = metadata.FindSortOrder(metadata.default_sort_order_id());
  return MergeContext{metadata,
                      io,
                      std::move(options),
                      std::move(schema),
                      std::move(mapping),
                      iceberg::MetricsConfig::Make(metadata.properties(), metadata.current_schema(),
                                                   order == nullptr ? iceberg::SortOrder() : *order),
                      std::move(locations),
                      std::move(run_uuid)};
}

Result<MergedFile> MergeFiles(const MergeContext& context, const MergeInputs& inputs, std::int64_t task,
                              SortOrderId sort_order_id, const MergeProgress& progress,
                              std::vector<std::string>& leftovers) {
  MergeRetry retry;
  while (true) {
    FileMerge merge(context, inputs, retry, leftovers);
    Result<MergedFile> merged = merge.Run(task, sort_order_id, progress);
    if (merged || !merge.Retry(merged.error(), retry)) return merged;
    ++retry.merges;
  }
}

}  // namespace firn::act
