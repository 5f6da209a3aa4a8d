// SPDX-License-Identifier: Apache-2.0
#include "decide/turns.h"

#include <algorithm>

namespace firn::decide {

Turns::Turns(std::vector<double> weights, std::vector<double> credits)
    : weights_(std::move(weights)), bases_(std::move(credits)) {
  for (auto& work : work_) work.resize(weights_.size());
}

double Turns::Round(std::uint32_t database, double cost_seconds) const {
  // What costs more than can be owned is affordable at the most that can be.
  const double need = std::min(cost_seconds, kCreditMaxSeconds);
  return (need - bases_[database]) / weights_[database];
}

void Turns::Offer(Lane lane, std::uint32_t database, double cost_seconds) {
  Work& work = work_[Index(lane)][database];
  work = {.cost_seconds = cost_seconds, .offer = work.offer + 1, .is_there = true};
  queues_[Index(lane)].push({Round(database, cost_seconds), database, work.offer});
}

std::optional<std::uint32_t> Turns::Next(Lane lane) {
  auto& queue = queues_[Index(lane)];
  while (!queue.empty()) {
    const Turn turn = queue.top();
    const Work& work = work_[Index(lane)][turn.database];
    if (!work.is_there || work.offer != turn.offer) {
      queue.pop();
      continue;
    }
    // Another lane may have spent since.
    const double round = Round(turn.database, work.cost_seconds);
    if (round <= turn.round) return turn.database;
    queue.pop();
    queue.push({round, turn.database, turn.offer});
  }
  return std::nullopt;
}

void Turns::Remove(Lane lane, std::uint32_t database) { work_[Index(lane)][database].is_there = false; }

void Turns::Pay(std::uint32_t database, double cost_seconds, bool in_turn) {
  if (in_turn) round_ = std::max(round_, Round(database, cost_seconds));
  const double credit = bases_[database] + round_ * weights_[database] - cost_seconds;
  bases_[database] = std::max(credit, -kCreditMaxSeconds) - round_ * weights_[database];
}

std::vector<double> Turns::Credits(const std::vector<bool>& has_work) const {
  std::vector<double> credits(bases_.size());
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const double credit = bases_[i] + round_ * weights_[i];
    credits[i] = std::clamp(credit, -kCreditMaxSeconds, has_work[i] ? kCreditMaxSeconds : 0.0);
  }
  return credits;
}

}  // namespace firn::decide
