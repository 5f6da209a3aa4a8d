// SPDX-License-Identifier: Apache-2.0
//
// Position delete files that name rows of many data files, kept while there is memory.
//
// In: delete files. Out: their positions.
// Guarantees: a file that is asked for by several threads at once is read by one of them; failures are not kept. What
//   is in use may stay beyond the limit until it is given back.
// Cost: `memory_bytes` for what is kept; the files that were used longest ago go first.
// Errors: those of LoadPositionDeletes; kLimit for a file that takes more than half of the memory.
// Threads: any.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "act/delete_load_positions.h"

namespace firn::act {

class DeleteCache {
 public:
  explicit DeleteCache(std::int64_t memory_bytes) : memory_limit_(memory_bytes) {}

  Result<std::shared_ptr<const PositionDeletes>> Get(const DeleteLoadContext& context,
                                                     const iceberg::DataFile& delete_file);
  /// Positions that a file may have and still be worth reading whole.
  std::int64_t positions_max() const { return memory_limit_ / 4; }
  std::int64_t memory_bytes() const;
  std::int64_t loads() const;

 private:
  struct Entry {
    std::mutex loading;
    std::shared_ptr<const PositionDeletes> deletes;  // guarded by `loading`
  };
  struct Kept {
    std::shared_ptr<Entry> entry = std::make_shared<Entry>();
    std::int64_t bytes = 0;  // 0 until it is loaded
    std::list<std::string>::iterator place;
  };
  std::shared_ptr<Entry> Touch(const std::string& path);
  void Account(const std::string& path, const std::shared_ptr<Entry>& entry, std::int64_t bytes);
  void Forget(const std::string& path, const std::shared_ptr<Entry>& entry);

  std::int64_t memory_limit_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Kept> files_;
  std::list<std::string> newest_first_;
  std::int64_t bytes_ = 0, loads_ = 0;
};

}  // namespace firn::act
