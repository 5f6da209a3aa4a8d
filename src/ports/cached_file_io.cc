// SPDX-License-Identifier: Apache-2.0
#include "ports/cached_file_io.h"

#include <algorithm>
#include <utility>

namespace firn::ports {
namespace {

/// Of the list, the map and two copies of the key, besides their texts.
constexpr std::int64_t kOverheadBytes = 160;

class SharedSource final : public RandomAccessSource {
 public:
  SharedSource(std::string name, FileCache::Content content) : name_(std::move(name)), content_(std::move(content)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return content_->size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (offset > content_->size() || out.size() > content_->size() - offset) {
      return Error{Code::kCorrupt, name_ + ": read past the end at offset " + std::to_string(offset)};
    }
    std::copy_n(content_->begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return Ok();
  }

 private:
  std::string name_;
  FileCache::Content content_;
};

class CachedFileIO final : public FileIO {
 public:
  CachedFileIO(FileIO& below, FileCache& cache, std::string scope)
      : below_(below), cache_(cache), scope_(std::move(scope)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    if (!known_size_bytes || !cache_.Takes(*known_size_bytes)) return below_.Open(location, known_size_bytes);
    const std::string key = scope_ + '\n' + location + '\n' + std::to_string(*known_size_bytes);
    FileCache::Content content = cache_.Find(key);
    if (content == nullptr) {
      FIRN_ASSIGN(const auto source, below_.Open(location, known_size_bytes));
      Bytes bytes(static_cast<std::size_t>(*known_size_bytes));
      // A file of another size than its line in the list says is for the reader to judge.
      if (source->size() != bytes.size()) return below_.Open(location, known_size_bytes);
      FIRN_TRY(source->ReadAt(0, bytes));
      content = std::make_shared<const Bytes>(std::move(bytes));
      cache_.Keep(key, content);
    }
    return std::unique_ptr<RandomAccessSource>(new SharedSource(location, std::move(content)));
  }
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override { return below_.Create(location); }
  Status CheckCreate(const std::string& location) override { return below_.CheckCreate(location); }
  Status CheckExclusive(const std::string& location) override { return below_.CheckExclusive(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return below_.Replace(location, bytes); }
  Status Delete(const std::string& location) override { return below_.Delete(location); }
  Result<bool> Exists(const std::string& location) override { return below_.Exists(location); }
  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    return below_.List(prefix, page);
  }

 private:
  FileIO& below_;
  FileCache& cache_;
  const std::string scope_;
};

}  // namespace

bool FileCache::Takes(std::uint64_t size_bytes) const {
  return size_bytes > 0 && size_bytes <= static_cast<std::uint64_t>(std::max<std::int64_t>(capacity_bytes_, 0)) / 8;
}

std::int64_t FileCache::CostOf(const Kept& kept) {
  return static_cast<std::int64_t>(kept.content->size() + 2 * kept.key.size()) + kOverheadBytes;
}

FileCache::Content FileCache::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    ++counts_.misses;
    return nullptr;
  }
  ++counts_.hits;
  kept_.splice(kept_.begin(), kept_, found->second);
  return found->second->content;
}

void FileCache::Keep(const std::string& key, Content content) {
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  kept_.push_front({key, std::move(content)});
  by_key_.emplace(key, kept_.begin());
  ++counts_.files;
  counts_.size_bytes += CostOf(kept_.front());
  while (counts_.size_bytes > capacity_bytes_ && !kept_.empty()) {
    counts_.size_bytes -= CostOf(kept_.back());
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
    --counts_.files;
    ++counts_.evictions;
  }
}

FileCacheCounts FileCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::unique_ptr<FileIO> MakeCached(FileIO& below, FileCache& cache, std::string scope) {
  return std::make_unique<CachedFileIO>(below, cache, std::move(scope));
}

}  // namespace firn::ports
