// SPDX-License-Identifier: Apache-2.0
//
// What a table's earlier merges and scans say about the next ones: what rewriting a byte took, how soon the same
// partitions were merged again, how often the table is read.
//
// In: ended merges, a rate of scans. Out: sums, and what a day of keeping the table at a target size is weighed with.
// Guarantees: fewer than kRunsMin merges, or merges of less than kRunSecondsMin in all, say nothing about cost; nothing
//   is made up where nothing was measured, but for the reads that are taken where no scan is reported, which the
//   result says. Corrections stay within kCorrectionMax.
// Cost: O(n log n) for n partitions in all merges. Threads: pure. Errors: none.
// Source: docs/analyze.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "decide/ingest_rewrites.h"

namespace firn::decide {

inline constexpr std::int64_t kRunsMin = 3;
inline constexpr double kRunSecondsMin = 0.1;
/// What is taken where no reader reports its scans and nobody says otherwise: one read an hour.
inline constexpr double kReadsADayTaken = 24;
/// Whatever was never merged again counts as lasting so long.
inline constexpr double kLastingDaysMax = 30;

/// A merge that has changed something.
struct MergeRun {
  TimestampMs ended_at;
  std::int64_t bytes = 0;  // read and written again
  double seconds = 0;      // of one worker
  double predicted_seconds = 0;
  std::vector<std::string> partitions;  // texts; empty: the whole table
};

struct EarlierRuns {
  std::int64_t runs = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
  double predicted_seconds = 0;
  double days = 0;                // from the first to the last
  std::int64_t later_bytes = 0;   // of all but the first, which also did what had gathered before
  std::int64_t merged_again = 0;  // times that a partition was merged once more
  /// Median of the time until then; absent where that happened fewer than kRunsMin times.
  std::optional<double> lasting_days;
  /// By scan reports; absent: none.
  std::optional<double> reads_a_day;
  double read_share = 1;  // of the files that one of them opens

  bool says_cost() const { return runs >= kRunsMin && seconds >= kRunSecondsMin && bytes > 0; }
  double bytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

EarlierRuns SumUp(std::span<const MergeRun> runs);

/// What reads and rewriting are weighed with.
struct Weighing {
  double reads_a_day = kReadsADayTaken;
  double read_share = 1;
  bool are_reads_known = false;
  double bytes_a_day = 0;  // that commits add
  double seconds_per_byte = 0;
  double lasting_days = kLastingDaysMax;
  bool is_lasting_known = false;

  /// Of whole reads of two columns of the table.
  double reads() const { return reads_a_day * read_share; }
  /// What keeping the table costs a day: reading it and rewriting what comes.
  double SecondsADay(double read_seconds, double rewrites_per_byte) const {
    return reads() * read_seconds + bytes_a_day * rewrites_per_byte * seconds_per_byte;
  }
  /// Until what a merge gains is gone.
  double reads_of_a_merge() const { return reads() * lasting_days; }
};

/// nullopt where neither merges nor scans are known: then there is nothing to weigh with.
std::optional<Weighing> WeighingOf(const EarlierRuns& earlier, const IngestHistory& ingest, double bytes_per_second,
                                   std::optional<double> reads_a_day);

/// How many times as much as `predicted_rewrites` (for each byte that came) the merges have rewritten; 1 where the two
/// cannot be compared.
double RewriteCorrection(const EarlierRuns& earlier, const IngestHistory& ingest, double predicted_rewrites);

/// A number of times a day, for people: "0.25", "24", "1,000,000,000".
std::string RateText(double rate);

}  // namespace firn::decide
