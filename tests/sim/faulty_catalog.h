// SPDX-License-Identifier: Apache-2.0
//
// A catalog whose answers lie or get lost: what happens between a client and a catalog behind a network.
//
// In: a catalog, one action per commit, times at which nothing can be loaded. Out: the Catalog port.
// Guarantees: requests are applied as a server does it: to the table as it is when they arrive, if their
//   requirements hold; the client's base does not matter.
// Threads: one.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/catalog.h"

namespace firn::sim {

enum class Fault : std::uint8_t {
  kNone,
  kDropBefore,      // not applied, no answer
  kDropAfter,       // applied, no answer
  kRefuseBefore,    // not applied, "conflict"
  kRefuseAfter,     // applied, "conflict"
  kBusy,            // not applied, "come back later"
  kDelay,           // no answer, applied at one of the next calls
  kDuplicate,       // applied twice, the second answer
  kDuplicateFirst,  // applied twice, the first answer
  kRejectAfter,     // applied, "bad request": a gateway that repeats requests
};
std::string_view FaultName(Fault fault);

class FaultyCatalog final : public ports::Catalog {
 public:
  /// `next` is asked once a commit; `calls_later` is when a delayed request arrives.
  FaultyCatalog(ports::Catalog& below, std::function<Fault()> next, int calls_later = 3)
      : below_(below), next_(std::move(next)), calls_later_(calls_later) {}

  const std::string& name() const override { return below_.name(); }
  Result<ports::LoadedTable> LoadTable(const ports::TableIdentifier& id) override;
  Result<ports::LoadedTable> CommitTable(const ports::LoadedTable& base, const ports::TableCommit& commit) override;
  Status CheckWritable(const ports::LoadedTable& table) const override { return below_.CheckWritable(table); }
  /// It sends the requirements, as to a server: a late request fits again after a rollback.
  bool SwapsNames() const override { return false; }
  Result<std::vector<ports::TableIdentifier>> ListTables() override { return below_.ListTables(); }
  Result<std::shared_ptr<ports::FileIO>> TableIO(const ports::LoadedTable& table) override {
    return below_.TableIO(table);
  }
  /// Loads fail as long as `down` says so.
  void set_down(std::function<bool()> down) { down_ = std::move(down); }
  /// Loads give what the last one gave, as long as `stale` says so.
  void set_stale(std::function<bool()> stale) { stale_ = std::move(stale); }
  /// Delivers what is still on its way.
  void DeliverAll();
  const std::string& trace() const { return trace_; }

 private:
  struct Late {
    int calls_left = 0;
    ports::TableIdentifier id;
    ports::TableCommit commit;
  };
  Result<ports::LoadedTable> Apply(const ports::TableIdentifier& id, const ports::TableCommit& commit);
  void Tick();

  ports::Catalog& below_;
  std::function<Fault()> next_;
  std::function<bool()> down_, stale_;
  std::optional<ports::LoadedTable> shown_;  // by the last load
  int calls_later_;
  std::deque<Late> late_;
  std::string trace_;
};

}  // namespace firn::sim
