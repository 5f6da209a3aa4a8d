// SPDX-License-Identifier: Apache-2.0
#include "orient/table_state_bytes.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "orient/table_state.h"

namespace firn::orient {
namespace {

constexpr std::uint32_t kMagic = 0x53'4e'52'46;  // "FRNS"
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kKnownFlags = kEstimated | kForgotten | kContradicted;
constexpr std::int64_t kTargetMax = std::int64_t{1} << 42;

Error Corrupt(std::string_view what) { return {Code::kCorrupt, "partition state: " + std::string(what)}; }

class Writer {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void Put(T value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    StoreLittle(bytes.data() + at, value);
  }
  void PutText(std::string_view text) {
    Put(static_cast<std::uint32_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  Bytes bytes;
};

/// Zeros and empty texts after a fault.
class Reader {
 public:
  explicit Reader(ByteView bytes) : left_(bytes) {}

  template <class T>
  T Get() {
    T value{};
    if (const ByteView bytes = Take(sizeof value); is_ok_) value = LoadLittle<T>(bytes.data());
    return value;
  }
  std::string_view GetText() { return AsText(Take(Get<std::uint32_t>())); }
  bool is_ok() const { return is_ok_; }
  std::size_t left() const { return left_.size(); }

 private:
  ByteView Take(std::size_t size) {
    is_ok_ = is_ok_ && size <= left_.size();
    if (!is_ok_) return {};
    const ByteView bytes = left_.first(size);
    left_ = left_.subspan(size);
    return bytes;
  }

  ByteView left_;
  bool is_ok_ = true;
};

bool IsPlausible(const PartitionState& state, std::int64_t target) {
  const auto squares = (static_cast<unsigned __int128>(state.error_squares_high) << 64) | state.error_squares_low;
  const auto most = static_cast<unsigned __int128>(target) * static_cast<unsigned __int128>(target) * state.file_count;
  return squares <= most && state.size_bytes >= 0 && state.small_bytes >= 0 && state.small_bytes <= state.size_bytes &&
         state.bytes_changed >= 0 && state.small_files <= state.file_count && (state.flags & ~kKnownFlags) == 0;
}

}  // namespace

std::uint64_t StateChecksum(ByteView bytes) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  // Each step is a bijection of the word that it takes: no change of one word goes unseen.
  std::uint64_t hash = bytes.size() * kOdd + 1;
  const auto mix = [&hash](std::uint64_t word) { hash = std::rotl((hash ^ word) * kOdd, 29); };
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) mix(LoadLittle<std::uint64_t>(bytes.data() + at));
  std::uint64_t last = 0;
  if (at < bytes.size()) std::memcpy(&last, bytes.data() + at, bytes.size() - at);
  mix(last);
  mix(0);
  return hash ^ (hash >> 32);
}

class TableStateCodec {
 public:
  static Bytes Write(const TableState& state) {
    Writer writer;
    writer.bytes.reserve(256 + state.size() * (sizeof(PartitionState) + 4) + state.store_.key_bytes());
    writer.Put(kMagic);
    writer.Put(kVersion);
    writer.PutText(state.table_uuid_);
    writer.PutText(state.ref_);
    writer.PutText(state.needs_scan_);
    writer.Put(static_cast<std::uint8_t>(state.snapshot_id_.has_value()));
    writer.Put(state.snapshot_id_.value_or(SnapshotId(0)).value);
    writer.Put(state.partitioning_);
    writer.Put(state.basis_.target_size_bytes);
    writer.Put(state.basis_.healthy_size_bytes);
    writer.Put(state.basis_.delete_ratio_threshold);
    writer.Put(state.basis_.delete_file_threshold);
    writer.Put(state.basis_.mergeable_flags);
    writer.Put(state.removable_files_min_);
    writer.Put(state.tolerated_entropy_);
    writer.Put(state.forgotten_);
    writer.Put(state.forgotten_total_);
    writer.Put(state.global_deletes_);
    writer.Put(state.forgotten_pending_since_);
    writer.Put(state.global_deletes_since_);
    writer.Put(static_cast<std::uint64_t>(state.size()));
    for (std::uint32_t i = 0; i < state.size(); ++i) {
      writer.PutText(state.key(i));
      writer.Put(state.partition(i));
    }
    writer.Put(StateChecksum(writer.bytes));
    return std::move(writer.bytes);
  }

  static Result<TableState> Read(ByteView bytes, std::size_t partitions_max) {
    constexpr std::size_t kHeader = sizeof kMagic + sizeof kVersion, kChecksum = sizeof(std::uint64_t);
    if (bytes.size() < kHeader + kChecksum) return Corrupt("too short");
    const ByteView content = bytes.first(bytes.size() - kChecksum);
    Reader reader(content);
    if (reader.Get<std::uint32_t>() != kMagic) return Corrupt("not a partition state");
    if (const auto version = reader.Get<std::uint32_t>(); version != kVersion) {
      return Corrupt("version " + std::to_string(version) + ", not " + std::to_string(kVersion));
    }
    if (LoadLittle<std::uint64_t>(bytes.data() + content.size()) != StateChecksum(content)) {
      return Corrupt("the checksum does not fit");
    }
    TableState state(partitions_max);
    FIRN_TRY(ReadTable(reader, state));
    FIRN_TRY(ReadPartitions(reader, state));
    return state;
  }

 private:
  static Status ReadTable(Reader& reader, TableState& state) {
    state.table_uuid_ = reader.GetText();
    state.ref_ = reader.GetText();
    state.needs_scan_ = reader.GetText();
    const bool has_snapshot = reader.Get<std::uint8_t>() != 0;
    const SnapshotId snapshot_id(reader.Get<std::int64_t>());
    if (has_snapshot) state.snapshot_id_ = snapshot_id;
    state.partitioning_ = reader.Get<std::uint64_t>();
    state.basis_.target_size_bytes = reader.Get<std::int64_t>();
    state.basis_.healthy_size_bytes = reader.Get<std::int64_t>();
    state.basis_.delete_ratio_threshold = reader.Get<double>();
    state.basis_.delete_file_threshold = reader.Get<std::int32_t>();
    state.basis_.mergeable_flags = reader.Get<std::uint16_t>();
    state.removable_files_min_ = reader.Get<std::int64_t>();
    state.tolerated_entropy_ = reader.Get<double>();
    state.forgotten_ = reader.Get<std::int64_t>();
    state.forgotten_total_ = reader.Get<std::int64_t>();
    state.global_deletes_ = reader.Get<std::int64_t>();
    state.forgotten_pending_since_ = reader.Get<std::uint32_t>();
    state.global_deletes_since_ = reader.Get<std::uint32_t>();
    if (!reader.is_ok()) return Corrupt("ends too early");
    const std::int64_t target = state.basis_.target_size_bytes;
    if (target < 0 || target > kTargetMax || state.forgotten_ < 0 || state.forgotten_total_ < 0 ||
        state.global_deletes_ < 0) {
      return Corrupt("a number is out of range");
    }
    return Ok();
  }

  static Status ReadPartitions(Reader& reader, TableState& state) {
    const auto count = reader.Get<std::uint64_t>();
    constexpr std::size_t kLeast = sizeof(std::uint32_t) + sizeof(PartitionState);
    if (!reader.is_ok() || count > reader.left() / kLeast) return Corrupt("ends too early");
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view key = reader.GetText();
      const auto partition = reader.Get<PartitionState>();
      if (!reader.is_ok()) return Corrupt("ends too early");
      if (key.size() < sizeof(std::int32_t)) return Corrupt("a key is too short");
      if (!IsPlausible(partition, state.basis_.target_size_bytes)) return Corrupt("numbers contradict each other");
      if (state.store_.Find(key)) return Corrupt("a partition is there twice");
      state.store_.at(state.Insert(key, nullptr)) = partition;
    }
    return reader.left() == 0 ? Ok() : Corrupt("more bytes than partitions");
  }
};

Bytes TableState::Serialize() const { return TableStateCodec::Write(*this); }

Result<TableState> TableState::Parse(ByteView bytes, std::size_t partitions_max) {
  return TableStateCodec::Read(bytes, partitions_max);
}

bool operator==(const TableState& a, const TableState& b) { return a.Serialize() == b.Serialize(); }

}  // namespace firn::orient
