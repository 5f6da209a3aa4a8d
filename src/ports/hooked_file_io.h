// SPDX-License-Identifier: Apache-2.0
//
// A FileIO whose every call passes through a hook: for fault injection and for counting requests.
//
// In: any FileIO, a hook (io_hook.h). Out: the same FileIO, breakable.
// Guarantees: also the reads of opened files and the writes of created files are seen. Abort is not an event: a
//   dead process aborts nothing, and a living one leaves nothing behind.
// Threads: as the FileIO below and the hook.
#pragma once

#include <memory>

#include "ports/file_io.h"
#include "ports/io_hook.h"

namespace firn::ports {

class HookedFileIO final : public FileIO {
 public:
  HookedFileIO(std::shared_ptr<FileIO> below, IoHook hook) : below_(std::move(below)), hook_(std::move(hook)) {}

  Result<std::unique_ptr<RandomAccessSource>> Open(
      const std::string& location, std::optional<std::uint64_t> known_size_bytes = std::nullopt) override;
  Result<std::unique_ptr<OutputFile>> Create(const std::string& location) override;
  Status CheckCreate(const std::string& location) override { return below_->CheckCreate(location); }
  Status Delete(const std::string& location) override;
  Result<bool> Exists(const std::string& location) override;
  Result<ListPage> List(const std::string& prefix, const std::string& page) override;
  Status CheckExclusive(const std::string& location) override { return below_->CheckExclusive(location); }
  Status Replace(const std::string& location, ByteView bytes) override { return below_->Replace(location, bytes); }

 private:
  std::shared_ptr<FileIO> below_;
  IoHook hook_;
};

}  // namespace firn::ports
