// SPDX-License-Identifier: Apache-2.0
//
// Lets databases take turns by weight and predicted cost: deficit weighted round robin with the smallest of rounds.
//
// In: credits and weights; for each lane, the cost of the work that each database would start next. Out: whose turn
//   it is. A database gets `weight` seconds of credit for each second that the rounds go on, and pays what it starts.
// Guarantees: rounds go on only as far as the next start needs, so between any two databases that both had work all
//   the time, seconds started per weight differ by at most the costliest work of each, over their weights. Credit and
//   debt stay within kCreditMaxSeconds; credit of a database without work is lost, debt is not.
// Cost: O(log databases) a start. Threads: one owner.
// Source: Shreedhar & Varghese 1995; Goyal et al. 1996 for the bound.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "decide/ledger.h"

namespace firn::decide {

class Turns {
 public:
  Turns(std::vector<double> weights, std::vector<double> credits);

  /// The database's next work of a lane; it takes part until Remove or Pay.
  void Offer(Lane lane, std::uint32_t database, double cost_seconds);
  /// Whose turn it is; nullopt when no database offers. Ties go to the lower number.
  std::optional<std::uint32_t> Next(Lane lane);
  void Remove(Lane lane, std::uint32_t database);
  /// Work of `cost_seconds` starts, in turn (of Next) or before it (the lane of deadlines).
  void Pay(std::uint32_t database, double cost_seconds, bool in_turn);

  /// Credits as they are now; `has_work` as Offer has it in any lane.
  std::vector<double> Credits(const std::vector<bool>& has_work) const;

 private:
  struct Turn {
    double round = 0;
    std::uint32_t database = 0;
    std::uint32_t offer = 0;  // its number: an earlier one of the database counts no more
    bool operator>(const Turn& other) const {
      return round != other.round ? round > other.round : database > other.database;
    }
  };
  static std::size_t Index(Lane lane) { return static_cast<std::size_t>(lane); }
  double Round(std::uint32_t database, double cost_seconds) const;

  double round_ = 0;  // seconds of credit that a database of weight 1 has got
  std::vector<double> weights_;
  std::vector<double> bases_;  // credit less what the rounds gave
  struct Work {
    double cost_seconds = 0;
    std::uint32_t offer = 0;
    bool is_there = false;
  };
  std::array<std::vector<Work>, kLanes> work_;
  std::array<std::priority_queue<Turn, std::vector<Turn>, std::greater<>>, kLanes> queues_;
};

}  // namespace firn::decide
