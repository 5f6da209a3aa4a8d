// SPDX-License-Identifier: Apache-2.0
#include "ports/renewed_file_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/log.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kMarginMs = 5 * 60 * 1000;
// After a renewal that failed while the old credentials hold, or that brought nothing that lasts.
constexpr std::int64_t kTryAgainMs = 10'000;
// No catalog gives less: the clock here is ahead, or the end is not told in milliseconds.
constexpr std::int64_t kLifeMinMs = 2'000;

/// `call` with the credentials of now, and once more if the storage refuses them and there are newer ones.
template <class Call>
auto Using(RenewedStorage& storage, Call call) -> decltype(call(std::declval<const RenewedStorage::Current&>())) {
  FIRN_ASSIGN(const RenewedStorage::Current current, storage.Get());
  auto result = call(current);
  if (result || result.error().code != Code::kInvalidArgument) return result;
  const auto newer = storage.After(current.number);
  return newer ? call(*newer) : std::move(result);
}

/// A file that was opened, and the FileIO that it needs.
struct Opened {
  RenewedStorage::Current at;
  std::unique_ptr<RandomAccessSource> source;
};

class RenewedSource final : public RandomAccessSource {
 public:
  RenewedSource(std::shared_ptr<RenewedStorage> storage, Opened opened)
      : storage_(std::move(storage)),
        name_(opened.source->name()),
        size_bytes_(opened.source->size()),
        opened_(std::make_shared<Opened>(std::move(opened))) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_bytes_; }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    return Using(*storage_, [&](const RenewedStorage::Current& current) -> Status {
      FIRN_ASSIGN(const std::shared_ptr<Opened> opened, OpenedWith(current));
      return opened->source->ReadAt(offset, out);
    });
  }

 private:
  Result<std::shared_ptr<Opened>> OpenedWith(const RenewedStorage::Current& current) {
    {
      const std::lock_guard lock(mutex_);
      if (opened_->at.number >= current.number) return opened_;
    }
    FIRN_ASSIGN(auto source, current.io->Open(name_, size_bytes_));
    const std::lock_guard lock(mutex_);
    if (opened_->at.number < current.number) opened_ = std::make_shared<Opened>(current, std::move(source));
    return opened_;
  }

  std::shared_ptr<RenewedStorage> storage_;
  std::string name_;
  std::uint64_t size_bytes_;
  std::mutex mutex_;
  std::shared_ptr<Opened> opened_;
};

/// Keeps the FileIO that it was begun with.
class RenewedOutput final : public OutputFile {
 public:
  RenewedOutput(std::shared_ptr<FileIO> io, std::unique_ptr<OutputFile> below)
      : io_(std::move(io)), below_(std::move(below)) {}
  const std::string& name() const override { return below_->name(); }
  std::uint64_t position() const override { return below_->position(); }
  Status Write(ByteView bytes) override { return below_->Write(bytes); }
  Status Close() override { return below_->Close(); }
  void Abort() override { below_->Abort(); }
  RangeCopies* range_copies() override { return below_->range_copies(); }

 private:
  std::shared_ptr<FileIO> io_;
  std::unique_ptr<OutputFile> below_;
};

}  // namespace

RenewedStorage::RenewedStorage(EndingFileIO first, Renew renew, Clock& clock)
    : renew_(std::move(renew)), clock_(clock) {
  Take(std::move(first));
  // They may have been loaded long ago: what has ended is asked for again at once.
  renew_at_.value = std::min(renew_at_.value, ends_at_.value);
}

void RenewedStorage::Take(EndingFileIO next) {
  const std::int64_t now = clock_.Now().value;
  const std::int64_t never = std::numeric_limits<std::int64_t>::max();
  previous_ = std::exchange(current_.io, std::move(next.io));
  ends_at_ = {next.ends_at.value > 0 ? next.ends_at.value : never};
  const std::int64_t life_ms = ends_at_.value - now;
  if (ends_at_.value == never) {
    renew_at_ = {never};
  } else if (life_ms < kLifeMinMs) {
    renew_at_ = {now + kTryAgainMs};  // until then the storage decides
  } else {
    renew_at_ = {ends_at_.value - std::min(kMarginMs, life_ms / 2)};
  }
}

Result<RenewedStorage::Current> RenewedStorage::Get() {
  std::unique_lock lock(mutex_);
  const std::int64_t now = clock_.Now().value;
  if (now < renew_at_.value) return current_;
  if (!renewing_) return RenewNow(lock);
  if (now < ends_at_.value) return current_;
  return Await(lock);
}

std::optional<RenewedStorage::Current> RenewedStorage::After(std::uint64_t refused_number) {
  std::unique_lock lock(mutex_);
  if (current_.number == refused_number) {
    const std::int64_t now_ns = clock_.MonotonicNs();  // the other clock may go back
    if (renewing_) {
      (void)Await(lock);
    } else if (!refused_at_ns_ || now_ns >= *refused_at_ns_ + kTryAgainMs * 1'000'000) {
      refused_at_ns_ = now_ns;
      (void)RenewNow(lock);
    }
  }
  return current_.number == refused_number ? std::nullopt : std::optional(current_);
}

Result<RenewedStorage::Current> RenewedStorage::Await(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t attempts = attempts_;
  attempted_.wait(lock, [&] { return attempts_ != attempts; });
  if (failure_) return *failure_;
  return current_;
}

Result<RenewedStorage::Current> RenewedStorage::RenewNow(std::unique_lock<std::mutex>& lock) {
  renewing_ = true;
  lock.unlock();
  auto next = renew_();
  lock.lock();
  renewing_ = false;
  ++attempts_;
  failure_.reset();
  attempted_.notify_all();
  if (next) {
    Take(std::move(*next));
    ++current_.number;
    return current_;
  }
  const std::int64_t now = clock_.Now().value;
  renew_at_ = {std::min(now + kTryAgainMs, ends_at_.value)};
  if (now >= ends_at_.value) {
    failure_ = std::move(next.error()).In("the credentials of the storage have ended");
    return *failure_;
  }
  Log(LogLevel::kWarn, fmt::format("credentials of the storage are not renewed, and hold for {} s more: {}",
                                   (ends_at_.value - now) / 1000, next.error().message));
  return current_;
}

std::shared_ptr<FileIO> RenewedStorage::At(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (number == current_.number) return current_.io;
  return number + 1 == current_.number ? previous_ : nullptr;
}

Result<std::unique_ptr<RandomAccessSource>> RenewedFileIO::Open(const std::string& location,
                                                                std::optional<std::uint64_t> known_size_bytes) {
  using Source = std::unique_ptr<RandomAccessSource>;
  return Using(*storage_, [&](const RenewedStorage::Current& current) -> Result<Source> {
    FIRN_ASSIGN(auto source, current.io->Open(location, known_size_bytes));
    return Source(new RenewedSource(storage_, {current, std::move(source)}));
  });
}

Result<std::unique_ptr<OutputFile>> RenewedFileIO::Create(const std::string& location) {
  using File = std::unique_ptr<OutputFile>;
  return Using(*storage_, [&](const RenewedStorage::Current& current) -> Result<File> {
    FIRN_ASSIGN(auto file, current.io->Create(location));
    return File(new RenewedOutput(current.io, std::move(file)));
  });
}

Status RenewedFileIO::CheckCreate(const std::string& location) {
  FIRN_ASSIGN(const auto current, storage_->Get());
  return current.io->CheckCreate(location);
}

Status RenewedFileIO::CheckExclusive(const std::string& location) {
  return Using(*storage_, [&](const auto& current) { return current.io->CheckExclusive(location); });
}

Status RenewedFileIO::Replace(const std::string& location, ByteView bytes) {
  return Using(*storage_, [&](const auto& current) { return current.io->Replace(location, bytes); });
}

Status RenewedFileIO::Delete(const std::string& location) {
  return Using(*storage_, [&](const auto& current) { return current.io->Delete(location); });
}

Result<bool> RenewedFileIO::Exists(const std::string& location) {
  return Using(*storage_, [&](const auto& current) { return current.io->Exists(location); });
}

Result<ListPage> RenewedFileIO::List(const std::string& prefix, const std::string& page) {
  const auto list = [&](const RenewedStorage::Current& at, const std::string& below) -> Result<ListPage> {
    FIRN_ASSIGN(ListPage result, at.io->List(prefix, below));
    if (!result.next_page.empty()) result.next_page = fmt::format("{}:{}", at.number, result.next_page);
    return result;
  };
  if (page.empty()) return Using(*storage_, [&](const auto& current) { return list(current, ""); });
  // "3:PAGE" is a page of the third renewal.
  const std::size_t colon = std::min(page.find(':'), page.size());
  RenewedStorage::Current at;
  at.number = std::strtoull(page.c_str(), nullptr, 10);
  at.io = storage_->At(at.number);
  if (!at.io || colon == page.size()) {
    return Error{Code::kInvalidArgument, "the listing is gone: its page was asked for too late"};
  }
  return list(at, page.substr(colon + 1));
}

}  // namespace firn::ports
