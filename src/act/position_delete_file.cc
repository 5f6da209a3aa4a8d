// SPDX-License-Identifier: Apache-2.0
#include "act/position_delete_file.h"

#include <arrow/io/interfaces.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#include <parquet/schema.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "act/delete_load_positions.h"
#include "base/version.h"

namespace firn::act {
namespace {

namespace pq = ::parquet;

constexpr std::size_t kRowGroupRows = 1 << 20;
constexpr std::size_t kBatchRows = 8192;

/// What Java's writer puts into the footer.
constexpr const char* kSchemaJson = R"({"type":"struct","schema-id":0,"fields":[)"
                                    R"({"id":2147483546,"name":"file_path","required":true,"type":"string"},)"
                                    R"({"id":2147483545,"name":"pos","required":true,"type":"long"}]})";

/// A sink as Arrow wants it. Keeps the first error, because Arrow's has no code of ours.
class SinkStream final : public arrow::io::OutputStream {
 public:
  explicit SinkStream(ByteSink& sink) : sink_(sink) { set_mode(arrow::io::FileMode::WRITE); }
  arrow::Status Write(const void* data, std::int64_t size) override {
    const Status written = sink_.Write({static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size)});
    if (written) return arrow::Status::OK();
    if (status_) status_ = written;
    return arrow::Status::IOError(ToString(written.error()));
  }
  using arrow::io::OutputStream::Write;
  arrow::Result<std::int64_t> Tell() const override { return static_cast<std::int64_t>(sink_.position()); }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  const Status& status() const { return status_; }

 private:
  ByteSink& sink_;
  Status status_ = Ok();
  bool closed_ = false;
};

std::shared_ptr<pq::schema::GroupNode> SchemaNode() {
  using pq::schema::PrimitiveNode;
  const pq::schema::NodeVector fields{
      PrimitiveNode::Make("file_path", pq::Repetition::REQUIRED, pq::LogicalType::String(), pq::Type::BYTE_ARRAY, -1,
                          kDeletePathField),
      PrimitiveNode::Make("pos", pq::Repetition::REQUIRED, pq::LogicalType::None(), pq::Type::INT64, -1,
                          kDeletePosField)};
  return std::static_pointer_cast<pq::schema::GroupNode>(
      pq::schema::GroupNode::Make("table", pq::Repetition::REQUIRED, fields));
}

// Plain positions: not every reader of deletes knows the delta encodings.
std::shared_ptr<pq::WriterProperties> Properties() {
  return pq::WriterProperties::Builder()
      .compression(pq::Compression::ZSTD)
      ->disable_dictionary("pos")
      ->created_by(kCreatedBy)
      ->build();
}

/// Rows until there are enough for a row group.
class RowGroupBuffer {
 public:
  explicit RowGroupBuffer(pq::ParquetFileWriter& writer) : writer_(writer) {}

  void Add(const std::string& path, std::int64_t position) {
    if (runs_.empty() || runs_.back().path != &path) runs_.push_back({&path, 0});
    ++runs_.back().rows;
    positions_.push_back(position);
    if (positions_.size() == kRowGroupRows) Flush();
  }

  void Flush() {
    if (positions_.empty()) return;
    pq::RowGroupWriter* const group = writer_.AppendRowGroup();
    auto* const paths = static_cast<pq::ByteArrayWriter*>(group->NextColumn());
    for (const Run& run : runs_) {
      const std::vector<pq::ByteArray> values(std::min(run.rows, kBatchRows), pq::ByteArray(*run.path));
      for (std::size_t done = 0; done < run.rows; done += kBatchRows) {
        const std::size_t count = std::min(run.rows - done, kBatchRows);
        paths->WriteBatch(static_cast<std::int64_t>(count), nullptr, nullptr, values.data());
      }
    }
    auto* const positions = static_cast<pq::Int64Writer*>(group->NextColumn());
    positions->WriteBatch(static_cast<std::int64_t>(positions_.size()), nullptr, nullptr, positions_.data());
    group->Close();
    runs_.clear();
    positions_.clear();
  }

 private:
  struct Run {
    const std::string* path;
    std::size_t rows;
  };
  pq::ParquetFileWriter& writer_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> positions_;
};

void WriteAll(const std::shared_ptr<SinkStream>& stream, std::span<const DeletedPositions> files) {
  const auto metadata = arrow::key_value_metadata({"delete-type", "iceberg.schema"}, {"position", kSchemaJson});
  const auto writer = pq::ParquetFileWriter::Open(stream, SchemaNode(), Properties(), metadata);
  RowGroupBuffer buffer(*writer);
  for (const DeletedPositions& file : files) {
    if (file.positions->empty()) continue;
    roaring::RangeCursor cursor(*file.positions, {0, file.positions->last() + 1});
    for (roaring::PositionRange range; cursor.Next(range);) {
      for (std::int64_t row = range.begin; row < range.end; ++row) buffer.Add(*file.data_file_path, row);
    }
  }
  buffer.Flush();
  writer->Close();
}

}  // namespace

Status WritePositionDeleteFile(ByteSink& sink, std::span<const DeletedPositions> files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (*files[i - 1].data_file_path < *files[i].data_file_path) continue;
    return Error{Code::kInvalidArgument, sink.name() + ": data files of deletes are not in order"};
  }
  const auto stream = std::make_shared<SinkStream>(sink);
  try {
    WriteAll(stream, files);
  } catch (const std::exception& error) {
    if (!stream->status()) return stream->status();
    return Error{Code::kInternal, sink.name() + ": " + error.what()};
  }
  return stream->status();
}

}  // namespace firn::act
