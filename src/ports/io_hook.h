// SPDX-License-Identifier: Apache-2.0
//
// Faults on purpose: a function that sees every call to storage or catalog, and may break it.
//
// In: an event before and after each call. Out: Ok, or the error that the caller gets.
// Guarantees: an error before a call means that nothing was done; an error after it means that it was done and the
//   reply is lost.
// Threads: hooks are called from any thread at once; FaultInjector is safe for that.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace firn::ports {

enum class IoOperation {
  kOpen,
  kReadAt,
  kCreate,
  kWrite,
  kClose,
  kDelete,
  kExists,
  kList,
  kLoadTable,
  kCommitTable,
};
std::string_view OperationName(IoOperation operation);

enum class IoMoment { kBefore, kAfter };

struct IoEvent {
  IoOperation operation;
  IoMoment moment;
  /// A file, a listed prefix, or a table ("db.t").
  const std::string& location;
};

using IoHook = std::function<Status(const IoEvent&)>;

/// Counts calls from 1 and breaks the chosen ones. Share it between a FileIO and a catalog.
class FaultInjector {
 public:
  /// The n-th call does nothing and fails with `code`.
  void FailAt(std::int64_t n, Code code = Code::kUnavailable);
  /// The n-th call is done, but its caller hears kUnavailable (kOutcomeUnknown for a commit).
  void LoseReplyAt(std::int64_t n);
  /// The process dies at the n-th call: with `done` just after its effect, otherwise just before it.
  /// It and every later call fail.
  void CrashAt(std::int64_t n, bool done);
  /// No faults any more; counting and trace start anew.
  void Reset();

  std::int64_t call_count() const { return count_.load(); }
  /// "close /a/b" for each call so far.
  std::vector<std::string> trace() const;

  /// Keeps the injector by reference.
  IoHook hook();

 private:
  Status Before(const IoEvent& event);
  Status After(const IoEvent& event);

  mutable std::mutex mutex_;
  std::atomic<std::int64_t> count_ = 0;
  std::int64_t fail_at_ = 0;
  std::int64_t lose_at_ = 0;
  std::int64_t crash_at_ = 0;
  bool crash_done_ = false;
  bool crashed_ = false;
  Code fail_code_ = Code::kUnavailable;
  std::vector<std::string> trace_;
};

}  // namespace firn::ports
