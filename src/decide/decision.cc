// SPDX-License-Identifier: Apache-2.0
#include "decide/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "iceberg/utf8.h"

namespace firn::decide {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {"nothing-to-do", "not-now", "scan",    "run",
                                                        "done",          "failed",  "refused", "cancelled"};

/// At most `bytes_max` bytes of valid UTF-8: a broken byte becomes "?", and what is too long ends in "...".
std::string Cut(const std::string& text, std::size_t bytes_max) {
  constexpr std::string_view kMore = "...";
  std::string kept;
  std::size_t fits = 0;  // what leaves room for the dots
  for (std::size_t offset = 0; offset < text.size();) {
    const auto point = iceberg::CodePointAt(text, offset);
    const std::size_t size = point ? point->size_bytes : 1;
    if (kept.size() + size > bytes_max) {
      kept.resize(fits);
      return kept.append(kMore);
    }
    if (point) {
      kept.append(text, offset, size);
    } else {
      kept.push_back('?');
    }
    if (kept.size() + kMore.size() <= bytes_max) fits = kept.size();
    offset += size;
  }
  return kept;
}

}  // namespace

std::string_view DecisionKindName(DecisionKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::span<const std::string_view> DecisionKindNames() { return kKindNames; }

Result<DecisionKind> ParseDecisionKind(std::string_view text) {
  const auto found = std::ranges::find(kKindNames, text);
  if (found == kKindNames.end()) return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no decision", text)};
  return static_cast<DecisionKind>(found - kKindNames.begin());
}

Decision Bounded(Decision decision) {
  for (std::string* name :
       {&decision.table, &decision.partition, &decision.action, &decision.code, &decision.plan_id, &decision.job_id}) {
    *name = Cut(*name, kDecisionNameBytesMax);
  }
  decision.reason = Cut(decision.reason, kDecisionReasonBytesMax);
  std::erase_if(decision.inputs, [](const auto& input) { return !std::isfinite(input.second); });
  std::vector<std::pair<std::string, double>> inputs;
  for (const auto& [name, value] : decision.inputs) {
    std::string cut = Cut(name, kDecisionNameBytesMax);
    const bool twice = std::ranges::any_of(inputs, [&](const auto& input) { return input.first == cut; });
    if (!twice && inputs.size() < kDecisionInputsMax) inputs.emplace_back(std::move(cut), value);
  }
  decision.inputs = std::move(inputs);
  if (decision.alternatives.size() > kDecisionAlternativesMax) decision.alternatives.resize(kDecisionAlternativesMax);
  for (Alternative& alternative : decision.alternatives) {
    alternative.text = Cut(alternative.text, kDecisionNameBytesMax);
    alternative.why_not = Cut(alternative.why_not, kDecisionNameBytesMax);
    if (!std::isfinite(alternative.value)) alternative.value = 0;
  }
  for (auto* effect : {&decision.prediction, &decision.outcome}) {
    if (!*effect) continue;
    if (!std::isfinite((*effect)->seconds)) (*effect)->seconds = 0;
    if (!std::isfinite((*effect)->reads_saved)) (*effect)->reads_saved = 0;
  }
  return decision;
}

}  // namespace firn::decide
