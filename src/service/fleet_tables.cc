// SPDX-License-Identifier: Apache-2.0
#include "service/fleet_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ports/dotted_name.h"
#include "ports/location.h"
#include "service/table_name.h"

namespace firn::service {
namespace {

constexpr double kDayMs = 86'400'000;
/// Weight of a new scan in the mean of files a scan.
constexpr double kScanWeight = 0.1;

std::string DatabaseOf(const std::string& catalog, const ports::TableIdentifier& name) {
  return fmt::format("{}/{}", catalog, ports::DottedName(name.name_space));
}

/// Local places are the same with and without "file:", and buckets by each of their names.
std::string PlaceOf(const std::string& location) {
  if (const auto local = ports::LocalPathOf(location)) return std::string(ports::WithoutSlash(*local));
  const std::string scheme = std::string(ports::SchemeOf(location));
  const std::string place = std::string(ports::WithoutSlash(location));
  return scheme == "s3a" || scheme == "s3n" ? "s3" + place.substr(scheme.size()) : place;
}

}  // namespace

double ReadRate::ReadsSaved(std::int64_t removed, std::int64_t files) const {
  if (files <= 0 || removed <= 0) return 0;
  const double share = std::min(1.0, files_a_scan / static_cast<double>(files));
  return scans_a_day * share * static_cast<double>(removed);
}

void ReadRate::Add(const ports::ScanFigures& scan, std::int64_t now_ms) {
  // A rate that forgets with a time constant of one day: each scan counts 1, and fades.
  const double gone_ms = std::max<double>(0, static_cast<double>(now_ms - last_ms));
  scans_a_day = (last_ms == 0 ? 0 : scans_a_day * std::exp(-gone_ms / kDayMs)) + 1;
  const auto files = static_cast<double>(scan.data_files);
  files_a_scan = last_ms == 0 ? files : files_a_scan + kScanWeight * (files - files_a_scan);
  last_ms = now_ms;
}

FleetTables::FleetTables(std::vector<std::shared_ptr<ports::Catalog>> catalogs) : catalogs_(std::move(catalogs)) {}

std::shared_ptr<ports::Catalog> FleetTables::CatalogOf(std::string_view name) const {
  const auto place = std::ranges::find(catalogs_, name, [](const auto& catalog) { return catalog->name(); });
  return place == catalogs_.end() ? nullptr : *place;
}

FleetTables::Added FleetTables::Add(const std::shared_ptr<ports::Catalog>& catalog,
                                    const ports::TableIdentifier& name) {
  const std::string id = catalog->name() + "/" + ToString(name);
  const std::lock_guard lock(mutex_);
  auto [place, is_new] = tables_.try_emplace(id);
  if (is_new) {
    place->second = std::make_shared<FleetTable>(id, DatabaseOf(catalog->name(), name), name, catalog);
    TableRow& row = place->second->watched.record.row;
    row.id = id;
    row.catalog = catalog->name();
    row.name = ToString(name);
  }
  return {place->second, is_new};
}

std::shared_ptr<FleetTable> FleetTables::Restore(TableRecord record) {
  const auto catalog = CatalogOf(record.row.catalog);
  const auto name = ports::ParseTableIdentifier(record.row.name);
  if (catalog == nullptr || !name) return nullptr;
  auto [table, is_new] = Add(catalog, *name);
  WatchedTable& watched = table->watched;
  // A damaged state costs a scan.
  if (auto state = orient::TableState::Parse(AsBytes(record.partitions))) watched.state = std::move(*state);
  record.partitions.clear();
  table->seen_snapshot_id = record.row.last_snapshot_id;
  table->was_seen = record.row.last_looked_ms != 0;
  watched.needs_full = record.row.state == TableRow::State::kUnreadable || record.has_work;
  watched.has_histogram = !record.histogram.edges.empty();
  if (!watched.has_histogram) record.row.score = kNoScore;
  watched.record = std::move(record);
  return table;
}

std::shared_ptr<FleetTable> FleetTables::Find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto place = tables_.find(id);
  return place == tables_.end() ? nullptr : place->second;
}

Result<std::shared_ptr<FleetTable>> FleetTables::FindNamed(std::string_view given) const {
  if (auto table = Find(given)) return table;
  std::vector<TableName> names;
  for (const auto& table : All()) names.push_back({table->id, table->catalog->name(), ToString(table->name)});
  FIRN_ASSIGN(const std::string id, FindTableId(given, names));
  if (auto table = Find(id)) return table;
  return Error{Code::kNotFound, fmt::format("no table `{}`", given)};
}

std::vector<std::shared_ptr<FleetTable>> FleetTables::FindFor(const ports::TableEvent& event) const {
  std::vector<std::shared_ptr<FleetTable>> found;
  const std::lock_guard lock(mutex_);
  if (!event.table.empty()) {
    const std::string name = ToString(ports::TableIdentifier{event.name_space, event.table});
    for (const auto& catalog : catalogs_) {
      if (!event.catalog.empty() && catalog->name() != event.catalog) continue;
      if (const auto place = tables_.find(catalog->name() + "/" + name); place != tables_.end()) {
        found.push_back(place->second);
      }
    }
  }
  if (found.empty() && !event.location.empty()) {
    const auto place = by_location_.find(PlaceOf(event.location));
    if (auto table = place == by_location_.end() ? nullptr : place->second.lock()) found.push_back(std::move(table));
  }
  return found;
}

void FleetTables::NoteLocation(const std::string& location, const std::shared_ptr<FleetTable>& table) {
  const std::lock_guard lock(mutex_);
  by_location_[PlaceOf(location)] = table;
}

void FleetTables::Remove(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto place = tables_.find(id);
  if (place == tables_.end()) return;
  tables_.erase(place);
  std::erase_if(by_location_, [](const auto& entry) { return entry.second.expired(); });
}

std::vector<std::shared_ptr<FleetTable>> FleetTables::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<FleetTable>> all;
  all.reserve(tables_.size());
  for (const auto& [id, table] : tables_) all.push_back(table);
  return all;
}

std::size_t FleetTables::size() const {
  const std::lock_guard lock(mutex_);
  return tables_.size();
}

}  // namespace firn::service
