// SPDX-License-Identifier: Apache-2.0
#include "ports/arrow_file_io.h"

#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>
#include <arrow/util/io_util.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/log.h"
#include "ports/location.h"
#include "ports/whole_read.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

constexpr std::size_t kPageFiles = 1000;
constexpr std::size_t kListingsMax = 16;

/// Arrow's messages have whole URLs, with a shared access signature in them.
std::string WithoutSignatures(std::string text) {
  for (std::size_t at = text.find("sig="); at != std::string::npos; at = text.find("sig=", at + 4)) {
    const std::size_t end = std::min(text.find_first_of("&'\" \n", at), text.size());
    text.replace(at + 4, end - at - 4, "***");
  }
  return text;
}

Error FromArrow(const arrow::Status& status, const std::string& location) {
  if (arrow::internal::ErrnoFromStatus(status) == ENOENT) return {Code::kNotFound, location + ": no such file"};
  std::string text = WithoutSignatures(status.message());
  text.resize(std::min(text.find(" error_info={"), text.size()));  // all of it again, for machines
  for (const std::string_view missing : {"Status(NOT_FOUND", "BlobNotFound", "PathNotFound"}) {
    if (text.find(missing) != std::string::npos) return {Code::kNotFound, location + ": no such file"};
  }
  if (text.starts_with("Empty path component")) {
    return {Code::kUnsupported, location + ": keys with `//` are not supported"};
  }
  Code code = Code::kUnavailable;
  // Missing rights do not come by waiting.
  for (const std::string_view refusal :
       {"ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "PERMISSION_DENIED", "UNAUTHENTICATED",
        "AuthenticationFailed", "AuthorizationFailure", "ExpiredToken", "InvalidToken", "TokenRefreshRequired",
        "(HTTP status 401)", "(HTTP status 403)"}) {
    if (text.find(refusal) != std::string::npos) code = Code::kInvalidArgument;
  }
  // S3's answer to HEAD with a token that has ended: an error without a body.
  if (text.find("(HTTP status 400)") != std::string::npos && text.find("HeadObject") != std::string::npos) {
    code = Code::kInvalidArgument;
  }
  if (status.IsInvalid()) code = Code::kInvalidArgument;
  if (status.IsOutOfMemory()) code = Code::kLimit;
  return {code, fmt::format("{}: {}", location, text)};
}

class ArrowSource final : public RandomAccessSource {
 public:
  ArrowSource(std::string name, std::string path, std::shared_ptr<fs::FileSystem> files,
              std::shared_ptr<arrow::io::RandomAccessFile> file, std::uint64_t size_bytes)
      : name_(std::move(name)),
        path_(std::move(path)),
        files_(std::move(files)),
        file_(std::move(file)),
        size_bytes_(size_bytes) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_bytes_; }

  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    if (offset > size_bytes_ || out.size() > size_bytes_ - offset) {
      return Error{Code::kCorrupt, fmt::format("{}: read past the end at offset {}", name_, offset)};
    }
    const std::uint64_t end = offset + out.size();
    const auto read = [&](std::uint64_t from, std::span<std::uint8_t> into) -> Result<std::size_t> {
      const auto count =
          file_->ReadAt(static_cast<std::int64_t>(from), static_cast<std::int64_t>(into.size()), into.data());
      if (count.ok()) return static_cast<std::size_t>(*count);
      FIRN_TRY(CheckSize(end));
      return FromArrow(count.status(), name_);
    };
    return ReadWhole(name_, read, [&] { return CheckSize(end); }, offset, out);
  }

 private:
  /// Arrow believes the size that it was told.
  Status CheckSize(std::uint64_t end) {
    const auto info = files_->GetFileInfo(path_);
    if (!info.ok()) return FromArrow(info.status(), name_);
    if (info->type() != fs::FileType::File) return Error{Code::kNotFound, name_ + ": no such file"};
    if (static_cast<std::uint64_t>(info->size()) >= end) return Ok();
    return Error{Code::kCorrupt,
                 fmt::format("{}: has {} bytes where {} are expected", name_, info->size(), size_bytes_)};
  }

  std::string name_, path_;
  std::shared_ptr<fs::FileSystem> files_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::uint64_t size_bytes_;
};

/// Ok when there is no such file.
Status Remove(fs::FileSystem& files, const ArrowStore& store, const std::string& location, const std::string& path) {
  if (store.remove) return store.remove(location);
  const auto deleted = files.DeleteFile(path);
  if (deleted.ok()) return Ok();
  Error error = FromArrow(deleted, location);
  if (error.code == Code::kNotFound) return Ok();
  return error;
}

class ArrowOutput final : public OutputFile {
 public:
  ArrowOutput(std::string name, std::string path, std::shared_ptr<fs::FileSystem> files, ArrowStore store)
      : name_(std::move(name)), path_(std::move(path)), files_(std::move(files)), store_(std::move(store)) {}
  // Arrow's stream would complete the object when it is destroyed.
  ~ArrowOutput() override { Abort(); }

  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return position_; }

  Status Begin() {
    auto stream = files_->OpenOutputStream(path_, nullptr);
    if (!stream.ok()) return FromArrow(stream.status(), name_);
    stream_ = std::move(*stream);
    const Bytes held = std::move(held_);
    return held.empty() ? Ok() : Send(held);
  }

  Status Write(ByteView bytes) override {
    FIRN_CHECK(!done_);
    position_ += bytes.size();
    if (!stream_) {
      if (position_ <= store_.held_bytes) {
        held_.insert(held_.end(), bytes.begin(), bytes.end());
        return Ok();
      }
      FIRN_TRY(Begin());
    }
    return Send(bytes);
  }

  Status Close() override {
    FIRN_CHECK(!done_);
    if (!stream_) FIRN_TRY(Begin());
    done_ = true;
    const auto closed = stream_->Close();
    if (!closed.ok()) {
      AbortUpload();
      return FromArrow(closed, name_);
    }
    const auto info = files_->GetFileInfo(path_);
    if (!info.ok()) return FromArrow(info.status(), name_);
    if (info->type() != fs::FileType::File || static_cast<std::uint64_t>(info->size()) != position_) {
      return Error{Code::kUnavailable,
                   fmt::format("{}: the store has {} bytes after an upload of {}", name_, info->size(), position_)};
    }
    return Ok();
  }

  void Abort() override {
    if (!done_ && stream_) AbortUpload();
    done_ = true;
  }
  RangeCopies* range_copies() override { return nullptr; }

 private:
  Status Send(ByteView bytes) {
    const auto written = stream_->Write(bytes.data(), static_cast<std::int64_t>(bytes.size()));
    return written.ok() ? Ok() : FromArrow(written, name_);
  }

  /// Parts of an upload that could not be given up cost storage until the bucket's rules remove them.
  void AbortUpload() {
    const auto aborted = stream_->Abort();
    Status given_up = aborted.ok() ? Ok() : FromArrow(aborted, name_);
    if (store_.held_bytes > 0) given_up = Remove(*files_, store_, name_, path_);
    if (given_up) return;
    Log(LogLevel::kWarn, fmt::format("the upload could not be given up: {}", given_up.error().message));
  }

  std::string name_, path_;
  std::shared_ptr<fs::FileSystem> files_;
  ArrowStore store_;
  Bytes held_;
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::uint64_t position_ = 0;
  bool done_ = false;
};

/// A listing between two pages.
struct Listing {
  std::string prefix;  // as the caller wrote it
  std::size_t path_size = 0;
  fs::FileInfoGenerator next;
  std::vector<FileInfo> ready;  // in reverse
  bool ended = false;
};

class ArrowFileIO final : public FileIO {
 public:
  ArrowFileIO(std::shared_ptr<fs::FileSystem> files, ArrowStore store)
      : files_(std::move(files)), store_(std::move(store)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    FIRN_ASSIGN(const std::string path, PathOf(location));
    fs::FileInfo info(path, fs::FileType::File);
    if (known_size_bytes) info.set_size(static_cast<std::int64_t>(*known_size_bytes));
    auto file = known_size_bytes ? files_->OpenInputFile(info) : files_->OpenInputFile(path);
    if (!file.ok()) return FromArrow(file.status(), location);
    const auto size = (*file)->GetSize();
    if (!size.ok()) return FromArrow(size.status(), location);
    return std::unique_ptr<RandomAccessSource>(
        new ArrowSource(location, path, files_, std::move(*file), static_cast<std::uint64_t>(*size)));
  }

  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, PathOf(location));
    if (path.ends_with('/')) {
      return Error{Code::kInvalidArgument, fmt::format("`{}` cannot be the name of a file", location)};
    }
    FIRN_ASSIGN(const bool taken, Exists(location));
    if (taken) return Error{Code::kConflict, location + ": file exists already"};
    FIRN_ASSIGN(auto file, Start(location, path));
    return std::unique_ptr<OutputFile>(std::move(file));
  }

  Status CheckCreate(const std::string&) override { return Ok(); }
  Status CheckExclusive(const std::string& location) override {
    Error error = NotExclusive(location);
    if (!store_.exclusive_with.empty()) error.message += fmt::format("; with {} it can", store_.exclusive_with);
    return error;
  }

  Status Replace(const std::string& location, ByteView bytes) override {
    FIRN_ASSIGN(const std::string path, PathOf(location));
    FIRN_ASSIGN(const auto file, Start(location, path));
    FIRN_TRY(file->Write(bytes));
    return file->Close();
  }

  Status Delete(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, PathOf(location));
    return Remove(*files_, store_, location, path);
  }

  Result<bool> Exists(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, PathOf(location));
    const auto info = files_->GetFileInfo(path);
    if (!info.ok()) return FromArrow(info.status(), location);
    return info->type() == fs::FileType::File;
  }

  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    FIRN_ASSIGN(auto listing, page.empty() ? StartListing(prefix) : TakeListing(page));
    FIRN_TRY(Fill(*listing, kPageFiles + 1));
    ListPage result;
    while (!listing->ready.empty() && result.files.size() < kPageFiles) {
      result.files.push_back(std::move(listing->ready.back()));
      listing->ready.pop_back();
    }
    if (!listing->ready.empty()) result.next_page = KeepListing(std::move(listing));
    return result;
  }

 private:
  Result<std::string> PathOf(const std::string& location) const { return store_.path_of(location); }

  Result<std::unique_ptr<ArrowOutput>> Start(const std::string& location, const std::string& path) {
    auto file = std::make_unique<ArrowOutput>(location, path, files_, store_);
    if (store_.held_bytes == 0) FIRN_TRY(file->Begin());
    return file;
  }

  Result<std::unique_ptr<Listing>> StartListing(const std::string& prefix) {
    auto listing = std::make_unique<Listing>();
    listing->prefix = AsPrefix(prefix);
    FIRN_ASSIGN(std::string path, PathOf(listing->prefix));
    listing->path_size = path.size();
    if (path.find("//") != std::string::npos) {
      return Error{Code::kUnsupported, prefix + ": keys with `//` are not supported"};
    }
    fs::FileSelector selector;
    selector.base_dir = WithoutSlash(path);
    selector.recursive = true;
    selector.allow_not_found = true;
    listing->next = files_->GetFileInfoGenerator(selector);
    return listing;
  }

  /// Makes at least `count` files ready, unless the listing ends before.
  static Status Fill(Listing& listing, std::size_t count) {
    while (!listing.ended && listing.ready.size() < count) {
      const auto chunk = listing.next().result();
      if (!chunk.ok()) return FromArrow(chunk.status(), listing.prefix);
      listing.ended = chunk->empty();
      std::vector<FileInfo> files;
      for (const fs::FileInfo& info : *chunk) {
        if (info.type() != fs::FileType::File || info.path().size() <= listing.path_size) continue;
        const auto modified = std::chrono::floor<std::chrono::milliseconds>(info.mtime().time_since_epoch());
        files.push_back({listing.prefix + info.path().substr(listing.path_size),
                         static_cast<std::uint64_t>(info.size()), TimestampMs{modified.count()}});
      }
      listing.ready.insert(listing.ready.begin(), std::make_move_iterator(files.rbegin()),
                           std::make_move_iterator(files.rend()));
    }
    return Ok();
  }

  std::string KeepListing(std::unique_ptr<Listing> listing) {
    const std::lock_guard lock(mutex_);
    if (listings_.size() >= kListingsMax) listings_.erase(listings_.begin());
    const std::uint64_t id = ++last_listing_;
    listings_.emplace(id, std::move(listing));
    return std::to_string(id);
  }

  Result<std::unique_ptr<Listing>> TakeListing(const std::string& page) {
    const std::lock_guard lock(mutex_);
    const auto found = listings_.find(std::strtoull(page.c_str(), nullptr, 10));
    if (found == listings_.end()) {
      return Error{Code::kInvalidArgument, "the listing is gone: its page was asked for twice or too late"};
    }
    auto listing = std::move(found->second);
    listings_.erase(found);
    return listing;
  }

  std::shared_ptr<fs::FileSystem> files_;
  ArrowStore store_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Listing>> listings_;
  std::uint64_t last_listing_ = 0;
};

}  // namespace

Result<std::string> BucketPath(const std::string& location) {
  std::string path = location.substr(SchemeOf(location).size() + 3);
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string::npos) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` names no object in a bucket", location)};
  }
  return path;
}

std::unique_ptr<FileIO> MakeArrowFileIO(std::shared_ptr<fs::FileSystem> files, ArrowStore store) {
  return std::make_unique<ArrowFileIO>(std::move(files), std::move(store));
}

}  // namespace firn::ports
