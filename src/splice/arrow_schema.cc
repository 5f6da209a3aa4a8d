// SPDX-License-Identifier: Apache-2.0
#include "splice/arrow_schema.h"

#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include <algorithm>
#include <exception>
#include <string>

#include "format/parquet/footer.h"

namespace firn::splice {

namespace {

constexpr std::string_view kArrowSchemaKey = "ARROW:schema";

/// The footer of an empty file with the same schema.
Bytes SchemaFooter(const parquet::FileMetaData& footer) {
  parquet::FileMetaData schema;
  schema.version = footer.version;
  schema.schema = footer.schema;
  schema.created_by = footer.created_by;
  const auto entry = std::ranges::find(footer.key_value_metadata, kArrowSchemaKey, &parquet::KeyValue::key);
  if (entry != footer.key_value_metadata.end()) schema.key_value_metadata.push_back(*entry);
  return parquet::WriteFooter(schema);
}

::arrow::Status ReadByArrow(const Bytes& footer) {
  constexpr std::size_t kTrailerBytes = 8;
  const auto size = static_cast<std::int64_t>(footer.size() - kTrailerBytes);
  const auto metadata = ::parquet::FileMetaData::Make(footer.data(), size);
  std::shared_ptr<::arrow::Schema> schema;
  return ::parquet::arrow::FromParquetSchema(metadata->schema(), ::parquet::ArrowReaderProperties(),
                                             metadata->key_value_metadata(), &schema);
}

/// Files may have types of a later version.
bool IsUnknown(const std::string& message) {
  const auto has = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  return has("ot yet implemented") || has("NotImplemented") || has("ot supported") || has("Unrecognized") ||
         has("Unhandled");
}

}  // namespace

Status ArrowSchemaCheck::Check(const parquet::FileMetaData& footer) {
  Bytes bytes = SchemaFooter(footer);
  if (bytes == last_good_) return Ok();
  std::string message;
  try {
    const ::arrow::Status read = ReadByArrow(bytes);
    if (!read.ok() && !read.IsNotImplemented()) message = read.message();
  } catch (const std::exception& caught) {
    message = caught.what();
  }
  if (!message.empty() && !IsUnknown(message)) {
    return Error{Code::kCorrupt, "the schema in the footer cannot be read by Arrow: " + message};
  }
  last_good_ = std::move(bytes);
  return Ok();
}

}  // namespace firn::splice
