// SPDX-License-Identifier: Apache-2.0
#include "act/commit.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "act/commit_request.h"
#include "act/run_journal.h"
#include "base/log.h"
#include "observe/manifest_scan.h"

namespace firn::act {
namespace {

using iceberg::Snapshot;
using iceberg::TableMetadata;
using ports::LoadedTable;

/// One commit from the first load to the last clean-up.
class Committer {
 public:
  Committer(CommitEnvironment& environment, const CommitTarget& target, Change& change)
      : env_(environment),
        target_(target),
        change_(change),
        files_(environment.io, environment.NewFileUuid()),
        started_ns_(environment.clock.MonotonicNs()),
        retry_(environment.retry),
        uuid_(target.table_uuid) {}

  CommitReport Run();

 private:
  enum class Verdict : std::uint8_t { kApplied, kRefused, kUnknown };
  struct Request {  // one proposal that went, or is about to go, to the catalog
    std::string manifest_list;
    std::vector<std::string> metadata_files;
    std::size_t proposal = 0;  // which answer of the change it is
    std::optional<SnapshotId> base_head;
    std::string base_location = {};  // of the metadata
    bool open = false;               // it may have been applied, or may still be
    bool doubted = false;  // refused as a conflict, but no other change was seen: it may have been applied before
    bool may_count() const { return open || doubted; }
  };

  Status RunAttempts();
  std::string Overtaken() const;
  Result<bool> Attempt();
  Result<Verdict> Send(const LoadedTable& base, const ports::TableCommit& commit);
  Verdict Look(const LoadedTable& base, int lookups);
  bool AppliedAfterAll();
  bool FindOwn(const LoadedTable& table);
  void JudgeRefusals(const LoadedTable& table);
  std::optional<SnapshotId> HeadOf(const TableMetadata& metadata) const;
  Result<bool> FindEqual(const TableMetadata& metadata);
  Status NoteFilesOf(const Snapshot& snapshot, const TableMetadata& metadata);
  Status CheckBase(const TableMetadata& metadata);
  /// False: time is up or the work was cancelled.
  bool Wait(int step, std::int64_t shortest_ms);
  bool AnyOpen() const { return std::ranges::any_of(requests_, &Request::may_count); }
  bool AnyDoubted() const { return std::ranges::any_of(requests_, &Request::doubted); }
  std::string Name() const { return ToString(target_.table); }
  void CleanUp();

  CommitEnvironment& env_;
  const CommitTarget& target_;
  Change& change_;
  MetadataFiles files_;
  std::int64_t started_ns_;
  RetryPolicy retry_;
  std::string uuid_;
  SnapshotId snapshot_id_{0};
  std::size_t proposals_ = 0;
  std::vector<Request> requests_;
  std::optional<std::size_t> applied_;     // index into requests_
  bool applied_unseen_ = false;            // our snapshot is there, but with a list that we did not write
  bool unproven_ = false;                  // what was last seen does not tell what became of a request
  std::unordered_set<std::string> named_;  // files of an equal commit that was there before
  bool may_name_own_ = false;              // they could not be read
  CommitReport report_;
};

CommitReport Committer::Run() {
  report_.status = RunAttempts();
  if (!report_.status && AppliedAfterAll()) report_.status = Ok();
  if (!report_.status && unproven_ && report_.status.error().code != Code::kOutcomeUnknown) {
    report_.status =
        Error{Code::kOutcomeUnknown, fmt::format("{}: it is not known whether snapshot {} was committed: {}", Name(),
                                                 snapshot_id_.value, report_.status.error().message)};
  }
  CleanUp();
  return std::move(report_);
}

Status Committer::RunAttempts() {
  Status last = Ok();
  while (report_.attempts < retry_.attempts_max) {
    const bool in_time = report_.attempts == 0 || Wait(report_.attempts - 1, retry_.wait_min_ms);
    if (env_.is_cancelled()) return Error{Code::kCancelled, "cancelled before the commit"};
    if (!in_time) return last;
    ++report_.attempts;
    Result<bool> done = Attempt();
    if (done && *done) return Ok();
    last = done ? Status(Error{Code::kConflict, Overtaken()}) : Status(std::move(done.error()));
    // Storage or a catalog that throttles is asked again; every other error is final.
    if (!done && last.error().code != Code::kUnavailable) return last;
    Log(LogLevel::kInfo, fmt::format("{}: attempt {} of {} to commit: {}", Name(), report_.attempts,
                                     retry_.attempts_max, done ? "others were faster" : last.error().message));
  }
  return last;
}

std::string Committer::Overtaken() const {
  if (!AnyDoubted()) {
    return fmt::format("{}: others changed the table during all {} attempts", Name(), report_.attempts);
  }
  return fmt::format(
      "{}: the catalog refused it as a conflict, {} attempts in all, and shows a table that nobody has "
      "changed",
      Name(), report_.attempts);
}

/// A last look before anything is deleted: a gateway that repeats requests may have reported the refusal of the second
/// copy, of whatever kind, after the first one was applied. When nothing can be seen, no refusal is believed.
bool Committer::AppliedAfterAll() {
  if (requests_.empty()) return false;
  bool is_seen = false;
  for (int lookup = 0; lookup < retry_.lookups_max; ++lookup) {
    if (lookup > 0 && !Wait(lookup - 1, retry_.wait_min_ms)) break;
    const Result<LoadedTable> now = env_.catalog.LoadTable(target_.table);
    if (now && FindOwn(*now)) return true;
    is_seen = is_seen || now.has_value();
    if (now && !AnyDoubted()) return false;
    if (!now) Log(LogLevel::kWarn, fmt::format("{}: the table cannot be read: {}", Name(), ToString(now.error())));
  }
  if (is_seen) return false;
  for (Request& request : requests_) request.open = true;
  unproven_ = true;
  return false;
}

/// True: done. False: somebody else was faster, try again on the new base.
Result<bool> Committer::Attempt() {
  FIRN_ASSIGN(const LoadedTable table, env_.catalog.LoadTable(target_.table));
  const TableMetadata& metadata = *table.metadata;
  FIRN_TRY(CheckBase(metadata));
  if (FindOwn(table)) return true;
  FIRN_ASSIGN(const bool equal, FindEqual(metadata));
  if (equal) return true;
  if (snapshot_id_ == SnapshotId(0)) snapshot_id_ = NewSnapshotId(metadata, env_.random);

  const CommitBase base{table, metadata, target_.ref, metadata.RefSnapshot(target_.ref), snapshot_id_};
  FIRN_ASSIGN(Proposal proposal, change_.Propose(base, files_));
  const std::size_t index = proposals_++;
  FIRN_ASSIGN(PreparedCommit prepared,
              PrepareCommit(base, change_, std::move(proposal), env_.clock.Now(), report_.attempts, files_));
  if (env_.is_cancelled()) return Error{Code::kCancelled, "cancelled before the commit"};
  if (env_.journal != nullptr) {
    FIRN_TRY(env_.journal->CheckStands());
    prepared.commit.run = env_.journal->run();
  }
  requests_.push_back({std::move(prepared.manifest_list), std::move(prepared.metadata_files), index, HeadOf(metadata),
                       table.metadata_location});
  FIRN_ASSIGN(const Verdict verdict, Send(table, prepared.commit));
  if (verdict != Verdict::kUnknown) return verdict == Verdict::kApplied;
  return Error{Code::kOutcomeUnknown,
               fmt::format("{}: the catalog did not say whether snapshot {} was committed, and the table did not "
                           "show it when it was read again",
                           Name(), snapshot_id_.value)};
}

Status Committer::CheckBase(const TableMetadata& metadata) {
  if (uuid_.empty()) uuid_ = metadata.table_uuid();
  if (metadata.table_uuid() != uuid_) {
    return Error{Code::kConflict, fmt::format("{}: the table was replaced: its uuid is {} and was {}", Name(),
                                              metadata.table_uuid(), uuid_)};
  }
  FIRN_TRY(CheckWritable(metadata).In(Name()));
  FIRN_ASSIGN(retry_, RetryPolicyOf(metadata, env_.retry));
  const iceberg::SnapshotRef* ref = metadata.FindRef(target_.ref);
  if (ref == nullptr && target_.ref != "main") {
    return Error{Code::kNotFound, fmt::format("{}: there is no branch {}", Name(), target_.ref)};
  }
  return CheckNoTag(metadata, target_.ref).In(Name());
}

std::optional<SnapshotId> Committer::HeadOf(const TableMetadata& metadata) const {
  const Snapshot* head = metadata.RefSnapshot(target_.ref);
  return head == nullptr ? std::nullopt : std::optional(head->id);
}

/// Whether the table has our snapshot, at the head or anywhere in its log.
bool Committer::FindOwn(const LoadedTable& table) {
  const TableMetadata& metadata = *table.metadata;
  if (requests_.empty() || metadata.table_uuid() != uuid_) return false;
  const Snapshot* snapshot = metadata.FindSnapshot(snapshot_id_);
  // Requests of which this head is not the base any more are refused whenever they arrive.
  unproven_ = std::ranges::any_of(requests_, [head = HeadOf(metadata)](const Request& request) {
    return request.open && request.base_head == head;
  });
  if (snapshot == nullptr && !change_.IsApplied(metadata)) {
    JudgeRefusals(table);
    return false;
  }
  unproven_ = false;
  for (Request& request : requests_) request.doubted = false;
  if (snapshot != nullptr) report_.snapshot_id = snapshot_id_;
  const std::string list = snapshot == nullptr ? "" : snapshot->manifest_list;
  const auto found = std::ranges::find(requests_, list, &Request::manifest_list);
  if (found == requests_.end()) {
    applied_unseen_ = true;
    return true;
  }
  found->open = false;
  applied_ = static_cast<std::size_t>(found - requests_.begin());
  change_.Committed(found->proposal);
  return true;
}

/// A refusal is true if somebody else has moved the branch since, and our snapshot is not there. Other changes do not
/// tell: the request may have been applied on top of them. An older state of the table does not know the base.
void Committer::JudgeRefusals(const LoadedTable& table) {
  for (Request& request : requests_) {
    const auto& log = table.metadata->metadata_log();
    const bool has_moved = HeadOf(*table.metadata) != request.base_head &&
                           (!request.base_head || table.metadata->FindSnapshot(*request.base_head) != nullptr);
    const bool has_changed = std::ranges::find(log, request.base_location) != log.end();
    if (request.manifest_list.empty() ? has_changed : has_moved) request.doubted = false;
  }
  unproven_ = unproven_ || AnyDoubted();
}

/// Whether somebody else committed the same work: the plan has an owner, we are late.
Result<bool> Committer::FindEqual(const TableMetadata& metadata) {
  if (change_.plan_id().empty()) return false;
  const Snapshot* head = metadata.RefSnapshot(target_.ref);
  for (const Snapshot& snapshot : metadata.snapshots()) {
    const std::string* plan_id = snapshot.FindSummary("firn.plan-id");
    const std::string* fence = snapshot.FindSummary("firn.fence");
    if (plan_id == nullptr || *plan_id != change_.plan_id()) continue;
    if ((fence == nullptr ? "" : *fence) != change_.fence()) continue;
    if (head == nullptr || !metadata.IsAncestor(snapshot.id, head->id)) {
      return Error{Code::kConflict, fmt::format("{}: plan {} was committed as snapshot {}, which is not part of {} "
                                                "any more",
                                                Name(), *plan_id, snapshot.id.value, target_.ref)};
    }
    report_.snapshot_id = snapshot.id;
    report_.done_before = true;
    if (const Status noted = NoteFilesOf(snapshot, metadata); !noted) {
      Log(LogLevel::kWarn, fmt::format("{}: {}", Name(), ToString(noted.error())));
      may_name_own_ = true;
    }
    return true;
  }
  return false;
}

/// The equal commit may be our own, made before a restart: then it names our files.
Status Committer::NoteFilesOf(const Snapshot& snapshot, const TableMetadata& metadata) {
  FIRN_ASSIGN(const auto manifests, observe::ReadManifests(env_.io, snapshot, metadata));
  for (const iceberg::ManifestFile& manifest : manifests) {
    if (manifest.added_snapshot_id != snapshot.id) continue;
    FIRN_TRY(observe::ForEachEntry(env_.io, manifest, metadata, iceberg::Wanted::planning(),
                                   [this](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                     named_.insert(entry.file.file_path);
                                     return true;
                                   }));
  }
  return Ok();
}

/// Sends one request until its outcome is known, or the limits are reached. One without a snapshot is sent once: a
/// server would take it on whatever others have done meanwhile, so the change has to look at the table again.
Result<Committer::Verdict> Committer::Send(const LoadedTable& base, const ports::TableCommit& commit) {
  std::string busy;
  const bool is_sent_once = requests_.back().manifest_list.empty();
  for (int send = 0; send < (is_sent_once ? 1 : retry_.sends_max); ++send) {
    if (send > 0 && !Wait(send - 1, retry_.wait_resend_ms)) break;
    const Result<LoadedTable> answer = env_.catalog.CommitTable(base, commit);
    if (answer && FindOwn(*answer)) return Verdict::kApplied;
    Error error = answer ? Error{Code::kOutcomeUnknown, "the answer does not show the change"} : answer.error();
    Log(LogLevel::kInfo, fmt::format("{}: commit of snapshot {}: {}", Name(), snapshot_id_.value, ToString(error)));
    if (error.code == Code::kOutcomeUnknown) requests_.back().open = unproven_ = true;
    // A gateway may have sent it twice, and the table may be shown as it was before: until a change is seen.
    if (error.code == Code::kConflict) requests_.back().doubted = true;
    // Refused for now, and certainly: the same request once more.
    if (error.code == Code::kUnavailable) {
      busy = std::move(error.message);
      continue;
    }
    if (error.code != Code::kConflict && !AnyOpen()) return error;
    // Whatever the answer was: an earlier copy of the request may have been applied.
    const Verdict seen = Look(base, error.code == Code::kOutcomeUnknown ? retry_.lookups_max : 1);
    if (seen == Verdict::kApplied) return seen;
    if (error.code == Code::kConflict) return Verdict::kRefused;
    if (error.code != Code::kOutcomeUnknown) return error;
    if (seen == Verdict::kRefused) return seen;
  }
  if (requests_.back().open) return is_sent_once ? Verdict::kRefused : Verdict::kUnknown;
  return Error{Code::kUnavailable, fmt::format("{}: the catalog does not take the commit now: {}", Name(), busy)};
}

/// Reads the table until it shows our snapshot, or a head on which the request cannot be applied any more.
Committer::Verdict Committer::Look(const LoadedTable& base, int lookups) {
  for (int lookup = 0; lookup < lookups; ++lookup) {
    if (lookup > 0 && !Wait(lookup - 1, retry_.wait_min_ms)) break;
    const Result<LoadedTable> now = env_.catalog.LoadTable(target_.table);
    if (!now) {
      // Nothing was seen: not even a refusal is certain then.
      requests_.back().open = unproven_ = true;
      continue;
    }
    if (FindOwn(*now)) return Verdict::kApplied;
    if (HeadOf(*now->metadata) != HeadOf(*base.metadata)) return Verdict::kRefused;
  }
  return Verdict::kUnknown;
}

bool Committer::Wait(int step, std::int64_t shortest_ms) {
  const std::int64_t longest = std::min(retry_.wait_max_ms, shortest_ms << std::min(step, 20));
  const auto pause = static_cast<std::int64_t>(static_cast<double>(longest) * (0.5 + 0.5 * env_.random.NextUnit()));
  const std::int64_t elapsed_ms = (env_.clock.MonotonicNs() - started_ns_) / 1'000'000;
  if (env_.is_cancelled() || elapsed_ms + pause > retry_.total_ms) return false;
  env_.clock.SleepMs(pause);
  return !env_.is_cancelled();
}

/// Removes what the table does not need, or names what may be needed.
void Committer::CleanUp() {
  if (applied_unseen_) return;
  std::unordered_set<std::string> kept;  // named by the committed snapshot
  std::unordered_set<std::string> open;  // named by requests that may still be applied
  if (applied_) kept.insert(requests_[*applied_].metadata_files.begin(), requests_[*applied_].metadata_files.end());
  for (const Request& request : requests_) {
    if (request.may_count()) open.insert(request.metadata_files.begin(), request.metadata_files.end());
  }
  const auto remove = [&](const std::string& location, bool needed) {
    if (kept.contains(location)) return;
    if (!needed && env_.io.Delete(location)) return;
    report_.leftover_files.push_back(location);
  };
  for (const std::string& location : files_.created()) remove(location, open.contains(location));
  for (const std::string& location : applied_ ? change_.unused_files() : change_.own_files()) {
    if (!named_.contains(location)) remove(location, AnyOpen() || may_name_own_);
  }
}

}  // namespace

Status CheckWritable(const TableMetadata& metadata) {
  if (metadata.format_version() > iceberg::kFormatVersionMax) {
    return Error{Code::kUnsupported, fmt::format("format version {}", metadata.format_version())};
  }
  if (metadata.properties().contains("encryption.key-id") || metadata.tree().Find("encryption-keys") != nullptr) {
    return Error{Code::kUnsupported, "the table is encrypted"};
  }
  return Ok();
}

Result<RetryPolicy> RetryPolicyOf(const TableMetadata& metadata, RetryPolicy policy) {
  FIRN_ASSIGN(const std::int64_t retries, metadata.IntProperty("commit.retry.num-retries", policy.attempts_max - 1));
  policy.attempts_max = static_cast<int>(std::clamp<std::int64_t>(retries, 0, 1000)) + 1;
  FIRN_ASSIGN(policy.wait_min_ms, metadata.IntProperty("commit.retry.min-wait-ms", policy.wait_min_ms));
  FIRN_ASSIGN(policy.wait_max_ms, metadata.IntProperty("commit.retry.max-wait-ms", policy.wait_max_ms));
  FIRN_ASSIGN(policy.total_ms, metadata.IntProperty("commit.retry.total-timeout-ms", policy.total_ms));
  constexpr std::int64_t kDayMs = 86'400'000;
  for (std::int64_t* wait : {&policy.wait_min_ms, &policy.wait_max_ms, &policy.total_ms}) {
    *wait = std::clamp<std::int64_t>(*wait, 0, kDayMs);
  }
  return policy;
}

Status CheckNoTag(const TableMetadata& metadata, const std::string& ref) {
  const iceberg::SnapshotRef* found = metadata.FindRef(ref);
  if (found == nullptr || found->is_branch) return Ok();
  return Error{Code::kInvalidArgument, fmt::format("`{}` is a tag: only branches can be changed", ref)};
}

std::string CommitEnvironment::NewFileUuid() { return journal == nullptr ? random.NewUuid() : journal->NewFileUuid(); }

CommitReport Commit(CommitEnvironment& environment, const CommitTarget& target, Change& change) {
  return Committer(environment, target, change).Run();
}

}  // namespace firn::act
