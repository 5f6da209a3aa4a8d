// SPDX-License-Identifier: Apache-2.0
#include "ports/memory_file_io.h"

#include <algorithm>

#include "base/check.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

/// Shares the bytes, so that deleting a file does not disturb its readers.
class SharedSource final : public RandomAccessSource {
 public:
  SharedSource(std::string name, std::shared_ptr<const Bytes> bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_->size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (offset > bytes_->size() || out.size() > bytes_->size() - offset) {
      return Error{Code::kCorrupt, name_ + ": read past the end at offset " + std::to_string(offset)};
    }
    std::copy_n(bytes_->begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return Ok();
  }

 private:
  std::string name_;
  std::shared_ptr<const Bytes> bytes_;
};

}  // namespace

class MemoryOutputFile final : public OutputFile, public RangeCopies {
 public:
  MemoryOutputFile(MemoryFileIO& io, std::string name) : io_(io), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return bytes_.size(); }
  Status Write(ByteView bytes) override {
    FIRN_CHECK(!done_);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Ok();
  }
  Status Close() override {
    FIRN_CHECK(!done_);
    done_ = true;
    return io_.Publish(name_, std::move(bytes_));
  }
  void Abort() override { done_ = true; }

  RangeCopies* range_copies() override { return this; }
  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) override {
    return io_.Mark(location, size_bytes);
  }
  Status Append(RandomAccessSource&, const FileMark& mark, std::uint64_t offset, std::uint64_t size) override {
    FIRN_ASSIGN(const auto bytes, io_.Marked(mark));
    if (offset > bytes->size() || size > bytes->size() - offset) {
      return Error{Code::kCorrupt, mark.location + ": a range past the end at offset " + std::to_string(offset)};
    }
    copied_bytes_ += size;
    return Write(ByteView(*bytes).subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)));
  }
  CopiedRanges copied() const override { return {copied_bytes_, ""}; }

 private:
  MemoryFileIO& io_;
  std::string name_;
  Bytes bytes_;
  std::uint64_t copied_bytes_ = 0;
  bool done_ = false;
};

Result<std::unique_ptr<RandomAccessSource>> MemoryFileIO::Open(const std::string& location,
                                                               std::optional<std::uint64_t>) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(location);
  if (found == files_.end()) return Error{Code::kNotFound, location + ": no such file"};
  return std::unique_ptr<RandomAccessSource>(new SharedSource(location, found->second.bytes));
}

Result<std::unique_ptr<OutputFile>> MemoryFileIO::Create(const std::string& location) {
  const std::lock_guard lock(mutex_);
  if (location.empty() || location.ends_with('/')) {
    return Error{Code::kInvalidArgument, "`" + location + "` cannot be the name of a file"};
  }
  if (files_.contains(location)) return Error{Code::kConflict, location + ": file exists already"};
  return std::unique_ptr<OutputFile>(new MemoryOutputFile(*this, location));
}

Status MemoryFileIO::Publish(const std::string& location, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  const auto [at, inserted] = files_.try_emplace(location, NewEntry(std::move(bytes)));
  if (!inserted) return Error{Code::kConflict, location + ": file exists already"};
  return Ok();
}

Status MemoryFileIO::Delete(const std::string& location) {
  const std::lock_guard lock(mutex_);
  files_.erase(location);
  return Ok();
}

Result<bool> MemoryFileIO::Exists(const std::string& location) {
  const std::lock_guard lock(mutex_);
  return files_.contains(location);
}

Result<ListPage> MemoryFileIO::List(const std::string& prefix, const std::string& page) {
  const std::lock_guard lock(mutex_);
  const std::string start = AsPrefix(prefix);
  ListPage result;
  auto at = page.empty() ? files_.lower_bound(start) : files_.upper_bound(page);
  for (; at != files_.end() && at->first.starts_with(start); ++at) {
    if (result.files.size() == page_files_) {
      result.next_page = result.files.back().location;
      break;
    }
    result.files.push_back({at->first, at->second.bytes->size(), at->second.modified});
  }
  return result;
}

Status MemoryFileIO::Replace(const std::string& location, ByteView bytes) {
  Put(location, Bytes(bytes.begin(), bytes.end()));
  return Ok();
}

std::size_t MemoryFileIO::file_count() const {
  const std::lock_guard lock(mutex_);
  return files_.size();
}

void MemoryFileIO::Put(const std::string& location, Bytes bytes) {
  const std::lock_guard lock(mutex_);
  files_.insert_or_assign(location, NewEntry(std::move(bytes)));
}

/// Under the lock.
MemoryFileIO::Entry MemoryFileIO::NewEntry(Bytes bytes) {
  return {std::make_shared<const Bytes>(std::move(bytes)), Now(), ++last_version_};
}

std::optional<FileMark> MemoryFileIO::Mark(const std::string& location, std::uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(location);
  if (found == files_.end() || found->second.bytes->size() != size_bytes) return std::nullopt;
  return FileMark{location, std::to_string(found->second.version), size_bytes, location};
}

Result<std::shared_ptr<const Bytes>> MemoryFileIO::Marked(const FileMark& mark) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(mark.location);
  if (found == files_.end()) return Error{Code::kNotFound, mark.location + ": no such file"};
  if (std::to_string(found->second.version) != mark.version) {
    return Error{Code::kCorrupt, mark.location + ": has changed while it was read"};
  }
  return found->second.bytes;
}

}  // namespace firn::ports
