// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "format/avro/container_reader.h"
#include "iceberg/manifest_program.h"
#include "iceberg/partition_types.h"

namespace firn::iceberg {
namespace {

Result<std::optional<std::int32_t>> FindNumber(const avro::ContainerReader& file, std::string_view key) {
  const std::string* text = file.FindMetadata(key);
  if (text == nullptr) return std::optional<std::int32_t>();
  std::int32_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end) {
    return Error{Code::kCorrupt, "header key `" + std::string(key) + "` is no number: " + text->substr(0, 40)};
  }
  return std::optional(value);
}

Result<ManifestHeader> ParseHeader(const avro::ContainerReader& file) {
  ManifestHeader header;
  FIRN_ASSIGN(const auto version, FindNumber(file, "format-version"));
  header.format_version = version.value_or(1);
  if (header.format_version < 1) return Error{Code::kCorrupt, "header has a format-version below 1"};
  if (header.format_version > kFormatVersionMax) {
    return Error{Code::kUnsupported, "manifest of format version " + std::to_string(header.format_version)};
  }
  if (const std::string* schema = file.FindMetadata("schema")) header.schema_json = *schema;
  if (const std::string* spec = file.FindMetadata("partition-spec")) header.partition_spec_json = *spec;
  FIRN_ASSIGN(const auto schema_id, FindNumber(file, "schema-id"));
  if (schema_id) header.schema_id = SchemaId(*schema_id);
  FIRN_ASSIGN(const auto spec_id, FindNumber(file, "partition-spec-id"));
  if (spec_id) header.spec_id = SpecId(*spec_id);
  if (const std::string* content = file.FindMetadata("content")) {
    if (*content != "data" && *content != "deletes") {
      return Error{Code::kCorrupt, "header has content `" + content->substr(0, 40) + "`"};
    }
    header.content = *content == "data" ? ManifestContent::kData : ManifestContent::kDeletes;
  }
  return header;
}

/// The header must not contradict the manifest's line in the list; what it leaves out is taken from there.
Result<ManifestHeader> HeaderFor(const avro::ContainerReader& file, const ManifestFile& manifest) {
  FIRN_ASSIGN(ManifestHeader header, ParseHeader(file));
  if (header.spec_id && *header.spec_id != manifest.spec_id) {
    return Error{Code::kCorrupt, "manifest is of spec " + std::to_string(header.spec_id->value) +
                                     ", the manifest list says " + std::to_string(manifest.spec_id.value)};
  }
  if (file.FindMetadata("content") == nullptr) header.content = manifest.content;
  if (header.content != manifest.content) {
    return Error{Code::kCorrupt, "manifest and manifest list disagree on whether it holds deletes"};
  }
  return header;
}

/// Fetches a manifest with one request, also one that is twice as large as writers make them by default.
avro::ReaderOptions OptionsFor(const ManifestFile& manifest) {
  avro::ReaderOptions options;
  options.read_step_bytes = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(manifest.manifest_length, std::int64_t{64} << 10, std::int64_t{16} << 20));
  return options;
}

class AvroManifestReader final : public ManifestReader {
 public:
  AvroManifestReader(std::unique_ptr<avro::ContainerReader> file, ManifestHeader header, ManifestProgram program,
                     const ManifestFile& manifest)
      : file_(std::move(file)),
        header_(std::move(header)),
        program_(std::move(program)),
        spec_id_(manifest.spec_id),
        content_(manifest.content),
        snapshot_id_(manifest.added_snapshot_id),
        sequence_number_(manifest.sequence_number),
        next_row_id_(manifest.content == ManifestContent::kData ? manifest.first_row_id : std::nullopt) {
    // A v1 manifest has no sequence numbers, and none may be inherited from what carried it later.
    if (header_.format_version == 1 && !program_.has_sequence_numbers()) sequence_number_ = SequenceNumber(0);
  }

  const ManifestHeader& header() const override { return header_; }
  std::int64_t ordinal() const override { return ordinal_; }

  Result<bool> Next(ManifestEntry& entry) override {
    if (left_in_block_ == 0) {
      if (ordinal_ >= 0 && cursor_.left() > 0) return Fault("block is longer than its entries");
      FIRN_ASSIGN(const bool more, file_->Next(block_));
      if (!more) return false;
      cursor_ = avro::Cursor(block_.bytes);
      left_in_block_ = block_.object_count;
    }
    --left_in_block_;
    ++ordinal_;
    program_.Run(cursor_, entry);
    if (!cursor_.ok()) return Fault(cursor_.fault());
    if ((entry.file.content == FileContent::kData) != (content_ == ManifestContent::kData)) {
      return Fault("file of the other kind than its manifest");
    }
    Inherit(entry);
    if (row_ids_overflow_) return Fault("row ids do not fit in 64 bits");
    return true;
  }

 private:
  Error Fault(std::string_view text) const {
    return file_->ErrorIn(Code::kCorrupt, "entry " + std::to_string(ordinal_) + ": " + std::string(text), block_,
                          cursor_.offset());
  }

  void Inherit(ManifestEntry& entry) {
    entry.file.spec_id = spec_id_;
    if (!entry.snapshot_id) entry.snapshot_id = snapshot_id_;
    // Only added entries inherit; 0 is the number of everything that v1 wrote, whatever its status.
    if (entry.status == EntryStatus::kAdded || sequence_number_.value == 0) {
      if (!entry.sequence_number) entry.sequence_number = sequence_number_;
      if (!entry.file_sequence_number) entry.file_sequence_number = sequence_number_;
    }
    if (!next_row_id_) {
      // The manifest got no ids: whatever its entries say, rows have none yet.
      entry.file.first_row_id.reset();
    } else if (!entry.file.first_row_id && entry.status != EntryStatus::kDeleted) {
      // The range reserved for a manifest is that of its added and existing rows: deleted files take nothing of it.
      entry.file.first_row_id = *next_row_id_;
      row_ids_overflow_ = __builtin_add_overflow(*next_row_id_, entry.file.record_count, &*next_row_id_);
    }
  }

  std::unique_ptr<avro::ContainerReader> file_;
  ManifestHeader header_;
  ManifestProgram program_;
  SpecId spec_id_;
  ManifestContent content_;
  SnapshotId snapshot_id_;
  SequenceNumber sequence_number_;
  std::optional<std::int64_t> next_row_id_;
  bool row_ids_overflow_ = false;

  avro::Block block_;
  avro::Cursor cursor_;
  std::uint64_t left_in_block_ = 0;
  std::int64_t ordinal_ = -1;
};

}  // namespace

Result<ManifestHeader> ReadManifestHeader(SequentialSource& source) {
  FIRN_ASSIGN(const auto file, avro::ContainerReader::Open(source, {.read_step_bytes = 64 << 10}));
  return ParseHeader(*file).In(source.name());
}

Result<std::unique_ptr<ManifestReader>> ManifestReader::Open(SequentialSource& source, const ManifestFile& manifest,
                                                             const TableMetadata& metadata, Wanted wanted) {
  if (manifest.key_metadata && !manifest.key_metadata->empty()) {
    return Error{Code::kUnsupported, source.name() + ": manifest is encrypted"};
  }
  const PartitionSpec* spec = metadata.FindSpec(manifest.spec_id);
  if (spec == nullptr) {
    return Error{Code::kCorrupt, source.name() + ": manifest is of spec " + std::to_string(manifest.spec_id.value) +
                                     ", which the table does not have"};
  }
  FIRN_ASSIGN(auto file, avro::ContainerReader::Open(source, OptionsFor(manifest)));
  FIRN_ASSIGN(ManifestHeader header, HeaderFor(*file, manifest).In(source.name()));
  FIRN_ASSIGN(
      ManifestProgram program,
      ManifestProgram::Compile(file->schema(), *spec, PartitionTypesIn(metadata, *spec), wanted).In(source.name()));
  return std::make_unique<AvroManifestReader>(std::move(file), std::move(header), std::move(program), manifest);
}

}  // namespace firn::iceberg
