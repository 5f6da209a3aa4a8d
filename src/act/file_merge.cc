// SPDX-License-Identifier: Apache-2.0
#include "act/file_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "act/merge_settings.h"
#include "format/parquet/footer.h"
#include "iceberg/metrics.h"
#include "iceberg/parquet_schema.h"
#include "observe/parallel.h"

namespace firn::act {
namespace {

using iceberg::ManifestEntry;

/// Opens a file for each read, so that a merge of thousands of files needs few open ones.
class ReopenedSource final : public RandomAccessSource {
 public:
  ReopenedSource(ports::FileIO& io, const iceberg::DataFile& file)
      : io_(io), name_(file.file_path), size_bytes_(static_cast<std::uint64_t>(file.file_size_bytes)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_bytes_; }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> source, io_.Open(name_, size_bytes_));
    return source->ReadAt(offset, out);
  }

 private:
  ports::FileIO& io_;
  std::string name_;
  std::uint64_t size_bytes_;
};

bool HasVariant(const std::vector<parquet::SchemaElement>& schema) {
  return std::ranges::any_of(schema, [](const parquet::SchemaElement& element) {
    return element.logical.kind == parquet::LogicalKind::kVariant;
  });
}

Status CheckInput(const iceberg::DataFile& file) {
  if (file.content != iceberg::FileContent::kData) return Error{Code::kInternal, "it is no data file"};
  if (file.format != iceberg::FileFormat::kParquet) return Error{Code::kUnsupported, "it is no Parquet file"};
  if (file.key_metadata) return Error{Code::kUnsupported, "it is encrypted"};
  if (file.file_size_bytes <= 0) return Error{Code::kCorrupt, "its recorded size is not positive"};
  return Ok();
}

/// One merge, step by step.
class FileMerge {
 public:
  FileMerge(const MergeContext& context, const std::vector<ManifestEntry>& inputs, std::vector<std::string>& leftovers)
      : context_(context), entries_(inputs), leftovers_(leftovers), options_(context.options) {}

  Result<MergedFile> Run(std::int64_t task, SortOrderId sort_order_id, const MergeProgress& progress);

 private:
  struct Candidate {
    std::shared_ptr<ReopenedSource> source;
    std::optional<parquet::FileMetaData> footer;  // kept only until `columns` are known
    std::vector<splice::ColumnSource> columns;
    std::optional<Error> error;
  };

  Status ReadFooters();
  void ResolveColumns(std::size_t input);
  Status ResolveInputs();
  Status WriteAndCheck(const std::string& location, const MergeProgress& progress);
  Status Write(ports::OutputFile& file, const MergeProgress& progress);
  Status Check(const std::string& location);
  iceberg::DataFile Describe(const std::string& location, SortOrderId sort_order_id) const;
  const ManifestEntry& First() const { return entries_[merged_.used.front()]; }

  const MergeContext& context_;
  const std::vector<ManifestEntry>& entries_;
  std::vector<std::string>& leftovers_;
  splice::Options options_;
  std::vector<Candidate> candidates_;
  std::vector<splice::Input> inputs_;
  std::int64_t rows_ = 0;
  std::int64_t size_bytes_ = 0;
  MergedFile merged_;
};

Result<MergedFile> FileMerge::Run(std::int64_t task, SortOrderId sort_order_id, const MergeProgress& progress) {
  FIRN_TRY(ReadFooters());
  FIRN_TRY(ResolveInputs());
  const iceberg::DataFile& first = First().file;
  const iceberg::PartitionSpec* spec = context_.metadata.FindSpec(first.spec_id);
  if (spec == nullptr) {
    return Error{Code::kCorrupt, fmt::format("there is no partition spec {}", first.spec_id.value)};
  }
  const std::string name = fmt::format("{:05d}-{}-{}-00001.parquet", 0, task, context_.run_uuid);
  const std::string location = context_.locations.NewLocation(
      iceberg::PartitionPath(*spec, context_.metadata.current_schema(), first.partition), name);
  FIRN_TRY(WriteAndCheck(location, progress));
  merged_.added.file = Describe(location, sort_order_id);
  for (const std::size_t i : merged_.used) {
    merged_.added.data_sequence_number =
        std::max(merged_.added.data_sequence_number, entries_[i].sequence_number.value_or(SequenceNumber(0)));
  }
  return std::move(merged_);
}

/// Storage that is down ends the merge; a single file that is missing or broken only leaves it.
Status FileMerge::ReadFooters() {
  candidates_.resize(entries_.size());
  // The layout of variants is chosen from all footers; otherwise a footer is needed only for its own file's columns.
  const bool keeps_footers = HasVariant(options_.schema);
  return observe::ForEachIndex(entries_.size(), context_.footer_readers,
                               [this, keeps_footers](std::size_t i) -> Status {
                                 Candidate& candidate = candidates_[i];
                                 const iceberg::DataFile& file = entries_[i].file;
                                 if (Status good = CheckInput(file); !good) {
                                   candidate.error = std::move(good.error()).In(file.file_path);
                                   return Ok();
                                 }
                                 candidate.source = std::make_shared<ReopenedSource>(context_.io, file);
                                 Result<parquet::FileMetaData> footer = parquet::ReadFooter(*candidate.source);
                                 if (!footer && footer.error().code == Code::kUnavailable)
                                   return std::move(footer.error());
                                 if (footer) {
                                   candidate.footer = std::move(*footer);
                                   if (!keeps_footers) ResolveColumns(i);
                                 } else {
                                   candidate.error = std::move(footer.error());
                                 }
                                 return Ok();
                               });
}

/// Finds the output's columns in a file, and lets go of its footer.
void FileMerge::ResolveColumns(std::size_t input) {
  Candidate& candidate = candidates_[input];
  const iceberg::DataFile& file = entries_[input].file;
  const iceberg::NameMapping* mapping = context_.name_mapping ? &*context_.name_mapping : nullptr;
  const iceberg::PartitionSpec* spec = context_.metadata.FindSpec(file.spec_id);
  auto columns = spec == nullptr
                     ? Result<std::vector<splice::ColumnSource>>(Error{Code::kCorrupt, "unknown partition spec"})
                     : iceberg::ResolveColumns(context_.metadata.current_schema(), options_.schema, *candidate.footer,
                                               mapping, *spec, file.partition);
  if (columns) {
    candidate.columns = std::move(*columns);
  } else {
    candidate.error = std::move(columns.error()).In(file.file_path);
  }
  candidate.footer.reset();
}

Status FileMerge::ResolveInputs() {
  if (HasVariant(options_.schema)) {
    std::vector<const parquet::FileMetaData*> footers;
    for (const Candidate& candidate : candidates_) {
      if (candidate.footer) footers.push_back(&*candidate.footer);
    }
    options_.schema = iceberg::WithVariantLayouts(std::move(options_.schema), footers);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].footer) ResolveColumns(i);
    }
  }
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    Candidate& candidate = candidates_[i];
    if (candidate.error) {
      merged_.left_out.push_back({i, std::move(*candidate.error)});
      continue;
    }
    const std::int64_t rows = entries_[i].file.record_count;
    inputs_.push_back({std::move(candidate.source), std::move(candidate.columns), rows});
    merged_.used.push_back(i);
    rows_ += rows;
  }
  candidates_.clear();
  if (merged_.used.size() >= 2) return Ok();
  if (merged_.left_out.empty()) return Error{Code::kInvalidArgument, "there are fewer than two files to merge"};
  return std::move(merged_.left_out.front().error).In("fewer than two files can be merged");
}

Status FileMerge::WriteAndCheck(const std::string& location, const MergeProgress& progress) {
  FIRN_ASSIGN(const std::unique_ptr<ports::OutputFile> file, context_.io.Create(location));
  if (Status written = Write(*file, progress); !written) {
    file->Abort();
    return std::move(written.error());
  }
  Status checked = file->Close();
  if (checked) checked = Check(location);
  if (checked) return Ok();
  // A close that failed may have made the file all the same.
  if (!context_.io.Delete(location)) leftovers_.push_back(location);
  return std::move(checked.error());
}

Status FileMerge::Write(ports::OutputFile& file, const MergeProgress& progress) {
  if (progress) {
    options_.progress = [&progress](std::int64_t done, std::int64_t) { return progress(done); };
  }
  FIRN_ASSIGN(merged_.report, splice::Splice(inputs_, options_, file));
  size_bytes_ = static_cast<std::int64_t>(file.position());
  if (merged_.report.rows == rows_) return Ok();
  return Error{Code::kInternal, fmt::format("{}: {} rows became {}", file.name(), rows_, merged_.report.rows)};
}

Status FileMerge::Check(const std::string& location) {
  FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> output, context_.io.Open(location));
  if (static_cast<std::int64_t>(output->size()) != size_bytes_) {
    return Error{Code::kInternal,
                 fmt::format("{}: {} bytes were written, {} can be read", location, size_bytes_, output->size())};
  }
  return splice::Verify(*output, merged_.report).In(location);
}

iceberg::DataFile FileMerge::Describe(const std::string& location, SortOrderId sort_order_id) const {
  iceberg::DataFile file;
  file.file_path = location;
  file.format_text = "PARQUET";
  file.spec_id = First().file.spec_id;
  file.partition = First().file.partition;
  file.record_count = merged_.report.rows;
  file.file_size_bytes = size_bytes_;
  file.split_offsets = merged_.report.split_offsets;
  file.sort_order_id = sort_order_id;
  std::vector<iceberg::MetricsInput> inputs;
  for (std::size_t i = 0; i < merged_.used.size(); ++i) {
    const std::vector<splice::ColumnSource>& columns = inputs_[i].columns;
    inputs.push_back({&entries_[merged_.used[i]].file, columns.empty() ? nullptr : &columns});
  }
  iceberg::MergeMetrics(context_.metadata.current_schema(), options_.schema, inputs,
                        merged_.report.column_compressed_bytes, context_.metrics, file);
  return file;
}

}  // namespace

Result<MergeContext> MakeMergeContext(const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                      const std::string& effort, const std::string& version, std::string run_uuid) {
  FIRN_ASSIGN(splice::Options options, SpliceOptionsOf(metadata, effort));
  FIRN_ASSIGN(options.schema, iceberg::ToParquetSchema(metadata.current_schema()));
  options.key_value_metadata = iceberg::FooterMetadata(metadata.current_schema());
  options.created_by = fmt::format("firn version {}", version);
  FIRN_ASSIGN(DataLocations locations, DataLocations::For(metadata));
  std::optional<iceberg::NameMapping> mapping;
  const std::string mapping_json = metadata.Property("schema.name-mapping.default", "");
  if (!mapping_json.empty()) {
    FIRN_ASSIGN(mapping, iceberg::ParseNameMapping(mapping_json));
  }
  const iceberg::SortOrder* order = metadata.FindSortOrder(metadata.default_sort_order_id());
  return MergeContext{metadata,
                      io,
                      std::move(options),
                      std::move(mapping),
                      iceberg::MetricsConfig::Make(metadata.properties(), metadata.current_schema(),
                                                   order == nullptr ? iceberg::SortOrder() : *order),
                      std::move(locations),
                      std::move(run_uuid),
                      1};
}

Result<MergedFile> MergeFiles(const MergeContext& context, const std::vector<ManifestEntry>& inputs, std::int64_t task,
                              SortOrderId sort_order_id, const MergeProgress& progress,
                              std::vector<std::string>& leftovers) {
  return FileMerge(context, inputs, leftovers).Run(task, sort_order_id, progress);
}
}  // namespace firn::act
