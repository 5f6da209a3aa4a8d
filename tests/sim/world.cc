// SPDX-License-Identifier: Apache-2.0
#include "sim/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "ports/hooked_file_io.h"
#include "ports/location.h"

namespace firn::sim {
namespace {

constexpr int kRowsPerFile = 3;

/// Names that only firn gives: merged files of tests and of the program, "UUID-m0.avro", "snap-...".
bool IsOwnFile(std::string_view location) {
  const std::string_view name = ports::FileNameOf(location);
  if (name.starts_with("merged-") || name.starts_with("00000-") || name.starts_with("snap-")) return true;
  const std::size_t mark = name.rfind("-m");
  return name.ends_with(".avro") && mark != std::string_view::npos && mark + 2 < name.size() && name[mark + 2] >= '0' &&
         name[mark + 2] <= '9';
}

}  // namespace

World::World(std::int32_t format_version, std::uint64_t seed) : random(seed), inject_(injector.hook()) {
  const auto hook = [this](const ports::IoEvent& event) { return Hook(event); };
  io = std::make_shared<ports::HookedFileIO>(storage, hook);
  catalog = std::make_unique<ports::MemoryCatalog>("memory", io, clock, random.Next());
  catalog->set_hook(hook);
  table_ = std::make_unique<SimTable>(*storage, *catalog, clock, random.Next());
  const Result<iceberg::TableMetadata> metadata = SimTable::NewMetadata(format_version);
  Fail(metadata ? catalog->Create(SimTable::Id(), *metadata) : Status(metadata.error()));
  retry.wait_min_ms = 10;
}

void World::Fail(const Status& status) {
  if (!status) ADD_FAILURE() << ToString(status.error());
}

Status World::Hook(const ports::IoEvent& event) {
  if (!in_process_) return Ok();
  if (event.moment == ports::IoMoment::kBefore && intrude) {
    in_process_ = false;
    intrude(injector.call_count() + 1, event);
    in_process_ = true;
  }
  return inject_(event);
}

void World::Fill(int files, int snapshots) {
  for (int s = 0; s < snapshots; ++s) {
    for (std::int32_t part = 0; part < 2; ++part) {
      std::vector<std::vector<std::int64_t>> lists;
      for (int f = s; f < files; f += snapshots) {
        std::vector<std::int64_t>& ids = lists.emplace_back();
        for (int i = 0; i < kRowsPerFile; ++i) ids.push_back(next_id_++);
      }
      if (!lists.empty()) {
        const auto appended = table_->Append(part, lists);
        if (!appended) Fail(appended.error());
      }
    }
  }
}

act::RewriteGroup World::MergeOf(std::int32_t part, std::size_t count) {
  act::RewriteGroup group;
  group.name = fmt::format("part={}", part);
  group.partition.values = {part};
  const Result<Contents> contents = table_->ReadHead();
  if (!contents) {
    Fail(contents.error());
    return group;
  }
  std::vector<Row> rows;
  act::AddedFile added;
  for (const auto& [path, live] : contents->files) {
    if (group.removed.size() == count || std::get<std::int32_t>(live.file.partition.values.at(0)) != part) continue;
    group.removed.push_back(RemovedFileOf(path, live));
    added.data_sequence_number = std::max(added.data_sequence_number, SequenceNumber(live.sequence_number));
    const Result<Bytes> bytes = ports::ReadFile(*storage, path);
    const Result<std::vector<Row>> read = bytes ? ReadRows(*bytes) : Result<std::vector<Row>>(bytes.error());
    if (!read) {
      Fail(read.error());
      return group;
    }
    rows.insert(rows.end(), read->begin(), read->end());
  }
  const SequenceNumber newest = added.data_sequence_number;
  added = WriteMerged(group, rows);
  added.data_sequence_number = newest;
  group.added.push_back(std::move(added));
  return group;
}

act::Rewrite World::PlanOf(std::vector<act::RewriteGroup> groups, const std::string& plan_id) {
  act::Rewrite rewrite;
  const Result<ports::LoadedTable> loaded = table_->Load();
  if (!loaded) {
    Fail(loaded.error());
    return rewrite;
  }
  const iceberg::Snapshot& head = *loaded->metadata->current_snapshot();
  rewrite.plan_snapshot_id = head.id;
  rewrite.plan_sequence_number = head.sequence_number;
  rewrite.format_version = loaded->metadata->format_version();
  rewrite.manifests = manifests_;
  rewrite.groups = std::move(groups);
  rewrite.plan_id = plan_id;
  rewrite.fence = "1";
  return rewrite;
}

act::CommitEnvironment World::Environment(ports::Catalog& through) {
  return {through, *io, clock, random, retry, nullptr};
}

RewriteReport CommitRewrite(act::CommitEnvironment& environment, const act::CommitTarget& target,
                            act::Rewrite rewrite) {
  act::RewriteChange change(std::move(rewrite));
  RewriteReport report;
  report.commit = act::Commit(environment, target, change);
  report.refusals = change.refusals();
  return report;
}

RewriteReport World::Run(act::Rewrite rewrite, ports::Catalog& through) {
  act::CommitEnvironment environment = Environment(through);
  act::CommitTarget target;
  target.table = SimTable::Id();
  return AsProcess([&] { return CommitRewrite(environment, target, std::move(rewrite)); });
}

Contents World::Head() {
  Result<Contents> contents = table_->ReadHead();
  if (contents) return std::move(*contents);
  Fail(contents.error());
  return {};
}

std::vector<std::string> World::PathsOf(std::int32_t part) {
  std::vector<std::string> paths;
  for (const auto& [path, live] : Head().files) {
    if (std::get<std::int32_t>(live.file.partition.values.at(0)) == part) paths.push_back(path);
  }
  return paths;
}

std::vector<Row> World::Rows() { return Head().rows; }

void World::CheckSound() {
  const Result<std::set<std::string>> needed = table_->NeededFiles();
  if (!needed) return Fail(needed.error());
  for (const std::string& location : *needed) {
    const Result<bool> exists = storage->Exists(location);
    EXPECT_TRUE(exists && *exists) << location << " is missing";
  }
}

std::set<std::string> World::Orphans() {
  std::set<std::string> orphans;
  const Result<std::set<std::string>> needed = table_->NeededFiles();
  if (!needed) {
    Fail(needed.error());
    return orphans;
  }
  std::string page;
  do {
    const Result<ports::ListPage> listed = storage->List("mem://wh/db/t/", page);
    if (!listed) {
      Fail(listed.error());
      return orphans;
    }
    for (const ports::FileInfo& file : listed->files) {
      if (IsOwnFile(file.location) && !needed->contains(file.location)) orphans.insert(file.location);
    }
    page = listed->next_page;
  } while (!page.empty());
  return orphans;
}

int World::CommitsOf(const std::string& plan_id) {
  const Result<ports::LoadedTable> loaded = table_->Load();
  if (!loaded) {
    Fail(loaded.error());
    return -1;
  }
  return static_cast<int>(std::ranges::count_if(loaded->metadata->snapshots(), [&](const iceberg::Snapshot& snapshot) {
    const std::string* id = snapshot.FindSummary("firn.plan-id");
    return id != nullptr && *id == plan_id;
  }));
}

}  // namespace firn::sim
