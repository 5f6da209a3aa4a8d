// SPDX-License-Identifier: Apache-2.0
#include "decide/bin_division.h"

#include <algorithm>
#include <utility>

namespace firn::decide {
namespace {

PackingItem SumOf(std::span<const PackingItem> files, const Bin& bin) {
  PackingItem sum;
  for (const std::uint32_t i : bin) sum += files[i];
  return sum;
}

/// Takes the largest files out until the rest is worth it. Each of them has more than the others together, so they are
/// few. False: nothing is left.
bool MakeWorth(std::span<const PackingItem> files, const PackingModel& model, Bin& part) {
  while (part.size() >= 2) {
    const PackingItem sum = SumOf(files, part);
    if (model.Worth(sum)) return true;
    if (model.Feasible(sum) || sum.files < model.limits().min_input_files) return false;
    part.erase(std::ranges::max_element(part, {}, [&](std::uint32_t i) { return files[i].weight; }));
  }
  return false;
}

void Divide(std::span<const PackingItem> files, const PackingModel& model, const Bin& bin, std::int64_t count,
            std::vector<Bin>& parts) {
  const std::int64_t most = model.limits().max_input_files;
  const std::int64_t parts_wanted = (count + most - 1) / most;
  const std::int64_t share = (count + parts_wanted - 1) / parts_wanted;
  Bin part;
  std::int64_t held = 0;
  const auto end_part = [&] {
    if (MakeWorth(files, model, part)) parts.push_back(part);
    part.clear();
    held = 0;
  };
  for (const std::uint32_t i : bin) {
    if (!part.empty() && held + files[i].files > most) end_part();
    part.push_back(i);
    held += files[i].files;
    if (held >= share) end_part();
  }
  end_part();
}

}  // namespace

std::vector<Bin> DivideBins(std::span<const PackingItem> files, std::vector<Bin> bins, const PackingModel& model) {
  std::vector<Bin> divided;
  for (Bin& bin : bins) {
    const std::int64_t count = SumOf(files, bin).files;
    if (count <= model.limits().max_input_files) {
      divided.push_back(std::move(bin));
    } else {
      Divide(files, model, bin, count, divided);
    }
  }
  return divided;
}

}  // namespace firn::decide
