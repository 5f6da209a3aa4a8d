// SPDX-License-Identifier: Apache-2.0
#include "ports/hooked_file_io.h"

#include "base/range_copies.h"

namespace firn::ports {
namespace {

/// Runs `call` between its two events.
template <class Call>
auto Hooked(const IoHook& hook, IoOperation operation, const std::string& location, Call call) -> decltype(call()) {
  FIRN_TRY(hook(IoEvent{operation, IoMoment::kBefore, location}));
  auto result = call();
  FIRN_TRY(hook(IoEvent{operation, IoMoment::kAfter, location}));
  return result;
}

class HookedSource final : public RandomAccessSource {
 public:
  HookedSource(std::unique_ptr<RandomAccessSource> below, IoHook hook)
      : below_(std::move(below)), hook_(std::move(hook)) {}
  const std::string& name() const override { return below_->name(); }
  std::uint64_t size() const override { return below_->size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    return Hooked(hook_, IoOperation::kReadAt, name(), [&] { return below_->ReadAt(offset, out); });
  }

 private:
  std::unique_ptr<RandomAccessSource> below_;
  IoHook hook_;
};

class HookedOutput final : public OutputFile, public RangeCopies {
 public:
  HookedOutput(std::unique_ptr<OutputFile> below, IoHook hook) : below_(std::move(below)), hook_(std::move(hook)) {}
  const std::string& name() const override { return below_->name(); }
  std::uint64_t position() const override { return below_->position(); }
  Status Write(ByteView bytes) override {
    return Hooked(hook_, IoOperation::kWrite, name(), [&] { return below_->Write(bytes); });
  }
  Status Close() override {
    return Hooked(hook_, IoOperation::kClose, name(), [&] { return below_->Close(); });
  }
  void Abort() override { below_->Abort(); }

  /// A range is a write, a mark is not seen.
  RangeCopies* range_copies() override {
    copies_ = below_->range_copies();
    return copies_ == nullptr ? nullptr : this;
  }
  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) override {
    return copies_->Mark(location, size_bytes);
  }
  Status Append(RandomAccessSource& source, const FileMark& mark, std::uint64_t offset, std::uint64_t size) override {
    return Hooked(hook_, IoOperation::kWrite, name(), [&] { return copies_->Append(source, mark, offset, size); });
  }
  CopiedRanges copied() const override { return copies_->copied(); }

 private:
  std::unique_ptr<OutputFile> below_;
  RangeCopies* copies_ = nullptr;
  IoHook hook_;
};

}  // namespace

Result<std::unique_ptr<RandomAccessSource>> HookedFileIO::Open(const std::string& location,
                                                               std::optional<std::uint64_t> known_size_bytes) {
  return Hooked(hook_, IoOperation::kOpen, location, [&]() -> Result<std::unique_ptr<RandomAccessSource>> {
    FIRN_ASSIGN(auto source, below_->Open(location, known_size_bytes));
    return std::unique_ptr<RandomAccessSource>(new HookedSource(std::move(source), hook_));
  });
}

Result<std::unique_ptr<OutputFile>> HookedFileIO::Create(const std::string& location) {
  return Hooked(hook_, IoOperation::kCreate, location, [&]() -> Result<std::unique_ptr<OutputFile>> {
    FIRN_ASSIGN(auto file, below_->Create(location));
    return std::unique_ptr<OutputFile>(new HookedOutput(std::move(file), hook_));
  });
}

Status HookedFileIO::Delete(const std::string& location) {
  return Hooked(hook_, IoOperation::kDelete, location, [&] { return below_->Delete(location); });
}

Result<bool> HookedFileIO::Exists(const std::string& location) {
  return Hooked(hook_, IoOperation::kExists, location, [&] { return below_->Exists(location); });
}

Result<ListPage> HookedFileIO::List(const std::string& prefix, const std::string& page) {
  return Hooked(hook_, IoOperation::kList, prefix, [&] { return below_->List(prefix, page); });
}

}  // namespace firn::ports
