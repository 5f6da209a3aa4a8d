// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_rows.h"

#include <array>

#include "decide/candidate.h"

namespace firn::service {
namespace {

constexpr std::array<std::pair<TableRow::State, std::string_view>, 5> kTableStates = {{
    {TableRow::State::kOk, "ok"},
    {TableRow::State::kPaused, "paused"},
    {TableRow::State::kFailing, "failing"},
    {TableRow::State::kUnreadable, "unreadable"},
    {TableRow::State::kDropped, "dropped"},
}};

constexpr std::array<std::pair<JobRow::State, std::string_view>, 6> kJobStates = {{
    {JobRow::State::kWaiting, "waiting"},
    {JobRow::State::kRunning, "running"},
    {JobRow::State::kDone, "done"},
    {JobRow::State::kFailed, "failed"},
    {JobRow::State::kCancelled, "cancelled"},
    {JobRow::State::kLost, "lost"},
}};

template <class Words, class State>
std::string_view WordIn(const Words& words, State state) {
  for (const auto& [value, word] : words) {
    if (value == state) return word;
  }
  return "";
}

template <class State, std::size_t kCount>
std::optional<State> StateIn(const std::array<std::pair<State, std::string_view>, kCount>& words,
                             std::string_view wanted) {
  for (const auto& [value, word] : words) {
    if (word == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& RequestActions() {
  static const std::vector<std::string> actions = [] {
    std::vector<std::string> made;
    for (const std::string_view name : decide::ActionNames()) made.emplace_back(name);
    made.emplace_back(kRequestScan);
    return made;
  }();
  return actions;
}

std::string_view Word(TableRow::State state) { return WordIn(kTableStates, state); }
std::string_view Word(JobRow::State state) { return WordIn(kJobStates, state); }
std::optional<JobRow::State> JobStateOf(std::string_view word) { return StateIn(kJobStates, word); }
std::optional<TableRow::State> TableStateOf(std::string_view word) { return StateIn(kTableStates, word); }

}  // namespace firn::service
