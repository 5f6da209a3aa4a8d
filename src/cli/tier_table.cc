// SPDX-License-Identifier: Apache-2.0
#include "cli/tier_table.h"

#include <fmt/format.h>

#include "base/human_text.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

std::string_view TierMeaning(splice::Tier tier) {
  switch (tier) {
    case splice::Tier::kRowGroup: return "row groups copied";
    case splice::Tier::kPages: return "pages copied";
    case splice::Tier::kHeader: return "page headers rewritten";
    case splice::Tier::kRemap: return "dictionary indices remapped";
    case splice::Tier::kRecompress: return "recompressed";
    case splice::Tier::kJoin: return "pages joined";
    case splice::Tier::kReencode: return "re-encoded";
    case splice::Tier::kFilter: return "deleted rows taken out";
    case splice::Tier::kDecode: return "decoded and encoded again";
    case splice::Tier::kSynthesize: return "made of defaults";
  }
  return "";
}

}  // namespace

std::string TierTable(const TierCounts& tiers) {
  constexpr auto kRight = TextTable::Align::kRight;
  std::int64_t total = 0;
  for (const auto& tier : tiers) total += tier.bytes;
  TextTable table({{"tier"}, {"bytes", kRight}, {"share", kRight}, {"column chunks", kRight}, {"how"}});
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].chunks == 0 && tiers[i].bytes == 0) continue;  // pages of a chunk that counts for P6 are bytes alone
    const double share = total == 0 ? 0 : 100 * static_cast<double>(tiers[i].bytes) / static_cast<double>(total);
    table.AddRow({std::string(splice::TierName(static_cast<splice::Tier>(i))), HumanBytes(tiers[i].bytes),
                  fmt::format("{:.1f} %", share), HumanCount(tiers[i].chunks),
                  std::string(TierMeaning(static_cast<splice::Tier>(i)))});
  }
  return table.empty() ? "" : "\nHow the bytes were merged\n" + table.Print();
}

json::Value TiersToJson(const TierCounts& tiers) {
  json::Value value = json::Value::Object();
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].chunks == 0 && tiers[i].bytes == 0) continue;  // pages of a chunk that counts for P6 are bytes alone
    json::Value tier = json::Value::Object();
    tier.Set("bytes", tiers[i].bytes);
    tier.Set("chunks", tiers[i].chunks);
    value.Set(splice::TierName(static_cast<splice::Tier>(i)), std::move(tier));
  }
  return value;
}

}  // namespace firn::cli
