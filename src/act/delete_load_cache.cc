// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load_cache.h"

#include <utility>

namespace firn::act {

std::int64_t DeleteCache::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::int64_t DeleteCache::loads() const {
  const std::lock_guard lock(mutex_);
  return loads_;
}

std::shared_ptr<DeleteCache::Entry> DeleteCache::Touch(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = files_.try_emplace(path);
  if (is_new) {
    newest_first_.push_front(path);
    found->second.place = newest_first_.begin();
  } else {
    newest_first_.splice(newest_first_.begin(), newest_first_, found->second.place);
  }
  return found->second.entry;
}

void DeleteCache::Account(const std::string& path, const std::shared_ptr<Entry>& entry, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++loads_;
  const auto found = files_.find(path);
  if (found == files_.end() || found->second.entry != entry) return;  // was dropped while it was loaded
  found->second.bytes = bytes;
  bytes_ += bytes;
  while (bytes_ > memory_limit_ && !newest_first_.empty()) {
    const auto oldest = files_.find(newest_first_.back());
    bytes_ -= oldest->second.bytes;
    files_.erase(oldest);
    newest_first_.pop_back();
  }
}

void DeleteCache::Forget(const std::string& path, const std::shared_ptr<Entry>& entry) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end() || found->second.entry != entry) return;
  bytes_ -= found->second.bytes;
  newest_first_.erase(found->second.place);
  files_.erase(found);
}

Result<std::shared_ptr<const PositionDeletes>> DeleteCache::Get(const DeleteLoadContext& context,
                                                                const iceberg::DataFile& delete_file) {
  const std::shared_ptr<Entry> entry = Touch(delete_file.file_path);
  const std::lock_guard loading(entry->loading);
  if (entry->deletes != nullptr) return entry->deletes;
  Result<PositionDeletes> loaded = LoadPositionDeletes(context, delete_file, memory_limit_ / 2);
  if (!loaded) {
    Forget(delete_file.file_path, entry);
    return std::move(loaded.error());
  }
  const auto bytes = static_cast<std::int64_t>(loaded->memory_bytes());
  entry->deletes = std::make_shared<const PositionDeletes>(std::move(*loaded));
  Account(delete_file.file_path, entry, bytes);
  return entry->deletes;
}

}  // namespace firn::act
