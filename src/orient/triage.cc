// SPDX-License-Identifier: Apache-2.0
#include "orient/triage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_number.h"
#include "base/human_text.h"
#include "orient/delete_debt.h"

namespace firn::orient {
namespace {

std::string NoiseText(const Noise& noise) {
  // A part that is nothing beside the threshold is 0 for a reader.
  const auto part = [&noise](double value) { return HumanNumber(value < noise.threshold / 1000 ? 0 : value); };
  return fmt::format("noise {} (files {}, bytes {}, commits {}, age {}) of {}", HumanNumber(noise.total()),
                     part(noise.files), part(noise.bytes), part(noise.commits), part(noise.age),
                     HumanNumber(noise.threshold));
}

bool IsMergeWorthALook(const Verdict& verdict, const Policy& policy) {
  return verdict.removable_files >= policy.removable_files_min() && verdict.entropy > policy.tolerated_entropy;
}

/// Which files new deletes reach is not known without a scan; these numbers say when it is worth finding out.
std::string WhyDeletesNeedALook(const PartitionState& state, const Policy& policy) {
  if (state.fold_files > 0) {
    return fmt::format("{} due for their deletes at the last scan", HumanCount(state.fold_files, "file"));
  }
  const double share = static_cast<double>(policy.delete_ratio_threshold) * std::max(state.file_count, 1u);
  const bool is_many = state.delete_files_changed >= ManyDeleteFiles(policy);
  if (state.delete_files_changed == 0 || (!is_many && state.delete_files_changed < share)) return {};
  return fmt::format("{} added since the last scan for {}", HumanCount(state.delete_files_changed, "delete file"),
                     HumanCount(state.file_count, "data file"));
}

/// The second prune: there was enough noise.
void Look(const PartitionState& state, const Policy& policy, Verdict& verdict) {
  const auto scan = [&verdict](std::string reason) {
    verdict.kind = VerdictKind::kScan;
    verdict.reason = std::move(reason);
  };
  if (!state.has_numbers()) return scan("its files are not known any more; " + NoiseText(verdict.noise));
  const std::string about = verdict.is_estimate ? "about " : "";
  if (IsMergeWorthALook(verdict, policy)) {
    return scan(fmt::format("{}{} of {} removable, entropy {}", about, HumanCount(verdict.removable_files),
                            HumanCount(verdict.file_count, "file"), HumanNumber(verdict.entropy)));
  }
  if (std::string why = WhyDeletesNeedALook(state, policy); !why.empty()) return scan(std::move(why));
  if (verdict.is_estimate && verdict.noise.is_overdue) {
    return scan(fmt::format("numbers are estimates since {}", HumanSeconds(verdict.noise.age_seconds)));
  }
  verdict.kind = VerdictKind::kCalm;
  if (verdict.removable_files < policy.removable_files_min()) {
    verdict.reason =
        fmt::format("{}{} of {} removable, worth a scan from {}", about, HumanCount(verdict.removable_files),
                    HumanCount(verdict.file_count, "file"), policy.removable_files_min());
  } else {
    verdict.reason = fmt::format("{}entropy {} is tolerated up to {}", about, HumanNumber(verdict.entropy),
                                 HumanNumber(policy.tolerated_entropy));
  }
}

}  // namespace

std::string_view VerdictName(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kQuiet: return "quiet";
    case VerdictKind::kCalm: return "calm";
    case VerdictKind::kScan: return "scan";
  }
  return "";
}

Verdict Triage(const PartitionState& state, const Policy& policy, TimestampMs now) {
  Verdict verdict;
  verdict.noise = MeasureNoise(state, policy, now);
  verdict.file_count = state.file_count;
  verdict.small_files = SmallFilesOf(state);
  verdict.removable_files = RemovableFilesOf(state, policy.target_size_bytes);
  verdict.entropy = EntropyOf(state, policy.target_size_bytes);
  verdict.is_estimate = !state.is_exact();
  if ((state.flags & kContradicted) != 0) {
    verdict.kind = VerdictKind::kScan;
    verdict.reason = "what was removed does not fit what was known";
  } else if (!verdict.noise.is_pending) {
    verdict.reason = "nothing has changed since the last scan";
  } else if (!verdict.noise.is_above()) {
    verdict.reason = NoiseText(verdict.noise);
  } else {
    Look(state, policy, verdict);
  }
  return verdict;
}

}  // namespace firn::orient
