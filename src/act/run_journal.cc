// SPDX-License-Identifier: Apache-2.0
#include "act/run_journal.h"

#include <fmt/format.h>

#include <utility>

#include "act/leftovers.h"
#include "base/bytes.h"
#include "base/log.h"
#include "ports/process_token.h"
#include "ports/stoppable_file_io.h"

namespace firn::act {
namespace {

constexpr std::size_t kNotesMax = 8;
constexpr std::uint64_t kSightBytesMax = 4096;
constexpr std::int32_t kNumberedVersion = 2;

}  // namespace

RunJournal::RunJournal(const CommitEnvironment& environment, std::string ref)
    : env_(environment), ref_(std::move(ref)) {}

void RunJournal::Note(std::string text) {
  if (tidied_.notes.size() < kNotesMax) tidied_.notes.push_back(std::move(text));
}

void RunJournal::LookAtEarlier(const ports::LoadedTable& table) {
  auto found = FindRunMarks(env_.io, *table.metadata);
  if (!found) {
    Log(LogLevel::kWarn, fmt::format("what earlier runs left is not known: {}", found.error().message));
    return;
  }
  for (RunMark& mark : found->marks) LookAt(table, std::move(mark));
  for (const std::string& location : found->lone_sights) (void)env_.io.Delete(location);
  if (!found->is_complete) {
    Note(fmt::format("{} has more files than the {} that are looked at", MarkFolder(*table.metadata), kMarkFilesMax));
  }
  for (const std::string& location : found->unreadable) {
    Note(fmt::format("{} is no mark that a run of this version has written, or was changed: it counts for nothing",
                     location));
  }
}

/// Whether what this table names can be all that is named of the run. One table may have several names (a registered
/// copy), each with commits that the other does not know; and it may have been put back to what it was before the run.
bool RunJournal::IsOf(const ports::LoadedTable& table, const RunMark& mark) const {
  return mark.catalog == env_.catalog.name() && mark.table == ToString(table.id) &&
         mark.table_uuid == table.metadata->table_uuid() &&
         (!mark.sequence_number || *mark.sequence_number <= table.metadata->last_sequence_number());
}

/// Where that is not known from the process itself: what cannot be read may be young.
bool RunJournal::WasSeenLately(const RunMark& mark, const std::string& folder) const {
  const auto is_late = [this](TimestampMs seen) { return env_.clock.Now().value - seen.value < kUnknownAgeMs; };
  if (is_late(mark.begun)) return true;
  const std::string location = SightLocation(folder, mark.run);
  const auto bytes = ports::ReadFile(env_.io, location, kSightBytesMax);
  if (!bytes) return bytes.error().code != Code::kNotFound;
  const auto seen = ParseSight(AsText(*bytes), location, mark.run);
  return !seen || is_late(*seen);
}

void RunJournal::LookAt(const ports::LoadedTable& table, RunMark mark) {
  if (!IsOf(table, mark)) {
    return Note(fmt::format(
        "{} is of a run on table {} of catalog {}, or on a later state of this one: only a run there can remove what "
        "it left",
        mark.location, mark.table, mark.catalog));
  }
  if (!mark.is_ended) {
    const ports::ProcessState state = env_.processes->StateOf(mark.writer);
    if (state == ports::ProcessState::kRuns) return;
    if (state == ports::ProcessState::kUnknown && WasSeenLately(mark, MarkFolder(*table.metadata))) {
      return Note(
          fmt::format("a run of process {} on {} may still work on the table, or was killed: names of its files "
                      "contain {}",
                      mark.writer.pid, mark.writer.host, mark.run));
    }
    if (const Status ended = TakeForDead(table, mark); !ended) {
      return Note(fmt::format("the mark {} cannot be replaced: {}", mark.location, ended.error().message));
    }
  } else if (const Status ended = RemoveFirstMark(table, mark); !ended) {
    return Note(fmt::format("a mark of run {} cannot be removed: {}", mark.run, ended.error().message));
  }
  Earlier earlier{std::move(mark), {}};
  Tidy(table, earlier, false);
  if (!earlier.mark.location.empty()) earlier_.push_back(std::move(earlier));
}

/// First the new mark, then the old one: a death between leaves both.
Status RunJournal::TakeForDead(const ports::LoadedTable& table, RunMark& mark) {
  const std::string location = MarkLocation(MarkFolder(*table.metadata), mark.run, true);
  mark.ended = env_.clock.Now();
  const std::string text = ToText(mark);
  const Status written = ports::WriteFile(env_.io, location, AsBytes(text));
  if (!written && written.error().code != Code::kConflict) {
    // On a full disk there is no room for it. The process of this machine is certainly dead: the old mark is enough.
    mark.is_ended = env_.processes->StateOf(mark.writer) == ports::ProcessState::kEnded;
    return mark.is_ended ? Ok() : written;
  }
  FIRN_TRY(env_.io.Delete(mark.location));
  mark.location = location;
  mark.is_ended = true;
  return Ok();
}

/// Who took it for dead may have died in between: a run that lives must not find the mark that lets it commit.
Status RunJournal::RemoveFirstMark(const ports::LoadedTable& table, const RunMark& mark) {
  return env_.io.Delete(MarkLocation(MarkFolder(*table.metadata), mark.run, false));
}

void RunJournal::Tidy(const ports::LoadedTable& table, Earlier& earlier, bool is_fenced) {
  // What was seen before may be the table's by now.
  const std::size_t kept = std::exchange(earlier.kept, {}).size();
  if (!IsOf(table, earlier.mark)) {  // it was replaced or put back meanwhile
    if (kept > 0)
      Note(fmt::format("the table was replaced: {} files with {} in their names may be left", kept, earlier.mark.run));
    return;
  }
  const bool number_is_free = env_.processes->StateOf(earlier.mark.writer) == ports::ProcessState::kEnded &&
                              env_.processes->IsFree(earlier.mark.writer.pid);
  const auto io = ports::MakeStoppable(env_.io, env_.cancelled);
  auto swept = SweepRun(*io, table, earlier.mark, {.is_fenced = is_fenced, .temporary_names = number_is_free});
  if (!swept) {
    return Note(fmt::format("files of a run that has ended may be left, with {} in their names: {}", earlier.mark.run,
                            swept.error().message));
  }
  tidied_.removed += swept->removed;
  earlier.kept = std::move(swept->kept);
  if (!swept->is_done) return;
  // Both marks, if both are there: the ended one last, because it is the stronger one.
  const std::string folder = MarkFolder(*table.metadata);
  if (!env_.io.Delete(SightLocation(folder, earlier.mark.run))) return;
  for (const bool is_ended : {false, true}) {
    if (!env_.io.Delete(MarkLocation(folder, earlier.mark.run, is_ended))) return;
  }
  earlier.mark.location.clear();
}

/// What is committed on another history than that of the mark would be told wrongly by it.
Status RunJournal::CheckNotPutBack(const iceberg::TableMetadata& metadata) const {
  if (!mark_.sequence_number || metadata.last_sequence_number() >= *mark_.sequence_number) return Ok();
  return Error{Code::kConflict,
               fmt::format("the table was put back from sequence number {} to {} while this run worked",
                           mark_.sequence_number->value, metadata.last_sequence_number().value)};
}

Status RunJournal::Begin(const ports::LoadedTable& table) {
  const iceberg::TableMetadata& metadata = *table.metadata;
  if (!mark_.location.empty()) return CheckNotPutBack(metadata);
  folder_ = MarkFolder(metadata);
  mark_.writer = env_.processes->Self();
  mark_.token = ports::ProcessToken();
  mark_.catalog = env_.catalog.name();
  mark_.table = ToString(table.id);
  mark_.table_uuid = metadata.table_uuid();
  mark_.ref = ref_;
  mark_.begun = env_.clock.Now();
  seen_ms_ = mark_.begun.value;
  if (metadata.format_version() >= kNumberedVersion) mark_.sequence_number = metadata.last_sequence_number();
  const iceberg::Snapshot* const head = metadata.RefSnapshot(ref_);
  mark_.base_snapshot_id = head == nullptr ? std::nullopt : std::optional(head->id);
  FIRN_TRY(NameRun(mark_, env_.random));
  mark_.location = MarkLocation(folder_, mark_.run, false);
  const std::string text = ToText(mark_);
  Status written = ports::WriteFile(env_.io, mark_.location, AsBytes(text));
  if (written) return Ok();
  (void)env_.io.Delete(mark_.location);
  mark_.location.clear();
  return std::move(written.error()).In("the mark of the run cannot be written");
}

void RunJournal::BeSeen() {
  if (mark_.location.empty()) return;
  const TimestampMs now = env_.clock.Now();
  std::int64_t last = seen_ms_;
  if (now.value - last < kSightMs || !seen_ms_.compare_exchange_strong(last, now.value)) return;
  const std::string text = SightText(mark_.run, now);
  const std::string location = SightLocation(folder_, mark_.run);
  if (const Status seen = env_.io.Replace(location, AsBytes(text)); !seen) {
    Log(LogLevel::kWarn, fmt::format("others may take this run for dead in some days: {}", seen.error().message));
  }
}

Status RunJournal::CheckStands() {
  if (mark_.location.empty()) return Ok();
  BeSeen();
  FIRN_ASSIGN(const bool stands, env_.io.Exists(mark_.location));
  if (stands) return Ok();
  return Error{Code::kCancelled, fmt::format("{} is gone: another run took this one for dead", mark_.location)};
}

/// After a commit of this run.
bool RunJournal::IsFenced(const RunMark& mark) const {
  const bool is_old = mark.ended && env_.clock.Now().value - mark.ended->value >= kRequestAgeMs;
  return mark.ref == ref_ && mark.is_ended && (env_.catalog.SwapsNames() || is_old);
}

Tidied RunJournal::End(bool leaves_files, const std::optional<ports::LoadedTable>& now, bool has_committed) {
  for (Earlier& earlier : earlier_) {
    // Also to look again at what is kept: a late commit may have named it.
    if (now) {
      Tidy(*now, earlier, has_committed && IsFenced(earlier.mark));
    } else if (const std::size_t kept = std::exchange(earlier.kept, {}).size(); kept > 0) {
      Note(fmt::format("{} files with {} in their names may be left: the table could not be read again", kept,
                       earlier.mark.run));
    }
    tidied_.kept.insert(tidied_.kept.end(), earlier.kept.begin(), earlier.kept.end());
  }
  earlier_.clear();
  if (!mark_.location.empty()) {
    mark_.ended = env_.clock.Now();
    const std::string text = ToText(mark_);
    const bool is_noted =
        !leaves_files || ports::WriteFile(env_.io, MarkLocation(folder_, mark_.run, true), AsBytes(text));
    // Otherwise the next run finds this mark, and sees that the process has ended.
    if (seen_ms_ != mark_.begun.value) (void)env_.io.Delete(SightLocation(folder_, mark_.run));
    if (is_noted && !env_.io.Delete(mark_.location)) Note(fmt::format("{} may be left behind", mark_.location));
    mark_.location.clear();
  }
  return std::move(tidied_);
}

}  // namespace firn::act
