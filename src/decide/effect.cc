// SPDX-License-Identifier: Apache-2.0
#include "decide/effect.h"

#include <algorithm>
#include <cmath>

namespace firn::decide {

Effect PartOf(const Effect& whole, double part) {
  const auto scaled = [part](std::int64_t value) {
    return static_cast<std::int64_t>(std::llround(static_cast<double>(value) * part));
  };
  return {.files_removed = scaled(whole.files_removed),
          .files_replaced = scaled(whole.files_replaced),
          .delete_files_removed = scaled(whole.delete_files_removed),
          .delete_reads_saved = scaled(whole.delete_reads_saved),
          .bytes = scaled(whole.bytes),
          .seconds = whole.seconds * part,
          .reads_saved = whole.reads_saved * part};
}

Effect& operator+=(Effect& sum, const Effect& other) {
  sum.files_removed += other.files_removed;
  sum.files_replaced += other.files_replaced;
  sum.delete_files_removed += other.delete_files_removed;
  sum.delete_reads_saved += other.delete_reads_saved;
  sum.bytes += other.bytes;
  sum.seconds += other.seconds;
  sum.reads_saved += other.reads_saved;
  return sum;
}

std::int64_t OpensSaved(const Effect& effect) {
  return effect.files_removed + std::max(effect.delete_files_removed, effect.delete_reads_saved);
}

}  // namespace firn::decide
