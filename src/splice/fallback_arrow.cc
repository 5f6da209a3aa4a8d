// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_arrow.h"

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <parquet/column_reader.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/file_writer.h>
#include <parquet/schema.h>

#include <limits>
#include <optional>
#include <string_view>

#include "format/parquet/promotion.h"
#include "splice/fallback_pages.h"

namespace firn::splice {

namespace {

namespace pq = ::parquet;

constexpr std::int64_t kStreamBytes = 1 << 20;
constexpr std::int64_t kPageBytes = 1 << 20;
/// Dictionaries end with the chunk, not with a size: pages of one chunk are all of one kind.
constexpr std::int64_t kDictionaryBytesMax = 1 << 30;

/// Memory of one file: counted by itself and refused beyond a limit.
struct BoundedPool {
  explicit BoundedPool(std::int64_t limit_bytes)
      : counted(::arrow::default_memory_pool()), capped(&counted, limit_bytes) {}
  ::arrow::ProxyMemoryPool counted;
  ::arrow::CappedMemoryPool capped;
};

Error FromException(const std::exception& caught) {
  const std::string_view text = caught.what();
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  Code code = Code::kCorrupt;
  if (has("ot yet implemented") || has("NotImplemented") || has("Not implemented") || has("not supported")) {
    code = Code::kUnsupported;
  }
  const bool out_of_memory = dynamic_cast<const std::bad_alloc*>(&caught) != nullptr;
  if (out_of_memory || has("Out of memory") || has("MemoryPool") || has("malloc of size")) code = Code::kLimit;
  return Error{code, std::string(text)};
}

/// A RandomAccessSource as the library wants it. Keeps the source's own error for the caller.
class SourceFile final : public ::arrow::io::RandomAccessFile {
 public:
  SourceFile(RandomAccessSource& source, ::arrow::MemoryPool* pool) : source_(source), pool_(pool) {}

  ::arrow::Status Close() override { return ::arrow::Status::OK(); }
  bool closed() const override { return false; }
  ::arrow::Result<std::int64_t> Tell() const override { return position_; }
  ::arrow::Status Seek(std::int64_t position) override {
    position_ = position;
    return ::arrow::Status::OK();
  }
  ::arrow::Result<std::int64_t> GetSize() override { return static_cast<std::int64_t>(source_.size()); }

  ::arrow::Result<std::int64_t> Read(std::int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const std::int64_t done, ReadAt(position_, count, out));
    position_ += done;
    return done;
  }
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> Read(std::int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<::arrow::Buffer> buffer, ReadAt(position_, count));
    position_ += buffer->size();
    return buffer;
  }
  ::arrow::Result<std::int64_t> ReadAt(std::int64_t position, std::int64_t count, void* out) override {
    const auto size = static_cast<std::int64_t>(source_.size());
    if (position < 0 || count < 0) return ::arrow::Status::IOError("negative offset or size");
    count = position >= size ? 0 : std::min(count, size - position);
    if (count == 0) return count;
    const Status read = source_.ReadAt(static_cast<std::uint64_t>(position),
                                       {static_cast<std::uint8_t*>(out), static_cast<std::size_t>(count)});
    if (!read) {
      if (!error_) error_ = read.error();
      return ::arrow::Status::IOError(read.error().message);
    }
    return count;
  }
  ::arrow::Result<std::shared_ptr<::arrow::Buffer>> ReadAt(std::int64_t position, std::int64_t count) override {
    const auto size = static_cast<std::int64_t>(source_.size());
    if (position < 0 || count < 0) return ::arrow::Status::IOError("negative offset or size");
    count = position >= size ? 0 : std::min(count, size - position);
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<::arrow::ResizableBuffer> buffer,
                          ::arrow::AllocateResizableBuffer(count, pool_));
    ARROW_ASSIGN_OR_RAISE(const std::int64_t done, ReadAt(position, count, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(done));
    return std::shared_ptr<::arrow::Buffer>(std::move(buffer));
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  RandomAccessSource& source_;
  ::arrow::MemoryPool* pool_;
  std::int64_t position_ = 0;
  std::optional<Error> error_;
};

/// Collects the file in memory, up to a limit.
class BytesStream final : public ::arrow::io::OutputStream {
 public:
  explicit BytesStream(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ::arrow::Status Close() override { return ::arrow::Status::OK(); }
  bool closed() const override { return false; }
  ::arrow::Result<std::int64_t> Tell() const override { return static_cast<std::int64_t>(bytes.size()); }
  ::arrow::Status Write(const void* data, std::int64_t count) override {
    if (count > limit_bytes_ - static_cast<std::int64_t>(bytes.size())) {
      return ::arrow::Status::OutOfMemory("the decoded columns need more than the limit");
    }
    const auto* const from = static_cast<const std::uint8_t*>(data);
    bytes.insert(bytes.end(), from, from + count);
    return ::arrow::Status::OK();
  }

  Bytes bytes;

 private:
  std::int64_t limit_bytes_;
};

template <class Type>
class TypedLeafReader final : public LeafReader {
 public:
  using Value = typename Type::c_type;

  TypedLeafReader(std::shared_ptr<pq::ColumnReader> reader, const SourceFile& file, std::size_t batch_size)
      : reader_(std::move(reader)),
        file_(file),
        batch_size_(batch_size),
        values_(std::make_unique<Value[]>(batch_size)) {}

  Result<std::size_t> Read(std::span<std::int16_t> definition, std::span<std::int16_t> repetition) override {
    auto& typed = static_cast<pq::TypedColumnReader<Type>&>(*reader_);
    const std::int64_t wanted = static_cast<std::int64_t>(std::min(batch_size_, definition.size()));
    try {
      std::int64_t levels = 0;
      // Between pages the library may hand out an empty batch.
      while (levels == 0 && typed.HasNext()) {
        levels = typed.ReadBatch(wanted, definition.data(), repetition.data(), values_.get(), &value_count_);
      }
      if (levels == 0) value_count_ = 0;
      return static_cast<std::size_t>(levels);
    } catch (const std::exception& caught) {
      if (file_.error()) return *file_.error();
      return FromException(caught);
    }
  }
  const void* values() const override { return values_.get(); }
  std::size_t value_count() const override { return static_cast<std::size_t>(value_count_); }

 private:
  std::shared_ptr<pq::ColumnReader> reader_;
  const SourceFile& file_;
  std::size_t batch_size_;
  std::unique_ptr<Value[]> values_;
  std::int64_t value_count_ = 0;
};

template <class Type>
void WriteTyped(pq::ColumnWriter& writer, std::int64_t count, const std::int16_t* definition,
                const std::int16_t* repetition, const void* values) {
  static_cast<pq::TypedColumnWriter<Type>&>(writer).WriteBatch(count, definition, repetition,
                                                               static_cast<const typename Type::c_type*>(values));
}

void WriteAny(pq::ColumnWriter& writer, std::int64_t count, const std::int16_t* definition,
              const std::int16_t* repetition, const void* values) {
  switch (writer.type()) {
    case pq::Type::BOOLEAN: return WriteTyped<pq::BooleanType>(writer, count, definition, repetition, values);
    case pq::Type::INT32: return WriteTyped<pq::Int32Type>(writer, count, definition, repetition, values);
    case pq::Type::INT64: return WriteTyped<pq::Int64Type>(writer, count, definition, repetition, values);
    case pq::Type::INT96: return WriteTyped<pq::Int96Type>(writer, count, definition, repetition, values);
    case pq::Type::FLOAT: return WriteTyped<pq::FloatType>(writer, count, definition, repetition, values);
    case pq::Type::DOUBLE: return WriteTyped<pq::DoubleType>(writer, count, definition, repetition, values);
    case pq::Type::BYTE_ARRAY: return WriteTyped<pq::ByteArrayType>(writer, count, definition, repetition, values);
    case pq::Type::FIXED_LEN_BYTE_ARRAY: return WriteTyped<pq::FLBAType>(writer, count, definition, repetition, values);
    case pq::Type::UNDEFINED: break;
  }
  throw pq::ParquetException("column without a type");
}

/// The logical type as far as the library's order of statistics depends on it.
std::shared_ptr<const pq::LogicalType> LogicalOf(const parquet::SchemaElement& element) {
  const parquet::LogicalType type = parquet::EffectiveLogicalType(element);
  const auto unit = [&] {
    switch (type.unit) {
      case parquet::TimeUnit::kMillis: return pq::LogicalType::TimeUnit::MILLIS;
      case parquet::TimeUnit::kMicros: return pq::LogicalType::TimeUnit::MICROS;
      default: return pq::LogicalType::TimeUnit::NANOS;
    }
  };
  switch (type.kind) {
    case parquet::LogicalKind::kList: return pq::LogicalType::List();
    case parquet::LogicalKind::kMap: return pq::LogicalType::Map();
    case parquet::LogicalKind::kString: return pq::LogicalType::String();
    case parquet::LogicalKind::kEnum: return pq::LogicalType::Enum();
    case parquet::LogicalKind::kJson: return pq::LogicalType::JSON();
    case parquet::LogicalKind::kBson: return pq::LogicalType::BSON();
    case parquet::LogicalKind::kUuid: return pq::LogicalType::UUID();
    case parquet::LogicalKind::kFloat16: return pq::LogicalType::Float16();
    case parquet::LogicalKind::kDecimal: return pq::LogicalType::Decimal(type.precision, type.scale);
    case parquet::LogicalKind::kDate: return pq::LogicalType::Date();
    case parquet::LogicalKind::kTime: return pq::LogicalType::Time(type.adjusted_to_utc, unit());
    case parquet::LogicalKind::kTimestamp: return pq::LogicalType::Timestamp(type.adjusted_to_utc, unit());
    case parquet::LogicalKind::kInteger: return pq::LogicalType::Int(type.bit_width, type.is_signed);
    default: return pq::LogicalType::None();
  }
}

pq::schema::NodePtr NodeAt(const std::vector<parquet::SchemaElement>& schema, std::size_t& next) {
  const bool root = next == 0;  // its repetition means nothing and may be anything
  const parquet::SchemaElement& element = schema[next++];
  const auto repetition = static_cast<pq::Repetition::type>(
      root ? parquet::Repetition::kRequired : element.repetition.value_or(parquet::Repetition::kRequired));
  if (element.type) {
    return pq::schema::PrimitiveNode::Make(element.name, repetition, LogicalOf(element),
                                           static_cast<pq::Type::type>(*element.type), element.type_length);
  }
  pq::schema::NodeVector children;
  for (std::int32_t i = 0; i < element.num_children; ++i) children.push_back(NodeAt(schema, next));
  std::shared_ptr<const pq::LogicalType> logical = LogicalOf(element);
  if (!logical->is_nested()) logical = nullptr;
  return pq::schema::GroupNode::Make(element.name, repetition, children, std::move(logical));
}

::arrow::Compression::type CompressionOf(parquet::Codec codec) {
  switch (codec) {
    case parquet::Codec::kUncompressed: return ::arrow::Compression::UNCOMPRESSED;
    case parquet::Codec::kSnappy: return ::arrow::Compression::SNAPPY;
    case parquet::Codec::kGzip: return ::arrow::Compression::GZIP;
    case parquet::Codec::kBrotli: return ::arrow::Compression::BROTLI;
    case parquet::Codec::kLz4Raw: return ::arrow::Compression::LZ4;
    default: return ::arrow::Compression::ZSTD;
  }
}

}  // namespace

struct DecodedFile::Arrow {
  explicit Arrow(RandomAccessSource& source, std::int64_t memory_bytes)
      : pool(memory_bytes), file(std::make_shared<SourceFile>(source, &pool.capped)) {}
  BoundedPool pool;
  std::shared_ptr<SourceFile> file;
  std::unique_ptr<pq::ParquetFileReader> reader;
};

DecodedFile::DecodedFile(std::unique_ptr<Arrow> arrow) : arrow_(std::move(arrow)) {}
DecodedFile::~DecodedFile() = default;

Result<std::unique_ptr<DecodedFile>> DecodedFile::Open(RandomAccessSource& source, std::int64_t memory_bytes) {
  auto arrow = std::make_unique<Arrow>(source, memory_bytes);
  try {
    pq::ReaderProperties properties(&arrow->pool.capped);
    properties.enable_buffered_stream();
    properties.set_buffer_size(kStreamBytes);
    properties.set_page_checksum_verification(true);
    arrow->reader = pq::ParquetFileReader::Open(arrow->file, properties);
  } catch (const std::exception& caught) {
    if (arrow->file->error()) return *arrow->file->error();
    return FromException(caught);
  }
  return std::unique_ptr<DecodedFile>(new DecodedFile(std::move(arrow)));
}

Result<std::unique_ptr<LeafReader>> DecodedFile::Leaf(int row_group, int leaf, std::size_t batch_size) {
  const auto make = [&]<class Type>(Type*, std::shared_ptr<pq::ColumnReader> reader) {
    return std::unique_ptr<LeafReader>(
        std::make_unique<TypedLeafReader<Type>>(std::move(reader), *arrow_->file, batch_size));
  };
  try {
    std::unique_ptr<pq::PageReader> pages = arrow_->reader->RowGroup(row_group)->GetColumnPageReader(leaf);
    const pq::ColumnDescriptor* column = arrow_->reader->metadata()->schema()->Column(leaf);
    ::arrow::MemoryPool* pool = &arrow_->pool.capped;
    std::shared_ptr<pq::ColumnReader> reader =
        pq::ColumnReader::Make(column, WithRunLevels(std::move(pages), *column, pool), pool);
    switch (reader->type()) {
      case pq::Type::BOOLEAN: return make(static_cast<pq::BooleanType*>(nullptr), reader);
      case pq::Type::INT32: return make(static_cast<pq::Int32Type*>(nullptr), reader);
      case pq::Type::INT64: return make(static_cast<pq::Int64Type*>(nullptr), reader);
      case pq::Type::INT96: return make(static_cast<pq::Int96Type*>(nullptr), reader);
      case pq::Type::FLOAT: return make(static_cast<pq::FloatType*>(nullptr), reader);
      case pq::Type::DOUBLE: return make(static_cast<pq::DoubleType*>(nullptr), reader);
      case pq::Type::BYTE_ARRAY: return make(static_cast<pq::ByteArrayType*>(nullptr), reader);
      case pq::Type::FIXED_LEN_BYTE_ARRAY: return make(static_cast<pq::FLBAType*>(nullptr), reader);
      case pq::Type::UNDEFINED: break;
    }
    return Error{Code::kUnsupported, "a column without a type"};
  } catch (const std::exception& caught) {
    if (arrow_->file->error()) return *arrow_->file->error();
    return FromException(caught);
  }
}

struct EncodedFile::Arrow {
  explicit Arrow(std::int64_t memory_bytes) : pool(memory_bytes), stream(std::make_shared<BytesStream>(memory_bytes)) {}
  BoundedPool pool;
  std::shared_ptr<BytesStream> stream;
  std::unique_ptr<pq::ParquetFileWriter> writer;
  pq::RowGroupWriter* group = nullptr;
  pq::ColumnWriter* column = nullptr;
};

EncodedFile::EncodedFile(std::unique_ptr<Arrow> arrow) : arrow_(std::move(arrow)) {}
EncodedFile::~EncodedFile() = default;

Result<std::unique_ptr<EncodedFile>> EncodedFile::Open(const std::vector<parquet::SchemaElement>& schema,
                                                       const EncodedFileOptions& options) {
  auto arrow = std::make_unique<Arrow>(options.memory_bytes);
  try {
    std::size_t next = 0;
    auto root = std::static_pointer_cast<pq::schema::GroupNode>(NodeAt(schema, next));
    pq::WriterProperties::Builder properties;
    properties.memory_pool(&arrow->pool.capped)
        ->compression(CompressionOf(options.codec))
        ->data_page_version(pq::ParquetDataPageVersion::V1)
        ->data_pagesize(kPageBytes)
        ->max_rows_per_page(std::numeric_limits<std::int32_t>::max())
        ->max_row_group_length(std::numeric_limits<std::int64_t>::max())
        ->dictionary_pagesize_limit(kDictionaryBytesMax)
        ->enable_write_page_index()
        ->disable_dictionary();
    pq::SchemaDescriptor leaves;
    leaves.Init(root);
    for (const std::int32_t leaf : options.dictionary_leaves) {
      properties.enable_dictionary(leaves.Column(leaf)->path());
    }
    arrow->writer = pq::ParquetFileWriter::Open(arrow->stream, root, properties.build());
  } catch (const std::exception& caught) {
    return FromException(caught);
  }
  return std::unique_ptr<EncodedFile>(new EncodedFile(std::move(arrow)));
}

Status EncodedFile::BeginRowGroup() {
  try {
    arrow_->group = arrow_->writer->AppendRowGroup();
    return Ok();
  } catch (const std::exception& caught) {
    return FromException(caught);
  }
}

Status EncodedFile::BeginLeaf() {
  try {
    arrow_->column = arrow_->group->NextColumn();
    return Ok();
  } catch (const std::exception& caught) {
    return FromException(caught);
  }
}

Status EncodedFile::Write(std::span<const std::int16_t> definition, std::span<const std::int16_t> repetition,
                          const void* values) {
  try {
    WriteAny(*arrow_->column, static_cast<std::int64_t>(definition.size()), definition.data(), repetition.data(),
             values);
    return Ok();
  } catch (const std::exception& caught) {
    return FromException(caught);
  }
}

Result<Bytes> EncodedFile::Finish() {
  try {
    arrow_->writer->Close();
    return std::move(arrow_->stream->bytes);
  } catch (const std::exception& caught) {
    return FromException(caught);
  }
}

}  // namespace firn::splice
