// SPDX-License-Identifier: Apache-2.0
//
// What commands get from the program around them: the terminal, time, randomness, the way to tables, the wish to stop.
//
// Guarantees: only main.cc puts real adapters in; tests put twins in.
// Threads: see the members.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/file_io.h"
#include "ports/processes.h"
#include "ports/properties.h"

namespace firn::service {
class PolicySource;
}

namespace firn::cli {

/// The words by which a user names a table.
struct TableRequest {
  std::string table;                    // identifier, directory or metadata file
  std::string catalog;                  // name in the configuration; empty: the default one
  std::string config_file;              // empty: the usual places
  std::vector<std::string> properties;  // "key=value"
  std::vector<std::string> maps;        // "FROM=TO"
};

struct OpenedTable {
  std::shared_ptr<ports::Catalog> catalog;
  ports::LoadedTable table;
  std::shared_ptr<ports::FileIO> io;
};

struct Environment {
  Terminal& terminal;
  ports::Clock& clock;
  Random& random;
  std::function<Result<OpenedTable>(const TableRequest&)> open_table;
  /// Files by location, without a table.
  std::function<Result<std::shared_ptr<ports::FileIO>>(const TableRequest&)> open_files;
  /// Set by a signal.
  const std::atomic<bool>& cancelled;
  /// The catalog that a request without a table means. From any thread.
  std::function<Result<std::shared_ptr<ports::Catalog>>(const TableRequest&)> open_catalog = {};
  /// firn's own section of the configuration; null: there is no configuration.
  std::function<Result<ports::Properties>(const TableRequest&)> settings = {};
  /// Name of the catalog that a request without a table means, without opening it.
  std::function<Result<std::string>(const TableRequest&)> catalog_name = {};
  /// The policies that this catalog has for its tables; null: it has none.
  std::function<Result<std::shared_ptr<service::PolicySource>>(const TableRequest&)> open_policies = {};
  /// To know whether the writer of files that nobody names still runs; null: they are left alone.
  const ports::Processes* processes = nullptr;
};

}  // namespace firn::cli
