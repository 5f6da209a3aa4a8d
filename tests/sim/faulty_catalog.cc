// SPDX-License-Identifier: Apache-2.0
#include "sim/faulty_catalog.h"

#include <utility>

namespace firn::sim {

std::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kNone: return "none";
    case Fault::kDropBefore: return "drop_before";
    case Fault::kDropAfter: return "drop_after";
    case Fault::kRefuseBefore: return "409_before";
    case Fault::kRefuseAfter: return "409_after";
    case Fault::kBusy: return "429";
    case Fault::kDelay: return "delay";
    case Fault::kDuplicate: return "duplicate";
    case Fault::kDuplicateFirst: return "duplicate:first";
    case Fault::kRejectAfter: return "400_after";
  }
  return "?";
}

Result<ports::LoadedTable> FaultyCatalog::Apply(const ports::TableIdentifier& id, const ports::TableCommit& commit) {
  FIRN_ASSIGN(const ports::LoadedTable now, below_.LoadTable(id));
  return below_.CommitTable(now, commit);
}

void FaultyCatalog::Tick() {
  for (Late& late : late_) --late.calls_left;
  while (!late_.empty() && late_.front().calls_left <= 0) {
    const bool applied = Apply(late_.front().id, late_.front().commit).has_value();
    trace_ += applied ? " (late: applied)" : " (late: refused)";
    late_.pop_front();
  }
}

void FaultyCatalog::DeliverAll() {
  for (Late& late : late_) late.calls_left = 0;
  Tick();
}

Result<ports::LoadedTable> FaultyCatalog::LoadTable(const ports::TableIdentifier& id) {
  Tick();
  if (down_ && down_()) return Error{Code::kUnavailable, "injected: catalog is down"};
  if (stale_ && stale_() && shown_) return *shown_;
  FIRN_ASSIGN(shown_, below_.LoadTable(id));
  return *shown_;
}

Result<ports::LoadedTable> FaultyCatalog::CommitTable(const ports::LoadedTable& base,
                                                      const ports::TableCommit& commit) {
  Tick();
  const Fault fault = next_();
  trace_ += " " + std::string(FaultName(fault));
  const Error unknown{Code::kOutcomeUnknown, "injected: no answer"};
  const Error refused{Code::kConflict, "injected: refused"};
  switch (fault) {
    case Fault::kNone: return Apply(base.id, commit);
    case Fault::kDropBefore: return unknown;
    case Fault::kDropAfter: (void)Apply(base.id, commit).has_value(); return unknown;
    case Fault::kRefuseBefore: return refused;
    case Fault::kRefuseAfter: (void)Apply(base.id, commit).has_value(); return refused;
    case Fault::kRejectAfter:
      (void)Apply(base.id, commit).has_value();
      return Error{Code::kInvalidArgument, "injected: bad request"};
    case Fault::kBusy: return Error{Code::kUnavailable, "injected: come back later"};
    case Fault::kDelay: late_.push_back({calls_later_, base.id, commit}); return unknown;
    case Fault::kDuplicate: (void)Apply(base.id, commit).has_value(); return Apply(base.id, commit);
    case Fault::kDuplicateFirst: {
      Result<ports::LoadedTable> first = Apply(base.id, commit);
      (void)Apply(base.id, commit).has_value();
      return first;
    }
  }
  return unknown;
}

}  // namespace firn::sim
