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
    case splice::Tier::kReencode: return "dictionary indices expanded to values, delta pages encoded again";
    case splice::Tier::kFilter: return "deleted rows taken out";
    case splice::Tier::kDecode: return "decoded and encoded again";
    case splice::Tier::kSynthesize: return "made of defaults";
  }
  return "";
}

}  // namespace

std::string TierTable(const TierCounts& tiers, std::int64_t input_bytes) {
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
  if (table.empty()) return "";
  std::string text =
      "\nHow the bytes were merged (docs/formats/parquet.md: when which tier is taken)\n" + table.Print();
  const auto bytes_of = [&](splice::Tier tier) { return tiers[static_cast<std::size_t>(tier)].bytes; };
  const std::int64_t rest = input_bytes - (total - bytes_of(splice::Tier::kSynthesize));
  if (rest > 0) {
    text += fmt::format("  The other {} of {} are footers, indexes and filters, which are made anew.\n",
                        HumanBytes(rest), HumanBytes(input_bytes));
  }
  const std::int64_t expanded = bytes_of(splice::Tier::kReencode);
  if (expanded > total / 4) {
    text +=
        "  P5 takes so much where the dictionaries of many small files differ: one for all of them would be larger\n"
        "  than the values written out once. Rows are not decoded for it.\n";
  }
  return text;
}

std::string StorageCopiesText(std::int64_t size_bytes) {
  if (size_bytes == 0) return "";
  return fmt::format("{} of them were copied inside of the storage.\n", HumanBytes(size_bytes));
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
