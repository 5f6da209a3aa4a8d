// SPDX-License-Identifier: Apache-2.0
//
// Finds the first of many bins that has room for an item.
//
// Guarantees: the first bin in order, as a scan from the left would find it.
// Cost: O(log bins) a question or change; 16 bytes a bin. Threads: one owner.
// Source: tournament tree over the room that is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace firn::decide {

class FirstFitTree {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  FirstFitTree(std::size_t bin_count, double room) {
    while (leaves_ < bin_count) leaves_ *= 2;
    room_.assign(2 * leaves_, kNoBin);
    std::fill_n(room_.begin() + static_cast<std::ptrdiff_t>(leaves_), bin_count, room);
    for (std::size_t i = leaves_; i-- > 1;) room_[i] = std::max(room_[2 * i], room_[2 * i + 1]);
  }

  double room(std::size_t bin) const { return room_[leaves_ + bin]; }
  /// First bin with at least `size` of room; kNone if there is none.
  std::size_t FindFirst(double size) const {
    if (room_[1] < size) return kNone;
    std::size_t at = 1;
    while (at < leaves_) at = room_[2 * at] >= size ? 2 * at : 2 * at + 1;
    return at - leaves_;
  }
  /// First of the bins with the most room.
  std::size_t FindRoomiest() const { return FindFirst(room_[1]); }
  /// Room may become negative.
  void Take(std::size_t bin, double size) {
    std::size_t at = leaves_ + bin;
    room_[at] -= size;
    for (at /= 2; at >= 1; at /= 2) room_[at] = std::max(room_[2 * at], room_[2 * at + 1]);
  }

 private:
  static constexpr double kNoBin = -1e300;
  std::size_t leaves_ = 1;
  std::vector<double> room_;
};

}  // namespace firn::decide
