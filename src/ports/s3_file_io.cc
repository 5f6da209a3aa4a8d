// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_file_io.h"

#include <arrow/filesystem/s3fs.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/future.h>
#include <arrow/util/io_util.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/check.h"
#include "base/log.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

constexpr std::size_t kPageFiles = 1000;
constexpr std::size_t kListingsMax = 16;

Error FromArrow(const arrow::Status& status, const std::string& location) {
  if (arrow::internal::ErrnoFromStatus(status) == ENOENT) return {Code::kNotFound, location + ": no such file"};
  const std::string& text = status.message();
  if (text.starts_with("Empty path component")) {
    return {Code::kUnsupported, location + ": S3 keys with `//` are not supported"};
  }
  Code code = Code::kUnavailable;
  // Missing rights do not come by waiting.
  for (const std::string_view refusal : {"ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH"}) {
    if (text.find(refusal) != std::string::npos) code = Code::kInvalidArgument;
  }
  if (status.IsInvalid()) code = Code::kInvalidArgument;
  if (status.IsOutOfMemory()) code = Code::kLimit;
  return {code, fmt::format("{}: {}", location, text)};
}

/// "bucket/key" as Arrow names objects.
Result<std::string> ArrowPath(const std::string& location) {
  const std::string_view scheme = SchemeOf(location);
  if (!IsS3Scheme(scheme)) return Error{Code::kUnsupported, fmt::format("`{}` is no S3 location", location)};
  std::string path = location.substr(scheme.size() + 3);
  const std::size_t slash = path.find('/');
  if (slash == 0 || slash == std::string::npos) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` names no object in a bucket", location)};
  }
  return path;
}

class S3Source final : public RandomAccessSource {
 public:
  S3Source(std::string name, std::string path, std::shared_ptr<fs::S3FileSystem> files,
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
    if (out.empty()) return Ok();
    // Arrow believes the size that it was told: it reports a full read also when the object is shorter. The mark
    // at the end tells; if it is still there, the true size is asked for.
    const std::span<std::uint8_t> tail = out.last(std::min(out.size(), kMark.size()));
    std::copy_n(kMark.begin(), tail.size(), tail.begin());
    const auto count =
        file_->ReadAt(static_cast<std::int64_t>(offset), static_cast<std::int64_t>(out.size()), out.data());
    if (!count.ok()) return Explain(count.status(), offset + out.size());
    const bool marked = std::equal(tail.begin(), tail.end(), kMark.begin());
    if (marked || static_cast<std::size_t>(*count) != out.size()) return CheckSize(offset + out.size());
    return Ok();
  }

 private:
  static constexpr std::array<std::uint8_t, 16> kMark = {0xd1, 0x5e, 0x2a, 0x97, 0x3b, 0xc4, 0x68, 0xf0,
                                                         0x0d, 0xa3, 0x7c, 0x19, 0xe6, 0x42, 0xb5, 0x8f};

  Status Explain(const arrow::Status& failure, std::uint64_t end) {
    Status size = CheckSize(end);
    return size ? FromArrow(failure, name_) : std::move(size);
  }

  Status CheckSize(std::uint64_t end) {
    const auto info = files_->GetFileInfo(path_);
    if (!info.ok()) return FromArrow(info.status(), name_);
    if (info->type() != fs::FileType::File) return Error{Code::kNotFound, name_ + ": no such file"};
    if (static_cast<std::uint64_t>(info->size()) >= end) return Ok();
    return Error{Code::kCorrupt,
                 fmt::format("{}: has {} bytes where {} are expected", name_, info->size(), size_bytes_)};
  }

  std::string name_, path_;
  std::shared_ptr<fs::S3FileSystem> files_;
  std::shared_ptr<arrow::io::RandomAccessFile> file_;
  std::uint64_t size_bytes_;
};

class S3Output final : public OutputFile {
 public:
  S3Output(std::string name, std::string path, std::shared_ptr<fs::S3FileSystem> files,
           std::shared_ptr<arrow::io::OutputStream> stream)
      : name_(std::move(name)), path_(std::move(path)), files_(std::move(files)), stream_(std::move(stream)) {}
  // Arrow's stream would complete the object when it is destroyed.
  ~S3Output() override { Abort(); }

  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return position_; }

  Status Write(ByteView bytes) override {
    FIRN_CHECK(!done_);
    const auto written = stream_->Write(bytes.data(), static_cast<std::int64_t>(bytes.size()));
    if (!written.ok()) return FromArrow(written, name_);
    position_ += bytes.size();
    return Ok();
  }

  Status Close() override {
    FIRN_CHECK(!done_);
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
    if (!done_) AbortUpload();
    done_ = true;
  }

 private:
  /// Parts of an upload that could not be given up cost storage until the bucket's rules remove them.
  void AbortUpload() {
    const auto aborted = stream_->Abort();
    if (aborted.ok()) return;
    Log(LogLevel::kWarn, fmt::format("{}: the upload could not be aborted: {}", name_, aborted.message()));
  }

  std::string name_, path_;
  std::shared_ptr<fs::S3FileSystem> files_;
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

class S3FileIO final : public FileIO {
 public:
  explicit S3FileIO(std::shared_ptr<fs::S3FileSystem> files) : files_(std::move(files)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    FIRN_ASSIGN(const std::string path, ArrowPath(location));
    fs::FileInfo info(path, fs::FileType::File);
    if (known_size_bytes) info.set_size(static_cast<std::int64_t>(*known_size_bytes));
    auto file = known_size_bytes ? files_->OpenInputFile(info) : files_->OpenInputFile(path);
    if (!file.ok()) return FromArrow(file.status(), location);
    const auto size = (*file)->GetSize();
    if (!size.ok()) return FromArrow(size.status(), location);
    return std::unique_ptr<RandomAccessSource>(
        new S3Source(location, path, files_, std::move(*file), static_cast<std::uint64_t>(*size)));
  }

  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, ArrowPath(location));
    if (path.ends_with('/')) {
      return Error{Code::kInvalidArgument, fmt::format("`{}` cannot be the name of a file", location)};
    }
    FIRN_ASSIGN(const bool taken, Exists(location));
    if (taken) return Error{Code::kConflict, location + ": file exists already"};
    auto stream = files_->OpenOutputStream(path, nullptr);
    if (!stream.ok()) return FromArrow(stream.status(), location);
    return std::unique_ptr<OutputFile>(new S3Output(location, path, files_, std::move(*stream)));
  }

  Status Delete(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, ArrowPath(location));
    const auto deleted = files_->DeleteFile(path);
    if (deleted.ok()) return Ok();
    Error error = FromArrow(deleted, location);
    if (error.code == Code::kNotFound) return Ok();
    return error;
  }

  Result<bool> Exists(const std::string& location) override {
    FIRN_ASSIGN(const std::string path, ArrowPath(location));
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
  Result<std::unique_ptr<Listing>> StartListing(const std::string& prefix) {
    auto listing = std::make_unique<Listing>();
    listing->prefix = AsPrefix(prefix);
    FIRN_ASSIGN(std::string path, ArrowPath(listing->prefix));
    listing->path_size = path.size();
    if (path.find("//") != std::string::npos) {
      return Error{Code::kUnsupported, prefix + ": S3 keys with `//` are not supported"};
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

  std::shared_ptr<fs::S3FileSystem> files_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Listing>> listings_;
  std::uint64_t last_listing_ = 0;
};

Status StartClient() {
  static const arrow::Status started = [] {
    fs::S3GlobalOptions options = fs::S3GlobalOptions::Defaults();
    options.log_level = fs::S3LogLevel::Off;
    return fs::InitializeS3(options);
  }();
  if (!started.ok()) return Error{Code::kInternal, "S3 client does not start: " + started.message()};
  return Ok();
}

/// The client must be ended before its own static objects are, which the first file system makes.
void EndClientAtExit() {
  [[maybe_unused]] static const int once = std::atexit([] { (void)fs::EnsureS3Finalized(); });
}

Status CheckSupported(const Properties& properties) {
  for (const std::string_view key : {"s3.remote-signing-enabled", "s3.sse.type", "s3.server-side-encryption",
                                     "s3.signer", "s3.role-arn", "s3.proxy-uri"}) {
    const std::string value = PropertyOr(properties, key, "");
    if (value.empty() || value == "false" || value == "none") continue;
    return Error{Code::kUnsupported, fmt::format("property `{}` is not supported", key)};
  }
  return Ok();
}

Result<fs::S3Options> Credentials(const Properties& properties) {
  FIRN_ASSIGN(const bool anonymous, BoolProperty(properties, "s3.anonymous", false));
  if (anonymous) return fs::S3Options::Anonymous();
  const std::string* key = FindFirstProperty(properties, {"s3.access-key-id", "client.access-key-id"});
  const std::string* secret = FindFirstProperty(properties, {"s3.secret-access-key", "client.secret-access-key"});
  const std::string* token = FindFirstProperty(properties, {"s3.session-token", "client.session-token"});
  if (!key != !secret) {
    return Error{Code::kInvalidArgument, "s3.access-key-id and s3.secret-access-key belong together"};
  }
  return key ? fs::S3Options::FromAccessKey(*key, *secret, token ? *token : "") : fs::S3Options::Defaults();
}

Result<fs::S3Options> OptionsOf(const Properties& properties) {
  FIRN_TRY(CheckSupported(properties));
  FIRN_ASSIGN(fs::S3Options options, Credentials(properties));
  // Small files (metadata, manifests) then take one request instead of three.
  options.allow_delayed_open = true;
  if (const std::string* endpoint = FindFirstProperty(properties, {"s3.endpoint"})) {
    const std::string_view scheme = SchemeOf(*endpoint);
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
      return Error{Code::kInvalidArgument, "property `s3.endpoint` must begin with http:// or https://"};
    }
    options.scheme = scheme.empty() ? "https" : std::string(scheme);
    const std::string_view host = std::string_view(*endpoint).substr(scheme.empty() ? 0 : scheme.size() + 3);
    options.endpoint_override = WithoutSlash(host);
    options.region = "us-east-1";  // what stores without regions expect
  }
  if (const std::string* region = FindFirstProperty(properties, {"s3.region", "client.region"})) {
    options.region = *region;
  }
  FIRN_ASSIGN(const bool path_style, BoolProperty(properties, "s3.path-style-access", true));
  FIRN_ASSIGN(const bool by_host, BoolProperty(properties, "s3.force-virtual-addressing", !path_style));
  options.force_virtual_addressing = by_host;
  FIRN_ASSIGN(const std::int64_t connect_s, IntProperty(properties, "s3.connect-timeout", 10, 1, 3600));
  options.connect_timeout = static_cast<double>(connect_s);
  return options;
}

}  // namespace

bool IsS3Scheme(std::string_view scheme) { return scheme == "s3" || scheme == "s3a" || scheme == "s3n"; }

Result<std::unique_ptr<FileIO>> OpenS3FileIO(const Properties& properties) {
  FIRN_TRY(StartClient());
  FIRN_ASSIGN(const fs::S3Options options, OptionsOf(properties));
  auto files = fs::S3FileSystem::Make(options);
  if (!files.ok()) return Error{Code::kUnavailable, "S3 client: " + files.status().message()};
  EndClientAtExit();
  return std::unique_ptr<FileIO>(new S3FileIO(std::move(*files)));
}

}  // namespace firn::ports
