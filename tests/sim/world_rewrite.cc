// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "act/offset_row_map.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

/// Places one by one, as a sorted rewrite has them.
class ListedRowMap final : public act::RowMap {
 public:
  ListedRowMap(std::vector<std::optional<act::RowPlace>> places, roaring::PositionSet deleted)
      : places_(std::move(places)), deleted_(std::move(deleted)) {}
  std::optional<act::RowPlace> Find(std::int64_t position) const override {
    if (position < 0 || position >= static_cast<std::int64_t>(places_.size())) return std::nullopt;
    return places_[static_cast<std::size_t>(position)];
  }
  const roaring::PositionSet& deleted() const override { return deleted_; }

 private:
  std::vector<std::optional<act::RowPlace>> places_;
  roaring::PositionSet deleted_;
};

/// Where a row of an input comes to lie.
struct Origin {
  std::size_t input = 0;
  std::int64_t position = 0;
  Row row;
};

struct Layout {
  std::vector<Origin> outputs[2];
};

Layout LayOut(const std::vector<Origin>& rows, bool shuffle, Random& random) {
  Layout layout;
  layout.outputs[0] = rows;
  if (!shuffle) return layout;
  layout.outputs[0].clear();
  for (const Origin& row : rows) layout.outputs[random.Next() % 2].push_back(row);
  for (std::vector<Origin>& output : layout.outputs) std::ranges::reverse(output);
  if (layout.outputs[0].empty()) std::swap(layout.outputs[0], layout.outputs[1]);
  return layout;
}

}  // namespace

act::RemovedFile World::RemovedFileOf(const std::string& path, const LiveFile& live) {
  auto manifest = std::ranges::find(manifests_, live.manifest);
  if (manifest == manifests_.end()) manifest = manifests_.insert(manifests_.end(), live.manifest);
  act::RemovedFile removed;
  removed.path = path;
  removed.manifest = static_cast<std::uint32_t>(manifest - manifests_.begin());
  removed.record_count = live.file.record_count;
  removed.data_sequence_number = SequenceNumber(live.sequence_number);
  removed.file_sequence_number = SequenceNumber(live.file_sequence_number);
  return removed;
}

act::AddedFile World::WriteMerged(const act::RewriteGroup& group, const std::vector<Row>& rows) {
  act::AddedFile added;
  const Result<Bytes> merged = WriteRows(rows);
  if (!merged) {
    Fail(merged.error());
    return added;
  }
  added.file.file_path = fmt::format("mem://wh/db/t/data/{}/merged-{}.parquet", group.name, random.NewUuid());
  added.file.format_text = "PARQUET";
  added.file.partition = group.partition;
  added.file.record_count = static_cast<std::int64_t>(rows.size());
  added.file.file_size_bytes = static_cast<std::int64_t>(merged->size());
  Fail(ports::WriteFile(*storage, added.file.file_path, *merged));
  return added;
}

act::RewriteGroup World::RewriteOf(std::int32_t part, std::size_t count, const Style& style) {
  act::RewriteGroup group;
  group.name = fmt::format("part={}", part);
  group.partition.values = {part};
  const Result<Contents> contents = table_->ReadHead();
  const Result<ports::LoadedTable> loaded = table_->Load();
  if (!contents || !loaded) {
    Fail(contents ? loaded.error() : contents.error());
    return group;
  }
  std::vector<Origin> rows;
  std::vector<roaring::PositionSet> deleted;
  SequenceNumber number{0};
  for (const auto& [path, live] : contents->files) {
    if (group.removed.size() == count || std::get<std::int32_t>(live.file.partition.values.at(0)) != part) continue;
    if (!style.fold && !live.deletes.empty()) continue;
    act::RemovedFile& removed = group.removed.emplace_back(RemovedFileOf(path, live));
    removed.applied_deletes = live.deletes;
    deleted.emplace_back();
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      const auto position = static_cast<std::int64_t>(i);
      if (live.visible[i]) {
        rows.push_back({group.removed.size() - 1, position, live.rows[i]});
      } else {
        deleted.back().Add(position);
      }
    }
    group.deleted_rows += deleted.back().cardinality();
    number = std::max(number, SequenceNumber(live.sequence_number));
    if (!live.deletes.empty()) number = loaded->metadata->current_snapshot()->sequence_number;
  }

  const Layout layout = LayOut(rows, style.shuffle, random);
  std::vector<std::vector<std::optional<act::RowPlace>>> places(group.removed.size());
  std::vector<std::int64_t> bases(group.removed.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].resize(static_cast<std::size_t>(group.removed[i].record_count));
    bases[i] = std::ranges::count_if(rows, [i](const Origin& origin) { return origin.input < i; });
  }
  for (const std::vector<Origin>& output : layout.outputs) {
    if (output.empty()) continue;
    std::vector<Row> written;
    for (const Origin& origin : output) {
      places[origin.input][static_cast<std::size_t>(origin.position)] = {static_cast<std::uint32_t>(group.added.size()),
                                                                         static_cast<std::int64_t>(written.size())};
      written.push_back(origin.row);
    }
    group.added.push_back(WriteMerged(group, written));
    group.added.back().data_sequence_number = number;
  }
  for (std::size_t i = 0; i < places.size() && style.row_maps; ++i) {
    if (style.shuffle) {
      group.removed[i].row_map = std::make_shared<ListedRowMap>(std::move(places[i]), std::move(deleted[i]));
    } else {
      group.removed[i].row_map = std::make_shared<act::OffsetRowMap>(
          0, bases[i], group.removed[i].record_count, std::make_shared<roaring::PositionSet>(std::move(deleted[i])));
    }
  }
  return group;
}

}  // namespace firn::sim
