// SPDX-License-Identifier: Apache-2.0
//
// A file that is open only while it is read, so that a merge of thousands of files needs few open ones.
//
// In: a FileIO, a location and the file's size as a manifest tells it. Out: its bytes.
// Guarantees: those of the FileIO. Cost: an Open more for each read; of stores that is nothing, as sizes are known.
// Threads: any, as the FileIO allows. Errors: those of FileIO::Open, at each read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ports/file_io.h"

namespace firn::ports {

class ReopenedSource final : public RandomAccessSource {
 public:
  /// `io` must live longer; `size_bytes` is not negative.
  ReopenedSource(FileIO& io, std::string location, std::int64_t size_bytes)
      : io_(io), name_(std::move(location)), size_bytes_(static_cast<std::uint64_t>(size_bytes)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_bytes_; }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> source, io_.Open(name_, size_bytes_));
    return source->ReadAt(offset, out);
  }

 private:
  FileIO& io_;
  std::string name_;
  std::uint64_t size_bytes_;
};

}  // namespace firn::ports
