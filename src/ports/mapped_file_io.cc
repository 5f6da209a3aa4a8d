// SPDX-License-Identifier: Apache-2.0
#include "ports/mapped_file_io.h"

#include <fmt/format.h>

#include <functional>

#include "base/range_copies.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

/// Sources and files say the location that the caller knows, not the mapped one.
class RenamedSource final : public RandomAccessSource {
 public:
  RenamedSource(std::string name, std::unique_ptr<RandomAccessSource> below)
      : name_(std::move(name)), below_(std::move(below)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return below_->size(); }
  Status ReadAt(std::uint64_t offset, std::span<std::uint8_t> out) override {
    return below_->ReadAt(offset, out).In(name_);
  }

 private:
  std::string name_;
  std::unique_ptr<RandomAccessSource> below_;
};

/// Marks files by the names that the caller knows. `map` and `below` live as long as the file.
class MappedCopies final : public RangeCopies {
 public:
  MappedCopies(RangeCopies& below, std::function<std::string(const std::string&)> map)
      : below_(below), map_(std::move(map)) {}
  std::optional<FileMark> Mark(const std::string& location, std::uint64_t size_bytes) override {
    std::optional<FileMark> mark = below_.Mark(map_(location), size_bytes);
    if (mark) mark->name = location;
    return mark;
  }
  Status Append(RandomAccessSource& source, const FileMark& mark, std::uint64_t offset, std::uint64_t size) override {
    return below_.Append(source, mark, offset, size);
  }
  CopiedRanges copied() const override { return below_.copied(); }

 private:
  RangeCopies& below_;
  std::function<std::string(const std::string&)> map_;
};

class MappedOutput final : public OutputFile {
 public:
  MappedOutput(std::unique_ptr<OutputFile> below, std::function<std::string(const std::string&)> map)
      : below_(std::move(below)), map_(std::move(map)) {}
  const std::string& name() const override { return below_->name(); }
  std::uint64_t position() const override { return below_->position(); }
  Status Write(ByteView bytes) override { return below_->Write(bytes); }
  Status Close() override { return below_->Close(); }
  void Abort() override { below_->Abort(); }
  RangeCopies* range_copies() override {
    RangeCopies* const copies = below_->range_copies();
    if (copies == nullptr) return nullptr;
    if (!copies_) copies_.emplace(*copies, map_);
    return &*copies_;
  }

 private:
  std::unique_ptr<OutputFile> below_;
  std::function<std::string(const std::string&)> map_;
  std::optional<MappedCopies> copies_;
};

std::string Replaced(const std::string& location, const std::string& from, const std::string& to) {
  return to + location.substr(from.size());
}

}  // namespace

Result<LocationRule> ParseLocationRule(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view from = text.substr(0, equals);
  const std::string_view to = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  if (WithoutSlash(from).empty() || WithoutSlash(to).empty()) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` is no location rule: write FROM=TO", text)};
  }
  return LocationRule{std::string(from), std::string(to)};
}

MappedFileIO::MappedFileIO(std::shared_ptr<FileIO> below, std::vector<LocationRule> rules)
    : below_(std::move(below)), rules_(std::move(rules)) {
  for (LocationRule& rule : rules_) {
    rule.from = WithoutSlash(rule.from);
    rule.to = WithoutSlash(rule.to);
  }
}

const LocationRule* MappedFileIO::Match(std::string_view location) const {
  for (const LocationRule& rule : rules_) {
    if (!location.starts_with(rule.from)) continue;
    if (location.size() == rule.from.size() || location[rule.from.size()] == '/') return &rule;
  }
  return nullptr;
}

std::string MappedFileIO::Map(const std::string& location) const {
  const LocationRule* rule = Match(location);
  return rule ? Replaced(location, rule->from, rule->to) : location;
}

Result<std::string> MappedFileIO::MapForWriting(const std::string& location) const {
  const LocationRule* rule = Match(location);
  if (!rule) return location;
  if (!SamePlace(rule->from, rule->to)) {
    return Error{Code::kUnsupported, fmt::format("{}: is read through the rule {}={}; nothing is written there",
                                                 location, rule->from, rule->to)};
  }
  return Replaced(location, rule->from, rule->to);
}

Result<std::unique_ptr<RandomAccessSource>> MappedFileIO::Open(const std::string& location,
                                                               std::optional<std::uint64_t> known_size_bytes) {
  if (!Match(location)) return below_->Open(location, known_size_bytes);
  auto source = below_->Open(Map(location), known_size_bytes);
  if (!source) return std::move(source.error()).In(location);
  return std::unique_ptr<RandomAccessSource>(new RenamedSource(location, std::move(*source)));
}

Result<std::unique_ptr<OutputFile>> MappedFileIO::Create(const std::string& location) {
  FIRN_ASSIGN(const std::string mapped, MapForWriting(location));
  FIRN_ASSIGN(auto file, below_->Create(mapped));
  const auto map = [this](const std::string& name) { return Map(name); };
  return std::unique_ptr<OutputFile>(new MappedOutput(std::move(file), map));
}

Status MappedFileIO::CheckCreate(const std::string& location) {
  FIRN_ASSIGN(const std::string mapped, MapForWriting(location));
  return below_->CheckCreate(mapped);
}

Status MappedFileIO::CheckExclusive(const std::string& location) {
  FIRN_ASSIGN(const std::string mapped, MapForWriting(location));
  return below_->CheckExclusive(mapped);
}

Status MappedFileIO::Replace(const std::string& location, ByteView bytes) {
  FIRN_ASSIGN(const std::string mapped, MapForWriting(location));
  return below_->Replace(mapped, bytes);
}

Status MappedFileIO::Delete(const std::string& location) {
  FIRN_ASSIGN(const std::string mapped, MapForWriting(location));
  return below_->Delete(mapped);
}

Result<bool> MappedFileIO::Exists(const std::string& location) { return below_->Exists(Map(location)); }

Result<ListPage> MappedFileIO::List(const std::string& prefix, const std::string& page) {
  // With the slash, so that a rule never matches half a name.
  const std::string start = AsPrefix(prefix);
  const LocationRule* rule = Match(start);
  if (!rule) return below_->List(start, page);
  FIRN_ASSIGN(ListPage found, below_->List(Replaced(start, rule->from, rule->to), page));
  for (FileInfo& file : found.files) file.location = Replaced(file.location, rule->to, rule->from);
  return found;
}

}  // namespace firn::ports
