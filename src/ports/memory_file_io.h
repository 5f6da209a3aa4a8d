// SPDX-License-Identifier: Apache-2.0
//
// Files that live in this process only: the twin of real storage in tests.
//
// In: any text as a location. Out: as file_io.h says; List is sorted by bytes.
// Guarantees: those of FileIO; files are never changed after Close().
// Threads: any.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/range_copies.h"
#include "ports/clock.h"
#include "ports/file_io.h"

namespace firn::ports {

class MemoryFileIO final : public FileIO {
 public:
  /// Modification times are 0.
  MemoryFileIO() = default;
  /// Modification times come from `clock`, which must live longer.
  explicit MemoryFileIO(Clock& clock) : clock_(&clock) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckCreate(const std::string&) override { return Ok(); }
  Status CheckExclusive(const std::string&) override { return Ok(); }
  Status Replace(const std::string& location, ByteView bytes) override;

  /// Files of one List page (1000).
  void set_page_files(std::size_t count) { page_files_ = count; }
  std::size_t file_count() const;
  /// Writes or replaces a file, for test set-up and for spoiling files.
  void Put(const std::string& location, Bytes bytes);

 private:
  struct Entry {
    std::shared_ptr<const Bytes> bytes;
    TimestampMs modified;
    std::uint64_t version = 0;  // of all files
  };
  friend class MemoryOutputFile;
  Status Publish(const std::string& location, Bytes bytes);
  TimestampMs Now() { return clock_ ? clock_->Now() : TimestampMs{}; }

  Entry NewEntry(Bytes bytes);
  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes);
  Result<std::shared_ptr<const Bytes>> Marked(const FileMark& mark);

  Clock* clock_ = nullptr;
  std::uint64_t last_version_ = 0;
  std::size_t page_files_ = 1000;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> files_;
};

}  // namespace firn::ports
