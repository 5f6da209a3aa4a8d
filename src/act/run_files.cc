// SPDX-License-Identifier: Apache-2.0
#include "act/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace firn::act {
namespace {

constexpr std::size_t kRestSize = 12;  // of a UUID, behind the name of the run

bool TakeAll(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// Digits, at least one, and then `word`.
bool TakeNumber(std::string_view& text, std::string_view word) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0) return false;
  text.remove_prefix(digits);
  return TakeAll(text, word);
}

template <std::size_t N>
bool IsOneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

constexpr std::array<std::string_view, 3> kMetadataEnds = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};
constexpr std::array<std::string_view, 3> kDataEnds = {".parquet", "-deletes.parquet", "-deletes.puffin"};

/// "before UUID after"
RunFileKind KindAround(std::string_view before, std::string_view after) {
  if (before.empty()) {
    return TakeAll(after, "-m") && TakeNumber(after, ".avro") && after.empty() ? RunFileKind::kManifest
                                                                               : RunFileKind::kNone;
  }
  if (TakeAll(before, "snap-")) {
    const bool is_list = TakeNumber(before, "-") && TakeNumber(before, "-") && before.empty() && after == ".avro";
    return is_list ? RunFileKind::kManifestList : RunFileKind::kNone;
  }
  if (!TakeNumber(before, "-")) return RunFileKind::kNone;
  if (before.empty()) return IsOneOf(after, kMetadataEnds) ? RunFileKind::kMetadata : RunFileKind::kNone;
  const bool is_data = TakeNumber(before, "-") && before.empty() && TakeAll(after, "-") && TakeNumber(after, "") &&
                       IsOneOf(after, kDataEnds);
  return is_data ? RunFileKind::kData : RunFileKind::kNone;
}

bool IsTemporary(std::string_view name, const RunMark& mark) {
  // A number alone may be in use elsewhere, on a file system that machines or containers share.
  if (mark.token.empty() || !TakeAll(name, ".firn-")) return false;
  return TakeAll(name, fmt::format("{}-{}-", mark.writer.pid, mark.token)) && TakeNumber(name, ".tmp") && name.empty();
}

}  // namespace

RunFileKind KindOf(std::string_view name, const RunMark& mark) {
  if (mark.run.size() != kRunNameSize) return RunFileKind::kNone;
  const std::size_t at = name.find(mark.run);
  if (at == std::string_view::npos) return IsTemporary(name, mark) ? RunFileKind::kTemporary : RunFileKind::kNone;
  const std::string_view rest = name.substr(at + kRunNameSize);
  if (rest.substr(0, kRestSize).find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return RunFileKind::kNone;
  }
  return rest.size() < kRestSize ? RunFileKind::kNone : KindAround(name.substr(0, at), rest.substr(kRestSize));
}

}  // namespace firn::act
