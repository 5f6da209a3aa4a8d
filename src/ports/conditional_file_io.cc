// SPDX-License-Identifier: Apache-2.0
#include "ports/conditional_file_io.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

/// A metadata file: held, and sent at once under the condition that the name is free.
class HeldOutput final : public OutputFile {
 public:
  HeldOutput(std::string name, ConditionalPut& put, FileIO& plain) : name_(std::move(name)), put_(put), plain_(plain) {}

  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return bytes_.size(); }

  Status Write(ByteView bytes) override {
    FIRN_CHECK(!done_);
    if (bytes.size() > kMetadataBytesMax - bytes_.size()) {
      return Error{Code::kLimit, fmt::format("{}: more than {} bytes", name_, kMetadataBytesMax)};
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Ok();
  }

  Status Close() override {
    FIRN_CHECK(!done_);
    done_ = true;
    Status put = put_.Put(name_, bytes_);
    // A store that says it knows no conditions; the name was looked for when the file was begun.
    if (!put && put.error().code == Code::kUnsupported) return WriteFile(plain_, name_, bytes_);
    return put;
  }

  void Abort() override {
    done_ = true;
    bytes_.clear();
  }
  RangeCopies* range_copies() override { return nullptr; }

 private:
  std::string name_;
  ConditionalPut& put_;
  FileIO& plain_;
  Bytes bytes_;
  bool done_ = false;
};

class ConditionalFileIO final : public FileIO {
 public:
  ConditionalFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<Http> http, ConditionalStore store, Clock& clock)
      : plain_(std::move(plain)), put_(std::move(http), std::move(store), *plain_, clock) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    return plain_->Open(location, known_size_bytes);
  }

  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override {
    if (!IsMetadataFileName(location)) return plain_->Create(location);
    FIRN_ASSIGN(const bool taken, plain_->Exists(location));
    if (taken) return Error{Code::kConflict, location + ": file exists already"};
    return std::unique_ptr<OutputFile>(new HeldOutput(location, put_, *plain_));
  }

  Status CheckCreate(const std::string& location) override { return plain_->CheckCreate(location); }
  Status CheckExclusive(const std::string& location) override { return put_.CheckHonoured(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return plain_->Replace(location, bytes); }
  Status Delete(const std::string& location) override { return plain_->Delete(location); }
  Result<bool> Exists(const std::string& location) override { return plain_->Exists(location); }
  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    return plain_->List(prefix, page);
  }

 private:
  std::unique_ptr<FileIO> plain_;
  ConditionalPut put_;
};

}  // namespace

std::unique_ptr<FileIO> MakeConditionalFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<Http> http,
                                              ConditionalStore store, Clock& clock) {
  return std::make_unique<ConditionalFileIO>(std::move(plain), std::move(http), std::move(store), clock);
}

}  // namespace firn::ports
