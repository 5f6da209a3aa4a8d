// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the structs that footers, page headers and page indexes are made of. Internal to this folder.
//
// Guarantees: Read replaces the whole value; a required member that is missing is a fault of the reader. Read and
//   Write are inverse, unknown members included where the value has a place for them.
// Errors: those of ThriftReader. Threads: pure. Source: parquet.thrift.
#pragma once

#include <algorithm>
#include <functional>

#include "format/parquet/metadata.h"
#include "format/parquet/thrift_reader.h"
#include "format/parquet/thrift_writer.h"

namespace firn::parquet {

void Read(ThriftReader& in, LogicalType& value);
void Read(ThriftReader& in, SchemaElement& value);
void Read(ThriftReader& in, Statistics& value);
void Read(ThriftReader& in, KeyValue& value);
void Read(ThriftReader& in, SizeStatistics& value);
void Read(ThriftReader& in, PageEncodingStats& value);
void Read(ThriftReader& in, ColumnMetaData& value);
void Read(ThriftReader& in, ColumnChunk& value);
void Read(ThriftReader& in, SortingColumn& value);
void Read(ThriftReader& in, RowGroup& value);
void Read(ThriftReader& in, FileMetaData& value);

void Write(const LogicalType& value, Bytes& out);
void Write(const SchemaElement& value, Bytes& out);
void Write(const Statistics& value, Bytes& out);
void Write(const KeyValue& value, Bytes& out);
void Write(const SizeStatistics& value, Bytes& out);
void Write(const PageEncodingStats& value, Bytes& out);
void Write(const ColumnMetaData& value, Bytes& out);
void Write(const ColumnChunk& value, Bytes& out);
void Write(const SortingColumn& value, Bytes& out);
void Write(const RowGroup& value, Bytes& out);
/// `count` row groups come from `write_group`, not from the value.
using GroupWriter = std::function<void(std::size_t group, Bytes& out)>;
void Write(const FileMetaData& value, std::size_t count, const GroupWriter& write_group, Bytes& out);

/// A list of structs. Memory grows with the elements that were really there.
template <class T>
void ReadList(ThriftReader& in, std::vector<T>& values) {
  const std::size_t count = in.BeginList(ThriftType::kStruct);
  values.clear();
  values.reserve(std::min<std::size_t>(count, 64));
  for (std::size_t i = 0; i < count && in.ok(); ++i) Read(in, values.emplace_back());
}

template <class T>
void WriteList(ThriftWriter& out, int id, const std::vector<T>& values) {
  out.List(id, ThriftType::kStruct, values.size());
  for (const T& value : values) Write(value, out.out());
}

inline std::vector<std::int64_t> ReadI64List(ThriftReader& in) {
  const std::size_t count = in.BeginList(ThriftType::kI64);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) value = in.ReadI64();
  return values;
}

template <class E>
E ReadEnum(ThriftReader& in) {
  return static_cast<E>(in.ReadI32());
}

constexpr std::uint32_t Bit(int id) { return std::uint32_t{1} << id; }

/// The members in `wanted` (bit = field id) must all have been read.
inline void Require(ThriftReader& in, const ThriftStruct& fields, std::uint32_t wanted, const char* fault) {
  if ((fields.seen() & wanted) != wanted) in.Fail(fault);
}

}  // namespace firn::parquet
