// SPDX-License-Identifier: Apache-2.0
//
// Carries either a value or an error that says what the caller must do next.
//
// Guarantees: a dropped Result or Status is a compiler warning (an error in this build). The code is
//   chosen once, where the fault is found; callers add context with In(). Only a port may re-code what comes from
//   below it.
// Cost: no allocation on success.
// Threads: a value type; share it as any other value.
// Source: std::expected; class-level [[nodiscard]] because libstdc++ 12 does not mark it.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace firn {

/// What the caller does next. The table in docs/errors.md maps each to an exit code and an HTTP status.
enum class Code {
  kInvalidArgument,  // the request makes no sense: fix it
  kNotFound,         // table, snapshot or file is missing: report it
  kCorrupt,          // bytes break their format: stop, never repair silently
  kUnsupported,      // valid, but not implemented: leave it alone and say so
  kConflict,         // somebody committed first: observe again
  kOutcomeUnknown,   // a commit may have happened: delete nothing, look, then go on
  kUnavailable,      // storage or catalog is down or throttles: back off and retry
  kLimit,            // a budget of memory, time, files or threads is used up: make a smaller plan
  kCancelled,        // shutdown or lost lease: stop quietly
  kInternal,         // our bug: log it with context and fail the job
};

std::string_view CodeName(Code code);

struct [[nodiscard]] Error {
  Code code = Code::kInternal;
  std::string message;

  /// Puts `context` before the message: "context: message". Once: who found the fault may have named the place.
  Error In(std::string_view context) && {
    const std::string prefix = std::string(context) + ": ";
    if (!message.starts_with(prefix)) message.insert(0, prefix);
    return std::move(*this);
  }
};

/// "kConflict: message", for logs and tests.
std::string ToString(const Error& error);

template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using Base = std::expected<T, Error>;
  using Base::Base;
  // Both conversions are wanted: `return value;` and `return Error{...};` read like any other return.
  Result(Error error) : Base(std::unexpect, std::move(error)) {}
  Result(std::unexpected<Error> error) : Base(std::move(error)) {}

  /// The same result with `context` put before the error's message, if it is an error.
  Result In(std::string_view context) && {
    if (!this->has_value()) return std::move(this->error()).In(context);
    return std::move(*this);
  }
};

using Status = Result<void>;

inline Status Ok() { return Status(std::in_place); }

#define FIRN_CONCAT_(a, b) a##b
#define FIRN_CONCAT(a, b) FIRN_CONCAT_(a, b)

/// Returns the error of a Status or Result expression, if it has one.
#define FIRN_TRY(expr)                                                         \
  do {                                                                         \
    if (auto firn_try = (expr); !firn_try) return std::move(firn_try.error()); \
  } while (false)

/// Declares or assigns `lhs` from a Result, or returns its error.
#define FIRN_ASSIGN(lhs, expr) FIRN_ASSIGN_(FIRN_CONCAT(firn_result_, __LINE__), lhs, expr)
#define FIRN_ASSIGN_(tmp, lhs, expr)       \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp.error()); \
  lhs = std::move(*tmp)

}  // namespace firn
