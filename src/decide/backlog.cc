// SPDX-License-Identifier: Apache-2.0
#include "decide/backlog.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "decide/admission.h"
#include "decide/turns.h"

namespace firn::decide {
namespace {

constexpr double kHourMs = 3'600'000;
/// Less than this is mostly the overhead of any job.
constexpr double kSecondsMin = 0.05;
/// A deadline is taken to be at risk as if work took so many times the prediction, and a minute more.
constexpr double kDeadlineFactor = 2;
constexpr double kDeadlineMarginMs = 60'000;

/// What the turns count: nothing is free, or a database of small work would never be done.
double TurnCost(const QueueEntry& entry) { return std::max(entry.charged.seconds, kSecondsMin); }

/// Work that could start, in a list for each lane and database, and whose turn it is.
class Queue {
 public:
  Queue(const BacklogInput& input, Ledger& ledger, Breakers& breakers);

  std::vector<QueueEntry> Arrange();

 private:
  using List = std::vector<std::uint32_t>;  // indexes of entries_, the next one last
  struct Head {
    Lane lane = Lane::kDeadline;
    std::uint32_t database = 0;
    std::uint32_t entry = 0;
  };

  std::vector<double> Weights() const;
  std::vector<double> Credits() const;
  void MakeEntries();
  void ChooseLanes();
  void Sort();
  bool Before(const QueueEntry& a, const QueueEntry& b) const;
  List& ListOf(Lane lane, std::uint32_t database) {
    return lane == Lane::kDeadline ? deadlines_ : lists_[static_cast<std::size_t>(lane)][database];
  }
  void Offer(Lane lane, std::uint32_t database);
  void Pop(const Head& head);
  std::optional<Head> HeadOf(Lane lane);
  std::optional<Head> Choose();
  void Pay(const Head& head, double seconds);
  std::optional<std::uint32_t> Take(bool start);
  void StoreCredits();
  double RunningSeconds() const;

  const BacklogInput& input_;
  Ledger& ledger_;
  Admission admission_;
  Turns turns_;
  std::vector<QueueEntry> entries_, blocked_;
  List deadlines_;
  std::array<std::vector<List>, kLanes> lists_;
  std::array<std::size_t, kLanes> left_ = {};  // entries in the lists of a lane
  std::array<double, kLanes> lane_credits_ = {};
};

Queue::Queue(const BacklogInput& input, Ledger& ledger, Breakers& breakers)
    : input_(input),
      ledger_(ledger),
      admission_(input, ledger, breakers),
      turns_(Weights(), Credits()),
      lane_credits_(ledger.lane_credits) {}

std::vector<double> Queue::Weights() const {
  std::vector<double> weights;
  for (std::uint32_t i = 0; i < admission_.databases(); ++i) weights.push_back(admission_.weight(i));
  return weights;
}

std::vector<double> Queue::Credits() const {
  std::vector<double> credits;
  for (std::uint32_t i = 0; i < admission_.databases(); ++i) {
    const auto found = ledger_.credits.find(admission_.database_name(i));
    credits.push_back(found == ledger_.credits.end() ? 0 : found->second);
  }
  return credits;
}

void Queue::MakeEntries() {
  entries_.reserve(input_.candidates.size());
  for (std::uint32_t i = 0; i < input_.candidates.size(); ++i) {
    const Candidate& candidate = input_.candidates[i];
    QueueEntry entry{.candidate = i, .not_before = input_.now};
    entry.lane = candidate.cause == Cause::kRequest ? Lane::kRequest : Lane::kAutomatic;
    entry.score = Score(candidate, admission_.weight(admission_.database(i)));
    const double waited_ms = static_cast<double>(input_.now.value) - static_cast<double>(candidate.created_at.value);
    entry.rank =
        std::clamp(std::log2(std::max(entry.score, 1e-9)), -kRankMax, kRankMax) + std::max(0.0, waited_ms) / kHourMs;
    if (admission_.CheckTable(entry)) {
      entries_.push_back(entry);
    } else {
      blocked_.push_back(entry);
    }
  }
}

/// Goes back from the last deadline: when must each start at the latest, if all before it are to be in time?
void Queue::ChooseLanes() {
  std::vector<std::uint32_t> by_deadline;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (input_.candidates[entries_[i].candidate].deadline) by_deadline.push_back(i);
  }
  auto candidate_of = [this](std::uint32_t i) -> const Candidate& { return input_.candidates[entries_[i].candidate]; };
  std::ranges::sort(by_deadline, [&](std::uint32_t a, std::uint32_t b) {
    const Candidate &x = candidate_of(a), &y = candidate_of(b);
    return std::tie(*x.deadline, x.id) < std::tie(*y.deadline, y.id);
  });
  const double now = static_cast<double>(input_.now.value);
  const double workers = std::max(1, input_.workers);
  double latest_start = INFINITY;
  std::size_t urgent = by_deadline.size();
  for (std::size_t i = by_deadline.size(); i-- > 0;) {
    const Candidate& candidate = candidate_of(by_deadline[i]);
    const double busy_ms = candidate.predicted.seconds * 1000 * kDeadlineFactor;
    latest_start = std::min(static_cast<double>(candidate.deadline->value) - busy_ms, latest_start - busy_ms / workers);
    if (now + kDeadlineMarginMs < latest_start) urgent = i;
  }
  for (std::size_t i = urgent; i-- > 0;) {
    entries_[by_deadline[i]].lane = Lane::kDeadline;
    deadlines_.push_back(by_deadline[i]);
  }
}

bool Queue::Before(const QueueEntry& a, const QueueEntry& b) const {
  if (a.rank != b.rank) return a.rank > b.rank;
  return input_.candidates[a.candidate].id < input_.candidates[b.candidate].id;
}

void Queue::Sort() {
  for (auto& lists : lists_) lists.resize(admission_.databases());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const Lane lane = entries_[i].lane;
    ++left_[static_cast<std::size_t>(lane)];
    if (lane != Lane::kDeadline) ListOf(lane, admission_.database(entries_[i].candidate)).push_back(i);
  }
  for (const Lane lane : {Lane::kRequest, Lane::kAutomatic}) {
    for (std::uint32_t database = 0; database < admission_.databases(); ++database) {
      std::ranges::sort(ListOf(lane, database),
                        [this](std::uint32_t a, std::uint32_t b) { return Before(entries_[b], entries_[a]); });
      Offer(lane, database);
    }
  }
}

/// Tells the turns what the database would start next in a lane: the first that may start at all.
void Queue::Offer(Lane lane, std::uint32_t database) {
  if (lane == Lane::kDeadline) return;
  List& list = ListOf(lane, database);
  while (!list.empty() && !admission_.Admit(entries_[list.back()])) {
    blocked_.push_back(entries_[list.back()]);
    list.pop_back();
    --left_[static_cast<std::size_t>(lane)];
  }
  if (list.empty()) {
    turns_.Remove(lane, database);
  } else {
    turns_.Offer(lane, database, TurnCost(entries_[list.back()]));
  }
}

void Queue::Pop(const Head& head) {
  ListOf(head.lane, head.database).pop_back();
  --left_[static_cast<std::size_t>(head.lane)];
  Offer(head.lane, head.database);
}

std::optional<Queue::Head> Queue::HeadOf(Lane lane) {
  if (lane == Lane::kDeadline) {
    if (deadlines_.empty()) return std::nullopt;
    const std::uint32_t entry = deadlines_.back();
    return Head{lane, admission_.database(entries_[entry].candidate), entry};
  }
  const auto database = turns_.Next(lane);
  if (!database) return std::nullopt;
  return Head{lane, *database, ListOf(lane, *database).back()};
}

/// The first lane that has work, unless a later one is owed its next.
std::optional<Queue::Head> Queue::Choose() {
  std::optional<Head> first;
  for (const Lane lane : {Lane::kDeadline, Lane::kRequest, Lane::kAutomatic}) {
    const auto head = HeadOf(lane);
    if (!head) continue;
    const double need = std::min(TurnCost(entries_[head->entry]), kCreditMaxSeconds);
    if (!first || lane_credits_[static_cast<std::size_t>(lane)] >= need) first = head;
  }
  return first;
}

void Queue::Pay(const Head& head, double seconds) {
  turns_.Pay(head.database, seconds, head.lane != Lane::kDeadline);
  const auto paying = static_cast<std::size_t>(head.lane);
  bool goes_before = false;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    double& credit = lane_credits_[lane];
    if (lane < paying) goes_before |= left_[lane] > 0;
    if (lane == paying && goes_before) credit -= seconds;
    if (lane > paying && left_[lane] > 0) credit += kLaneShare * seconds;
    credit = std::clamp(credit, -kCreditMaxSeconds, kCreditMaxSeconds);
  }
}

/// The entry that is next and may start; it is charged if it is to start.
std::optional<std::uint32_t> Queue::Take(bool start) {
  while (const auto head = Choose()) {
    QueueEntry& entry = entries_[head->entry];
    // What was started since the head was offered may speak against it.
    if (!admission_.Admit(entry)) {
      blocked_.push_back(entry);
      Pop(*head);
      continue;
    }
    entry.verdict = start ? Verdict::kStarts : Verdict::kQueued;
    if (start) admission_.Start(entry);
    Pay(*head, TurnCost(entry));
    Pop(*head);
    return head->entry;
  }
  return std::nullopt;
}

void Queue::StoreCredits() {
  std::vector<bool> has_work(admission_.databases());
  for (const auto& lists : lists_) {
    for (std::size_t i = 0; i < lists.size(); ++i) has_work[i] = has_work[i] || !lists[i].empty();
  }
  for (const std::uint32_t i : deadlines_) has_work[admission_.database(entries_[i].candidate)] = true;
  std::erase_if(ledger_.credits, [](const auto& credit) { return credit.second > 0; });
  const std::vector<double> credits = turns_.Credits(has_work);
  for (std::uint32_t i = 0; i < credits.size(); ++i) {
    if (credits[i] == 0) {
      ledger_.credits.erase(admission_.database_name(i));
    } else {
      ledger_.credits[admission_.database_name(i)] = credits[i];
    }
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    ledger_.lane_credits[lane] = left_[lane] > 0 ? lane_credits_[lane] : std::min(0.0, lane_credits_[lane]);
  }
}

/// Worker-seconds until all that runs has ended, as predicted.
double Queue::RunningSeconds() const {
  double seconds = 0;
  for (const RunningJob& job : input_.running) {
    const double ran_ms = static_cast<double>(input_.now.value) - static_cast<double>(job.started_at.value);
    seconds += std::max(0.0, job.charged.seconds - std::max(0.0, ran_ms / 1000));
  }
  return seconds;
}

std::vector<QueueEntry> Queue::Arrange() {
  MakeEntries();
  ChooseLanes();
  Sort();
  std::vector<QueueEntry> order;
  order.reserve(input_.candidates.size());
  double seconds_ahead = RunningSeconds();
  for (std::int32_t i = 0; i < input_.starts_max; ++i) {
    const auto taken = Take(true);
    if (!taken) break;
    seconds_ahead += entries_[*taken].charged.seconds;
    order.push_back(entries_[*taken]);
  }
  if (input_.starts_max > 0) StoreCredits();
  while (const auto taken = Take(false)) {
    QueueEntry& entry = entries_[*taken];
    const double wait_ms = 1000 * seconds_ahead / std::max(1, input_.workers);
    const auto ms = static_cast<std::int64_t>(std::min(wait_ms, static_cast<double>(kLookAgainMs)));
    entry.not_before = TimestampMs{input_.now.value + ms};
    seconds_ahead += entry.charged.seconds;
    order.push_back(entry);
  }
  std::ranges::sort(blocked_, [this](const QueueEntry& a, const QueueEntry& b) {
    return a.not_before != b.not_before ? a.not_before < b.not_before : Before(a, b);
  });
  order.insert(order.end(), blocked_.begin(), blocked_.end());
  return order;
}

}  // namespace

double Benefit(const Effect& predicted) { return static_cast<double>(OpensSaved(predicted)) + predicted.reads_saved; }

double Score(const Candidate& candidate, double database_weight) {
  return candidate.priority * database_weight * Benefit(candidate.predicted) /
         std::max(candidate.predicted.seconds, kSecondsMin);
}

void NoteDeferral(const QueueEntry& entry, Candidate& candidate) {
  if (!entry.defers) return;
  ++candidate.deferrals;
  candidate.deferred_until = entry.not_before;
}

RunningJob MakeJob(const QueueEntry& entry, const Candidate& candidate, std::string job_id, TimestampMs now) {
  return {.id = std::move(job_id),
          .table = candidate.table,
          .database = candidate.database,
          .action = candidate.action,
          .partitions = candidate.partitions,
          .charged = entry.charged,
          .started_at = now};
}

std::vector<QueueEntry> Arrange(const BacklogInput& input, Ledger& ledger, Breakers& breakers) {
  return Queue(input, ledger, breakers).Arrange();
}

}  // namespace firn::decide
