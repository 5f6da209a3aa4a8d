// SPDX-License-Identifier: Apache-2.0
#include "ports/io_hook.h"

#include <fmt/format.h>

namespace firn::ports {
namespace {

// Which call a thread is in: the event after a call must be matched with the number that it got before.
thread_local std::int64_t current_call = 0;

Error Crashed() { return Error{Code::kUnavailable, "injected fault: the process is dead"}; }

}  // namespace

std::string_view OperationName(IoOperation operation) {
  constexpr std::string_view kNames[] = {"open",   "read",   "create", "write",      "close",
                                         "delete", "exists", "list",   "load-table", "commit-table"};
  return kNames[static_cast<int>(operation)];
}

void FaultInjector::FailAt(std::int64_t n, Code code) {
  const std::lock_guard lock(mutex_);
  fail_at_ = n;
  fail_code_ = code;
}

void FaultInjector::LoseReplyAt(std::int64_t n) {
  const std::lock_guard lock(mutex_);
  lose_at_ = n;
}

void FaultInjector::CrashAt(std::int64_t n, bool done) {
  const std::lock_guard lock(mutex_);
  crash_at_ = n;
  crash_done_ = done;
}

void FaultInjector::Reset() {
  const std::lock_guard lock(mutex_);
  count_ = 0;
  fail_at_ = lose_at_ = crash_at_ = 0;
  crash_done_ = crashed_ = false;
  trace_.clear();
}

std::vector<std::string> FaultInjector::trace() const {
  const std::lock_guard lock(mutex_);
  return trace_;
}

IoHook FaultInjector::hook() {
  return [this](const IoEvent& event) { return event.moment == IoMoment::kBefore ? Before(event) : After(event); };
}

Status FaultInjector::Before(const IoEvent& event) {
  const std::lock_guard lock(mutex_);
  current_call = ++count_;
  trace_.push_back(fmt::format("{} {}", OperationName(event.operation), event.location));
  if (crashed_) return Crashed();
  if (current_call == crash_at_ && !crash_done_) {
    crashed_ = true;
    return Crashed();
  }
  if (current_call == fail_at_) {
    return Error{fail_code_, fmt::format("injected fault at call {}: {}", current_call, trace_.back())};
  }
  return Ok();
}

Status FaultInjector::After(const IoEvent& event) {
  const std::lock_guard lock(mutex_);
  if (crashed_) return Crashed();
  if (current_call == crash_at_) {
    crashed_ = true;
    return Crashed();
  }
  if (current_call != lose_at_) return Ok();
  const bool commit = event.operation == IoOperation::kCommitTable;
  return Error{commit ? Code::kOutcomeUnknown : Code::kUnavailable,
               fmt::format("injected fault: reply of call {} is lost", current_call)};
}

}  // namespace firn::ports
