// SPDX-License-Identifier: Apache-2.0
//
// Ranges of files that a storage copies by itself into a file that is being written.
//
// In: a file as it was when it was marked, a range of it. Out: those bytes behind what was written so far; they do not
//   pass through here.
// Guarantees: the order is that of the calls, those of the sink's Write among them; the sink's position counts the
//   range at once. What is copied is of the file as it was marked, or closing the sink fails. A range that is too
//   short, or that the storage refuses to copy, is read and written.
// Cost: Mark: one request. Append: a request for each of the storage's parts, sent at the latest when the sink is
//   closed.
// Errors: kCorrupt: the file has changed since it was marked; those of the sink and of `source`, at this call or a
//   later one.
// Threads: Mark from any, the rest belongs to the thread that writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_io.h"
#include "base/result.h"

namespace firn {

/// A file as it was at one moment.
struct FileMark {
  std::string location;  // as the storage that copies knows it
  std::string version;
  std::uint64_t size_bytes = 0;
  std::string name;  // as the caller knows it, for errors
};

/// What a sink holds beside that while ranges are copied, at most.
inline constexpr std::int64_t kRangeCopiesBytes = std::int64_t{44} << 20;

struct CopiedRanges {
  std::uint64_t size_bytes = 0;  // that the storage copied
  std::string refusal;           // why it copied others not; empty: it did not refuse
};

class RangeCopies {
 public:
  virtual ~RangeCopies() = default;
  /// To be asked before anything of the file is read. nullopt: nothing can be copied from it.
  virtual std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) = 0;
  /// `source` reads the file of `mark`; it must live until the sink is closed or given up.
  virtual Status Append(RandomAccessSource& source, const FileMark& mark, std::uint64_t offset, std::uint64_t size) = 0;
  /// Complete once the sink is closed.
  virtual CopiedRanges copied() const = 0;
};

}  // namespace firn
