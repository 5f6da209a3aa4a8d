// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <thread>

#include "base/check.h"
#include "base/log.h"
#include "base/range_copies.h"
#include "base/threads.h"
#include "ports/location.h"
#include "ports/s3_file_io.h"

namespace firn::ports {
namespace {

constexpr std::uint64_t kPartBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kCopyBytesMax = std::uint64_t{128} << 20;  // of one request: several go on at a time
constexpr std::size_t kSentAtOnceMax = 4;
constexpr std::uint64_t kReadBytes = std::uint64_t{4} << 20;

/// What all files of one store share.
struct Store {
  std::shared_ptr<S3Requests> requests;
  std::atomic<bool> copies_nothing = false;  // it has said that it does not know the request
};

/// One object on its way, in parts.
class Upload {
 public:
  Upload(std::string name, S3Requests& requests) : name_(std::move(name)), requests_(requests) {}

  bool is_begun() const { return !id_.empty(); }
  /// Larger ones later, so that 10,000 are enough.
  std::uint64_t part_bytes() const { return kPartBytes * (1 + tags_.size() / 1000); }

  Status Put(std::string bytes) {
    const auto held = std::make_shared<std::string>(std::move(bytes));
    return Send([this, held](std::size_t number) { return requests_.PutPart(name_, id_, number, std::move(*held)); });
  }
  Status Copy(const FileMark& from, std::uint64_t offset, std::uint64_t size) {
    return Send([this, from, offset, size](std::size_t number) {
      return requests_.CopyPart(name_, id_, number, from, offset, size);
    });
  }
  /// Waits for it, and takes back its number when it fails.
  Status CopyNow(const FileMark& from, std::uint64_t offset, std::uint64_t size) {
    FIRN_TRY(BeginPart());
    Result<std::string> tag = requests_.CopyPart(name_, id_, tags_.size(), from, offset, size);
    if (tag) {
      tags_.back() = std::move(*tag);
      return Ok();
    }
    tags_.pop_back();
    return std::move(tag.error());
  }
  Status Wait() {
    while (!sent_.empty()) FIRN_TRY(WaitForOne());
    return Ok();
  }
  Status Complete() { return requests_.Complete(name_, id_, tags_); }
  /// Parts that arrive after it would stay.
  void Abort() {
    for (Sent& part : sent_) part.tag.wait();
    sent_.clear();
    if (!is_begun()) return;
    const Status aborted = requests_.Abort(name_, id_);
    if (aborted) return;
    Log(LogLevel::kWarn, fmt::format("the upload could not be given up: {}", aborted.error().message));
  }

 private:
  struct Sent {
    std::size_t number = 0;
    std::future<Result<std::string>> tag;
    std::jthread thread;
  };

  Status BeginPart() {
    if (!is_begun()) {
      FIRN_ASSIGN(id_, requests_.Begin(name_));
    }
    if (tags_.size() == kS3PartsMax) return Error{Code::kLimit, name_ + ": more parts than S3 takes"};
    tags_.emplace_back();
    return Ok();
  }

  Status Send(std::function<Result<std::string>(std::size_t number)> send) {
    if (sent_.size() >= kSentAtOnceMax) FIRN_TRY(WaitForOne());
    FIRN_TRY(BeginPart());
    const std::size_t number = tags_.size();
    const auto task = std::make_shared<std::packaged_task<Result<std::string>()>>(
        [send = std::move(send), number] { return send(number); });
    Sent& part = sent_.emplace_back(number, task->get_future());
    Result<std::jthread> thread = StartThread([task] { (*task)(); });
    if (thread) {
      part.thread = std::move(*thread);
    } else {
      (*task)();
    }
    return Ok();
  }

  Status WaitForOne() {
    Sent part = std::move(sent_.front());
    sent_.pop_front();
    FIRN_ASSIGN(tags_[part.number - 1], part.tag.get());
    return Ok();
  }

  std::string name_;
  S3Requests& requests_;
  std::string id_;
  std::vector<std::string> tags_;  // by part
  std::deque<Sent> sent_;
};

/// Ranges of one object that follow each other, behind what is held.
struct Run {
  RandomAccessSource* source = nullptr;
  FileMark from;
  std::uint64_t offset = 0, size = 0;
  void Pass(std::uint64_t count) { offset += count, size -= count; }
};

class RangesOutput final : public OutputFile, public RangeCopies {
 public:
  RangesOutput(std::unique_ptr<OutputFile> plain, FileIO& io, std::shared_ptr<Store> store)
      : name_(plain->name()),
        plain_(std::move(plain)),
        io_(io),
        store_(std::move(store)),
        upload_(name_, *store_->requests) {}
  ~RangesOutput() override { Abort(); }

  const std::string& name() const override { return name_; }
  std::uint64_t position() const override { return plain_ ? plain_->position() : position_; }

  Status Write(ByteView bytes) override {
    if (plain_) return plain_->Write(bytes);
    FIRN_CHECK(!done_);
    FIRN_TRY(SettleRun());
    position_ += bytes.size();
    return Hold(bytes);
  }

  Status Close() override {
    if (plain_) return plain_->Close();
    FIRN_CHECK(!done_);
    Status closed = SettleRun();
    if (closed && !upload_.is_begun()) {
      done_ = true;
      return WriteFile(io_, name_, AsBytes(held_));
    }
    if (closed && !held_.empty()) closed = upload_.Put(std::exchange(held_, {}));
    if (closed) closed = upload_.Wait();
    if (closed) closed = CheckSources();
    if (!closed) {
      Abort();
      return closed;
    }
    done_ = true;
    return Complete();
  }

  void Abort() override {
    if (plain_) plain_->Abort();
    if (!plain_ && !done_) upload_.Abort();
    done_ = true;
  }

  RangeCopies* range_copies() override {
    if (!plain_) return this;
    if (plain_->position() > 0 || store_->copies_nothing) return nullptr;
    plain_->Abort();
    plain_.reset();
    return this;
  }

  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) override {
    if (store_->copies_nothing || !IsS3Scheme(SchemeOf(location))) return std::nullopt;
    const auto object = store_->requests->Head(location);
    // What is wrong with it is found when it is read.
    if (!object || !*object || (*object)->size_bytes != size_bytes) return std::nullopt;
    return FileMark{location, (*object)->tag, size_bytes, location};
  }

  Status Append(RandomAccessSource& source, const FileMark& mark, std::uint64_t offset, std::uint64_t size) override {
    FIRN_CHECK(!plain_ && !done_);
    if (offset > mark.size_bytes || size > mark.size_bytes - offset) {
      return Error{Code::kCorrupt, fmt::format("{}: a range past the end at offset {}", mark.name, offset)};
    }
    const bool follows = run_ && run_->from.location == mark.location && run_->from.version == mark.version &&
                         offset == run_->offset + run_->size;
    if (!follows) {
      FIRN_TRY(SettleRun());
      run_ = Run{&source, mark, offset, 0};
    }
    run_->size += size;
    position_ += size;
    return Ok();
  }

  CopiedRanges copied() const override { return {copied_bytes_, refusal_}; }

 private:
  Status Hold(ByteView bytes) {
    while (!bytes.empty()) {
      const auto part = static_cast<std::size_t>(upload_.part_bytes());
      const std::size_t count = std::min(bytes.size(), part - held_.size());
      held_ += AsText(bytes.first(count));
      bytes = bytes.subspan(count);
      if (held_.size() == part) FIRN_TRY(upload_.Put(std::exchange(held_, {})));
    }
    return Ok();
  }

  /// Reads the run's first bytes to write them.
  Status Read(Run& run, std::uint64_t size) {
    Bytes bytes;
    while (size > 0) {
      bytes.resize(static_cast<std::size_t>(std::min(size, kReadBytes)));
      FIRN_TRY(run.source->ReadAt(run.offset, bytes));
      FIRN_TRY(Hold(bytes));
      run.Pass(bytes.size());
      size -= bytes.size();
    }
    return Ok();
  }

  /// What is decided about the ranges once it is known how long they are together.
  Status SettleRun() {
    if (!run_) return Ok();
    Run run = *std::exchange(run_, std::nullopt);
    const std::uint64_t missing =
        held_.empty() ? 0 : kS3PartBytesMin - std::min<std::uint64_t>(kS3PartBytesMin, held_.size());
    if (store_->copies_nothing || run.size < kS3PartBytesMin + missing) return Read(run, run.size);
    FIRN_TRY(Read(run, missing));
    if (!held_.empty()) FIRN_TRY(upload_.Put(std::exchange(held_, {})));
    // All but the first go on at a time; each is as long as a part must be.
    const std::uint64_t first = run.size < 2 * kPartBytes ? run.size : kPartBytes;
    if (Status copied = CopyFirst(run, first); !copied) return copied;
    if (run.size > 0 && last_refused_) return Read(run, run.size);
    for (std::uint64_t count = (run.size + kCopyBytesMax - 1) / kCopyBytesMax; count > 0; --count) {
      const std::uint64_t size = run.size / count;
      FIRN_TRY(upload_.Copy(run.from, run.offset, size));
      NoteCopied(run, size);
    }
    return Ok();
  }

  Status CopyFirst(Run& run, std::uint64_t size) {
    Status copied = upload_.CopyNow(run.from, run.offset, size);
    last_refused_ = false;
    if (copied) {
      NoteCopied(run, size);
      return Ok();
    }
    const Code code = copied.error().code;
    if (code != Code::kUnsupported && code != Code::kInvalidArgument) return copied;
    if (code == Code::kUnsupported) store_->copies_nothing = true;
    if (refusal_.empty()) refusal_ = copied.error().message;
    last_refused_ = true;
    return Ok();
  }

  void NoteCopied(Run& run, std::uint64_t size) {
    sources_.insert_or_assign(run.from.location, run.from);
    copied_bytes_ += size;
    run.Pass(size);
  }

  /// Also where the store does not look at the condition of a copy.
  Status CheckSources() {
    for (const auto& [location, mark] : sources_) {
      FIRN_ASSIGN(const auto object, store_->requests->Head(location));
      if (!object) return Error{Code::kNotFound, mark.name + ": no such file any more"};
      if (object->tag != mark.version) return Error{Code::kCorrupt, mark.name + ": has changed while it was read"};
    }
    return Ok();
  }

  /// It may have been completed by a request whose answer was lost.
  Status Complete() {
    const Status completed = upload_.Complete();
    if (!completed && completed.error().code != Code::kUnavailable) {
      upload_.Abort();
      return completed;
    }
    // Then the upload has ended, and giving it up does nothing; if not, nothing of it can come later.
    if (!completed) upload_.Abort();
    const auto object = store_->requests->Head(name_);
    if (object && *object && (*object)->size_bytes == position_) return Ok();
    if (!completed) return completed;
    if (!object) return object.error();
    return Error{Code::kUnavailable, fmt::format("{}: the store has {} bytes after an upload of {}", name_,
                                                 *object ? (*object)->size_bytes : 0, position_)};
  }

  std::string name_;
  std::unique_ptr<OutputFile> plain_;  // until range_copies() is asked for
  FileIO& io_;
  std::shared_ptr<Store> store_;
  Upload upload_;
  std::string held_;  // not a part yet
  std::optional<Run> run_;
  std::map<std::string, FileMark> sources_;  // that were copied from, by location
  std::uint64_t position_ = 0, copied_bytes_ = 0;
  std::string refusal_;
  bool last_refused_ = false, done_ = false;
};

class S3RangesFileIO final : public FileIO {
 public:
  S3RangesFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<S3Requests> requests)
      : plain_(std::move(plain)), store_(std::make_shared<Store>()) {
    store_->requests = std::move(requests);
  }

  Result<std::unique_ptr<RandomAccessSource>> Open(const std::string& location,
                                                   std::optional<std::uint64_t> known_size_bytes) override {
    return plain_->Open(location, known_size_bytes);
  }
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override {
    FIRN_ASSIGN(auto file, plain_->Create(location));
    return std::unique_ptr<OutputFile>(new RangesOutput(std::move(file), *plain_, store_));
  }
  Status CheckCreate(const std::string& location) override { return plain_->CheckCreate(location); }
  Status CheckExclusive(const std::string& location) override { return plain_->CheckExclusive(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return plain_->Replace(location, bytes); }
  Status Delete(const std::string& location) override { return plain_->Delete(location); }
  Result<bool> Exists(const std::string& location) override { return plain_->Exists(location); }
  Result<ListPage> List(const std::string& prefix, const std::string& page) override {
    return plain_->List(prefix, page);
  }

 private:
  std::unique_ptr<FileIO> plain_;
  std::shared_ptr<Store> store_;
};

}  // namespace

std::unique_ptr<FileIO> MakeS3RangesFileIO(std::unique_ptr<FileIO> plain, std::shared_ptr<S3Requests> requests) {
  return std::make_unique<S3RangesFileIO>(std::move(plain), std::move(requests));
}

}  // namespace firn::ports
