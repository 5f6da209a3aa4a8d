// SPDX-License-Identifier: Apache-2.0
#include "service/tidied_run.h"

#include <fmt/format.h>

#include <utility>

namespace firn::service {

TidiedRun::TidiedRun(const act::CommitEnvironment& environment, ports::TableIdentifier table, const std::string& ref)
    : environment_(environment), table_(std::move(table)) {
  if (environment_.processes == nullptr) return;
  journal_.emplace(environment_, ref);
  environment_.journal = &*journal_;
}

/// After an error of which nobody made an end: what was written is not known here.
TidiedRun::~TidiedRun() {
  if (journal_) (void)journal_->End(true, std::nullopt, false);
}

void TidiedRun::SeeTable(const ports::LoadedTable& table) {
  if (!journal_ || std::exchange(has_seen_, true)) return;
  // What can only be read may be an old state, or a copy: what it does not name may be the table's all the same.
  if (!environment_.catalog.CheckWritable(table)) return;
  journal_->LookAtEarlier(table);
}

act::Tidied TidiedRun::End(bool leaves_files, bool has_committed) {
  if (!journal_) return {};
  std::optional<ports::LoadedTable> now;
  if (journal_->has_earlier()) {
    if (auto loaded = environment_.catalog.LoadTable(table_)) now = std::move(*loaded);
  }
  act::Tidied tidied = journal_->End(leaves_files, now, has_committed);
  environment_.journal = nullptr;
  journal_.reset();
  return tidied;
}

}  // namespace firn::service
