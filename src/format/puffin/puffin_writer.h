// SPDX-License-Identifier: Apache-2.0
//
// Writes a Puffin file: blobs after each other, then the footer that says where they are.
//
// In: blobs as stored bytes with what is said about them. Out: a Puffin file in a sink.
// Guarantees: what ReadFooter gives back is what was added; the footer is not compressed. A file may have no blob.
// Cost: one copy into the sink; memory is the footer.
// Errors: those of the sink; kLimit for a footer that could not be read again.
// Threads: one owner.
// Source: Puffin specification, version 1.
#pragma once

#include <vector>

#include "format/puffin/puffin.h"

namespace firn::puffin {

class Writer {
 public:
  /// Writes the magic. `sink` is empty and must outlive the writer.
  static Result<Writer> Begin(ByteSink& sink);
  /// Appends `stored`, already compressed as `metadata.compression_codec` says. Gives back the metadata with offset and
  /// length filled in.
  Result<BlobMetadata> Add(BlobMetadata metadata, ByteView stored);
  /// Writes the footer and gives back what it says. Once; the sink is not closed.
  Result<FileMetadata> Finish(Properties properties);

 private:
  explicit Writer(ByteSink& sink) : sink_(&sink) {}
  ByteSink* sink_;
  std::vector<BlobMetadata> blobs_;
};

}  // namespace firn::puffin
