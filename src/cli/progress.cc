// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "cli/text_table.h"

namespace firn::cli {
namespace {

constexpr std::int64_t kRedrawNs = 100'000'000;
constexpr std::int64_t kPlainLineNs = 10'000'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr int kBarCellsMin = 8, kBarCellsMax = 24;
// What stands beside the bar at most: title, brackets, bytes, speed, time left.
constexpr int kTextColumns = 66;
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(Terminal& terminal, ports::Clock& clock, Options options)
    : terminal_(terminal),
      clock_(clock),
      options_(std::move(options)),
      interactive_(terminal.err_is_interactive()),
      started_ns_(clock.MonotonicNs()),
      shown_ns_(started_ns_) {}

Progress::~Progress() { Finish(); }

void Progress::Update(std::int64_t done_bytes, std::int64_t total_bytes) {
  if (options_.silent) return;
  const std::lock_guard lock(mutex_);
  total_bytes_ = std::max<std::int64_t>(total_bytes, 0);
  done_bytes_ = std::min(std::max(done_bytes_, done_bytes), total_bytes_);
  const std::int64_t now = clock_.MonotonicNs();
  if (now - shown_ns_ < (interactive_ ? kRedrawNs : kPlainLineNs)) return;
  shown_ns_ = now;
  if (interactive_) {
    terminal_.Err(fmt::format("{}{}", kClearLine, DrawBar()));
    drawn_ = true;
  } else {
    terminal_.Err(options_.title + ": " + Describe() + "\n");
  }
}

void Progress::Note(std::string_view line) {
  if (options_.silent) return;
  const std::lock_guard lock(mutex_);
  Clear();
  terminal_.Err(Printable(line) + "\n");
  if (interactive_ && total_bytes_ > 0) {
    terminal_.Err(DrawBar());
    drawn_ = true;
  }
}

void Progress::Finish() {
  const std::lock_guard lock(mutex_);
  Clear();
}

void Progress::Clear() {
  if (drawn_) terminal_.Err(kClearLine);
  drawn_ = false;
}

std::string Progress::Describe() const {
  const std::int64_t elapsed_ns = clock_.MonotonicNs() - started_ns_;
  const double done = static_cast<double>(done_bytes_), total = static_cast<double>(total_bytes_);
  std::string text = fmt::format("{} of {} ({:.0f} %)", HumanBytes(done_bytes_), HumanBytes(total_bytes_),
                                 total_bytes_ == 0 ? 100 : 100 * done / total);
  if (elapsed_ns < kSecondNs || done_bytes_ == 0) return text;
  const double seconds = static_cast<double>(elapsed_ns) / kSecondNs;
  text += fmt::format(", {}/s", HumanBytes(static_cast<std::int64_t>(done / seconds)));
  if (done_bytes_ < total_bytes_)
    text += fmt::format(", {} left", HumanSeconds(std::max(1.0, seconds * (total - done) / done)));
  return text;
}

std::string Progress::DrawBar() const {
  const int cells = std::clamp(terminal_.columns() - kTextColumns, kBarCellsMin, kBarCellsMax);
  const int full = total_bytes_ == 0 ? cells
                                     : static_cast<int>(static_cast<double>(cells) * static_cast<double>(done_bytes_) /
                                                        static_cast<double>(total_bytes_));
  const std::string line = fmt::format("{} [{}{}] {}", options_.title, std::string(static_cast<std::size_t>(full), '#'),
                                       std::string(static_cast<std::size_t>(cells - full), '.'), Describe());
  return line.substr(0, static_cast<std::size_t>(std::max(terminal_.columns() - 1, 10)));
}

}  // namespace firn::cli
