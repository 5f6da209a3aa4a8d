// SPDX-License-Identifier: Apache-2.0
#include "act/run_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "format/json/json.h"
#include "ports/hmac.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::act {
namespace {

constexpr std::string_view kRuns = ".run.json", kEnded = ".ended.json", kSeen = ".seen.json";
constexpr std::string_view kPattern = "xxxxxxxx-xxxx-8xxx-yxxx-";
static_assert(kPattern.size() == kRunNameSize);
constexpr std::uint64_t kMarkBytesMax = 16 << 10;

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool IsRunName(std::string_view text) {
  return text.size() == kPattern.size() && std::ranges::equal(text, kPattern, [](char c, char pattern) {
           if (pattern == 'y') return c == '8' || c == '9' || c == 'a' || c == 'b';
           return pattern == 'x' ? IsHex(c) : c == pattern;
         });
}

const std::string& TextOf(const json::Value& value, std::string_view name) {
  static const std::string none;
  const json::Value* found = value.Find(name);
  const std::string* text = found == nullptr ? nullptr : found->AsString();
  return text == nullptr ? none : *text;
}

std::optional<std::int64_t> NumberOf(const json::Value& value, std::string_view name) {
  const json::Value* found = value.Find(name);
  return found == nullptr ? std::nullopt : found->AsInt64();
}

json::Value WriterOf(const RunMark& mark) {
  json::Value writer = json::Value::Object();
  writer.Set("host", mark.writer.host);
  writer.Set("boot", mark.writer.boot);
  writer.Set("pid-namespace", mark.writer.pid_namespace);
  writer.Set("pid", mark.writer.pid);
  writer.Set("began", mark.writer.began);
  writer.Set("token", mark.token);
  return writer;
}

/// All that is known when the run is named. Other members or another order would be another name.
json::Value FactsOf(const RunMark& mark) {
  json::Value value = json::Value::Object();
  value.Set("catalog", mark.catalog);
  value.Set("table", mark.table);
  value.Set("table-uuid", mark.table_uuid);
  value.Set("ref", mark.ref);
  value.Set("begun-ms", mark.begun.value);
  if (mark.sequence_number) value.Set("sequence-number", mark.sequence_number->value);
  if (mark.base_snapshot_id) value.Set("base-snapshot-id", mark.base_snapshot_id->value);
  value.Set("writer", WriterOf(mark));
  value.Set("nonce", mark.nonce);
  return value;
}

Result<std::string> NameOf(const RunMark& mark) {
  FIRN_ASSIGN(const std::string digest, ports::HmacSha256("firn run", json::Write(FactsOf(mark))));
  std::string name(kPattern);
  std::size_t next = 0;
  for (char& c : name) {
    if (c != 'x' && c != 'y') continue;
    const unsigned byte = static_cast<unsigned char>(digest.at(next / 2));
    const unsigned digit = next++ % 2 == 0 ? byte >> 4 : byte & 15;
    c = c == 'y' ? "89ab"[digit & 3] : "0123456789abcdef"[digit];
  }
  return name;
}

}  // namespace

Status NameRun(RunMark& mark, Random& random) {
  mark.nonce = random.NewUuid();
  FIRN_ASSIGN(mark.run, NameOf(mark));
  return Ok();
}

bool IsNamedByContent(const RunMark& mark) {
  const auto name = NameOf(mark);
  return name && *name == mark.run;
}

std::string UuidOf(const std::string& run, Random& random) { return random.NewUuid().replace(0, run.size(), run); }

std::string MarkFolder(const iceberg::TableMetadata& metadata) {
  return ports::AsPrefix(ports::Join(ports::MetadataFolder(metadata), "firn-runs"));
}

std::string MarkLocation(std::string_view folder, std::string_view run, bool is_ended) {
  return fmt::format("{}{}{}", folder, run.substr(0, run.size() - 1), is_ended ? kEnded : kRuns);
}

std::string SightLocation(std::string_view folder, std::string_view run) {
  return fmt::format("{}{}{}", folder, run.substr(0, run.size() - 1), kSeen);
}

std::string SightText(std::string_view run, TimestampMs seen) {
  json::Value value = json::Value::Object();
  value.Set("run", std::string(run));
  value.Set("seen-ms", seen.value);
  return json::WritePretty(value) + "\n";
}

Result<TimestampMs> ParseSight(std::string_view text, const std::string& location, std::string_view run) {
  const auto value = json::Parse(text);
  const auto seen = value && value->is_object() ? NumberOf(*value, "seen-ms") : std::nullopt;
  if (!seen || TextOf(*value, "run") != run) return Error{Code::kCorrupt, location + ": no sight of a run"};
  return TimestampMs{*seen};
}

std::string ToText(const RunMark& mark) {
  json::Value value = FactsOf(mark);
  value.Set("run", mark.run);
  if (mark.ended) value.Set("ended-ms", mark.ended->value);
  return json::WritePretty(value) + "\n";
}

Result<RunMark> ParseRunMark(std::string_view text, const std::string& location) {
  const auto bad = [&location] { return Error{Code::kCorrupt, location + ": no mark of a run"}; };
  const auto value = json::Parse(text);
  if (!value || !value->is_object()) return bad();
  const json::Value* writer = value->Find("writer");
  const auto begun = NumberOf(*value, "begun-ms");
  RunMark mark;
  mark.run = TextOf(*value, "run");
  if (!IsRunName(mark.run) || writer == nullptr || !begun) return bad();
  mark.location = location;
  const std::string_view name = ports::FileNameOf(location);
  mark.is_ended = name == MarkLocation("", mark.run, true);
  if (!mark.is_ended && name != MarkLocation("", mark.run, false)) return bad();
  mark.writer = {TextOf(*writer, "host"), TextOf(*writer, "boot"), TextOf(*writer, "pid-namespace"),
                 NumberOf(*writer, "pid").value_or(0), TextOf(*writer, "began")};
  mark.token = TextOf(*writer, "token");
  mark.catalog = TextOf(*value, "catalog");
  mark.table = TextOf(*value, "table");
  mark.table_uuid = TextOf(*value, "table-uuid");
  mark.ref = TextOf(*value, "ref");
  mark.begun = TimestampMs{*begun};
  if (const auto ended = NumberOf(*value, "ended-ms")) mark.ended = TimestampMs{*ended};
  if (const auto number = NumberOf(*value, "sequence-number")) mark.sequence_number = SequenceNumber(*number);
  if (const auto id = NumberOf(*value, "base-snapshot-id")) mark.base_snapshot_id = SnapshotId(*id);
  mark.nonce = TextOf(*value, "nonce");
  if (IsNamedByContent(mark)) return mark;
  return Error{Code::kCorrupt, location + ": the name of the run is not that of what the mark says"};
}

namespace {

class MarkSearch {
 public:
  explicit MarkSearch(ports::FileIO& io) : io_(io) {}
  Result<FoundMarks> In(const std::string& folder);

 private:
  void LookAt(const std::string& location);

  ports::FileIO& io_;
  std::map<std::string, RunMark> marks_;
  std::map<std::string, std::string> sights_;  // by run
  std::set<std::string> runs_unread_;
  FoundMarks found_;
};

void MarkSearch::LookAt(const std::string& location) {
  const std::string_view name = ports::FileNameOf(location);
  if (name.starts_with(".firn-") && name.ends_with(".tmp")) return;  // on its way
  if (name.ends_with(kSeen)) {
    sights_[fmt::format("{}-", name.substr(0, name.size() - kSeen.size()))] = location;
    return;
  }
  if (!name.ends_with(kRuns) && !name.ends_with(kEnded)) return found_.unreadable.push_back(location);
  const std::string run = fmt::format("{}-", name.substr(0, name.find('.')));
  const auto bytes = ports::ReadFile(io_, location, kMarkBytesMax);
  if (!bytes && bytes.error().code == Code::kNotFound) return;  // its run has ended meanwhile
  auto mark = bytes ? ParseRunMark(AsText(*bytes), location) : Result<RunMark>(bytes.error());
  if (!mark) {
    runs_unread_.insert(run);
    return found_.unreadable.push_back(location);
  }
  if (RunMark& known = marks_[mark->run]; !known.is_ended) known = std::move(*mark);
}

Result<FoundMarks> MarkSearch::In(const std::string& folder) {
  std::size_t looked_at = 0;
  std::string page;
  do {
    FIRN_ASSIGN(ports::ListPage list, io_.List(folder, page));
    for (const ports::FileInfo& file : list.files) {
      found_.is_complete = looked_at++ < kMarkFilesMax;
      if (!found_.is_complete) break;
      LookAt(file.location);
    }
    page = std::move(list.next_page);
  } while (!page.empty() && found_.is_complete);
  for (const auto& [run, location] : sights_) {
    const bool is_lone = IsRunName(run) && !marks_.contains(run) && !runs_unread_.contains(run);
    if (found_.is_complete && is_lone) found_.lone_sights.push_back(location);
  }
  for (auto& [run, mark] : marks_) found_.marks.push_back(std::move(mark));
  return std::move(found_);
}

}  // namespace

Result<FoundMarks> FindRunMarks(ports::FileIO& io, const iceberg::TableMetadata& metadata) {
  return MarkSearch(io).In(MarkFolder(metadata));
}

}  // namespace firn::act
