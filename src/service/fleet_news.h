// SPDX-License-Identifier: Apache-2.0
//
// Tells any number of readers what has just changed, out of one ring of bounded size.
//
// In: short notes. Out: those after a position that the reader keeps.
// Guarantees: publishing never waits for a reader. A reader that is too slow is told that it lost some, and reads
//   the rows again instead. Equal notes that nobody can have read yet are one. Memory: kNewsMax notes, however many
//   readers there are.
// Cost: O(1) a note. Threads: any. Errors: none.
// Source: docs/api.md, "stream".
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace firn::service {

inline constexpr std::size_t kNewsMax = 1024;

struct News {
  enum class Kind { kTable, kDecision, kJob, kQueue, kSummary };
  std::uint64_t position = 0;
  Kind kind = Kind::kTable;
  std::string table = {};  // id; empty for kQueue and kSummary
  std::string id = {};     // of the decision or job

  bool Same(const News& other) const { return kind == other.kind && table == other.table && id == other.id; }
};

struct NewsSince {
  std::vector<News> items = {};
  std::uint64_t position = 0;  // to ask with next
  bool lost = false;           // some were overwritten before they were read
  bool closed = false;
};

class FleetNews {
 public:
  void Publish(News::Kind kind, std::string table = "", std::string id = "");
  /// The position after the newest note: where a reader starts.
  std::uint64_t Position() const;
  /// Waits up to `wait_ms` for the first one.
  NewsSince After(std::uint64_t position, std::size_t count_max, std::int64_t wait_ms);
  /// Readers that wait return at once, from now on.
  void Close();

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  bool closed_ = false;
  std::uint64_t read_up_to_ = 0;  // the highest position that was given to a reader
  std::uint64_t next_position_ = 1;
  std::deque<News> ring_;
};

}  // namespace firn::service
