// SPDX-License-Identifier: Apache-2.0
//
// A FileIO whose credentials end: a new one takes its place before they do.
//
// In: a FileIO with the time when its credentials end, a function that makes the next one. Out: one FileIO for a job of
//   any length.
// Guarantees: credentials are renewed five minutes before their end, or after half of a shorter life. New ones that
//   seem to have ended (the clock here is ahead) are used for ten seconds before they are renewed. One thread renews;
//   the others go on with the old ones, and wait only if these have ended. When the renewal fails and the old ones
//   still hold, they go on being used. Credentials that the storage refuses before their end (kInvalidArgument:
//   nothing was done) are renewed at once and the call is made again, once, and not more often than every ten seconds.
//   Files that were opened before are opened anew when they are read after it. A file that is being written keeps its
//   credentials: its Close() fails if they end first, and nothing is lost but the work.
// Threads: any. Errors: as the FileIO below; of the renewal once the credentials have ended.
// Source: Java VendedCredentialsProvider; REST OpenAPI, storage-credentials.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "ports/clock.h"
#include "ports/file_io.h"

namespace firn::ports {

/// `ends_at` 0: never.
struct EndingFileIO {
  std::shared_ptr<FileIO> io;
  TimestampMs ends_at;
};

/// What a FileIO and the files that it has opened share.
class RenewedStorage {
 public:
  using Renew = std::function<Result<EndingFileIO>()>;
  struct Current {
    std::shared_ptr<FileIO> io;
    std::uint64_t number = 0;  // counts renewals
  };

  /// `clock` must live longer, and what `renew` needs as well.
  RenewedStorage(EndingFileIO first, Renew renew, Clock& clock);
  Result<Current> Get();
  /// Newer ones than those of that number, which the storage has refused; nullopt: there are none.
  std::optional<Current> After(std::uint64_t refused_number);
  /// The FileIO of that number, if it is the current one or the one before it; otherwise null.
  std::shared_ptr<FileIO> At(std::uint64_t number);

 private:
  void Take(EndingFileIO next);
  /// Without the lock while it asks.
  Result<Current> RenewNow(std::unique_lock<std::mutex>& lock);
  /// What another thread is asking for.
  Result<Current> Await(std::unique_lock<std::mutex>& lock);

  Renew renew_;
  Clock& clock_;
  std::mutex mutex_;
  Current current_;
  std::shared_ptr<FileIO> previous_;
  TimestampMs ends_at_, renew_at_;
  std::condition_variable attempted_;
  bool renewing_ = false;
  std::uint64_t attempts_ = 0;
  std::optional<Error> failure_;  // of the last attempt
  std::optional<std::int64_t> refused_at_ns_;
};

class RenewedFileIO final : public FileIO {
 public:
  RenewedFileIO(EndingFileIO first, RenewedStorage::Renew renew, Clock& clock)
      : storage_(std::make_shared<RenewedStorage>(std::move(first), std::move(renew), clock)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status CheckCreate(const std::string& location) override;
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  /// A listing is ended with the credentials that it was begun with.
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckExclusive(const std::string& location) override;
  Status Replace(const std::string& location, ByteView bytes) override;

 private:
  std::shared_ptr<RenewedStorage> storage_;
};

}  // namespace firn::ports
