// SPDX-License-Identifier: Apache-2.0
//
// Where a command writes: results to standard output, everything else to standard error.
//
// Guarantees: the memory twin keeps both texts, for tests.
// Threads: any; one call is written whole.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace firn::cli {

class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual void Out(std::string_view text) = 0;
  /// Whether anything was written to standard output: a second JSON value must not follow.
  virtual bool out_used() const = 0;
  /// Why not all of it could be written; empty: it was, or nobody reads on (`| head`).
  virtual std::string out_failure() const = 0;
  virtual void Err(std::string_view text) = 0;
  /// Standard error is a terminal on which a line can be drawn again.
  virtual bool err_is_interactive() const = 0;
  /// Width of that terminal.
  virtual int columns() const = 0;
};

class SystemTerminal final : public Terminal {
 public:
  void Out(std::string_view text) override;
  bool out_used() const override { return out_used_.load(); }
  std::string out_failure() const override;
  void Err(std::string_view text) override;
  bool err_is_interactive() const override;
  int columns() const override;

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> out_used_ = false;
  int out_error_ = 0;  // the first
};

class MemoryTerminal final : public Terminal {
 public:
  explicit MemoryTerminal(bool interactive = false) : interactive_(interactive) {}
  void Out(std::string_view text) override;
  bool out_used() const override { return !out.empty(); }
  std::string out_failure() const override { return ""; }
  void Err(std::string_view text) override;
  bool err_is_interactive() const override { return interactive_; }
  int columns() const override { return 100; }

  std::string out, err;

 private:
  bool interactive_;
  std::mutex mutex_;
};

}  // namespace firn::cli
