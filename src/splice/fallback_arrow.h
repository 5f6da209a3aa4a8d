// SPDX-License-Identifier: Apache-2.0
//
// The Parquet library of Arrow behind two small classes: decoded leaves out of a file, encoded leaves into one.
//
// In: a source; or schema elements and values. Out: levels and values; or a Parquet file in memory.
// Guarantees: exceptions end here; memory that the library takes is bounded, a file that wants more is kLimit.
// Cost: the library's. Chunks are streamed, not read whole.
// Errors: kCorrupt, kUnsupported, kLimit without the source's name; errors of the source as they were.
// Threads: one owner each.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "base/byte_io.h"
#include "format/parquet/metadata.h"

namespace firn::splice {

/// The values of one column chunk, a batch at a time.
class LeafReader {
 public:
  virtual ~LeafReader() = default;
  /// Fills levels from the start of the spans (of equal size) and returns how many; 0 is the end. Levels that the leaf
  /// does not have are left as they were.
  virtual Result<std::size_t> Read(std::span<std::int16_t> definition, std::span<std::int16_t> repetition) = 0;
  /// The values of the last batch: an array as fallback_values.h says, nulls left out.
  virtual const void* values() const = 0;
  virtual std::size_t value_count() const = 0;
};

/// Must outlive its leaf readers.
class DecodedFile {
 public:
  static Result<std::unique_ptr<DecodedFile>> Open(RandomAccessSource& source, std::int64_t memory_bytes);
  ~DecodedFile();
  Result<std::unique_ptr<LeafReader>> Leaf(int row_group, int leaf, std::size_t batch_size);

 private:
  struct Arrow;
  explicit DecodedFile(std::unique_ptr<Arrow> arrow);
  std::unique_ptr<Arrow> arrow_;
};

struct EncodedFileOptions {
  parquet::Codec codec = parquet::Codec::kZstd;
  std::set<std::int32_t> dictionary_leaves;  // the others are PLAIN
  std::int64_t memory_bytes = 256 << 20;
};

class EncodedFile {
 public:
  /// `schema` is a whole tree, root first.
  static Result<std::unique_ptr<EncodedFile>> Open(const std::vector<parquet::SchemaElement>& schema,
                                                   const EncodedFileOptions& options);
  ~EncodedFile();
  Status BeginRowGroup();
  /// Ends the last leaf and begins the next one of the row group.
  Status BeginLeaf();
  /// `values` holds one value for every entry of the highest definition level.
  Status Write(std::span<const std::int16_t> definition, std::span<const std::int16_t> repetition, const void* values);
  Result<Bytes> Finish();

 private:
  struct Arrow;
  explicit EncodedFile(std::unique_ptr<Arrow> arrow);
  std::unique_ptr<Arrow> arrow_;
};

}  // namespace firn::splice
