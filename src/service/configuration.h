// SPDX-License-Identifier: Apache-2.0
//
// Which catalogs there are and how they are reached: flags over environment over file.
//
// In: flags; environment variables PYICEBERG_CATALOG__NAME__KEY, AWS_*, AZURE_STORAGE_*, STORAGE_EMULATOR_HOST;
//   .pyiceberg.yaml in PYICEBERG_HOME, the home directory or the working directory (the first that is there). Out:
//   properties of a catalog by name.
// Guarantees: files and variables that PyIceberg understands mean the same here. firn's own section (`firn:`) knows
//   its keys; an unknown one is an error that names it. Messages say where was looked and never show a secret.
// Cost: one small file is read. Threads: immutable after Load().
// Errors: kInvalidArgument with file and key, kNotFound for an unknown catalog, kUnsupported for other kinds.
// Source: PyIceberg utils/config.py and catalog/__init__.py.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/mapped_file_io.h"
#include "ports/properties.h"

namespace firn::service {

/// What the process finds around it, taken once so that everything after is repeatable.
struct Surroundings {
  std::map<std::string, std::string> environment;
  std::string working_directory;
};
Surroundings ProcessSurroundings();

/// What flags say about catalogs.
struct CatalogFlags {
  std::string catalog = {};                     // --catalog
  ports::Properties properties = {};            // --property KEY=VALUE
  std::vector<ports::LocationRule> rules = {};  // --map FROM=TO
  std::string file = {};                        // --config
};

/// From the texts of the flags; kInvalidArgument names the one that is wrong, never its value.
Result<CatalogFlags> ParseCatalogFlags(std::string catalog, std::string file,
                                       const std::vector<std::string>& properties,
                                       const std::vector<std::string>& maps);

struct CatalogSettings {
  std::string name;
  std::string type;  // "rest", "sql", "glue", "hive" or "hadoop"
  ports::Properties properties;
};

/// Names in lower case, as PyIceberg compares them.
struct ConfigurationTree {
  ports::Properties top;  // "default-catalog", "max-workers", ...
  std::map<std::string, ports::Properties> catalogs;
  ports::Properties own;               // section `firn`
  std::vector<std::string> own_rules;  // firn.map
};

class Configuration {
 public:
  static Result<Configuration> Load(const Surroundings& surroundings, CatalogFlags flags);

  /// --catalog, else `default-catalog`, else the only one that there is, else "default".
  std::string default_catalog() const;
  bool names_catalog_by_flag() const { return !flags_.catalog.empty(); }
  bool HasCatalog(std::string_view name) const;
  std::vector<std::string> catalog_names() const;
  /// With defaults of storage variables below, and flags above. Flags belong to the default catalog.
  Result<CatalogSettings> Catalog(const std::string& name) const;
  /// Properties for storage alone, when a table is given by its path.
  ports::Properties StorageProperties() const;
  const std::vector<ports::LocationRule>& rules() const { return rules_; }
  /// firn's own section, without `map`.
  const ports::Properties& settings() const { return tree_.own; }
  /// "looked at flags, ...": for messages.
  std::string SearchedText(std::string_view catalog) const;

 private:
  CatalogFlags flags_;
  ConfigurationTree tree_;
  ports::Properties variables_;
  std::vector<ports::LocationRule> rules_;
  std::vector<std::string> searched_files_;
};

/// YAML text of `file` into `tree`.
Status ReadConfigurationText(const std::string& file, const std::string& text, ConfigurationTree& tree);
/// PYICEBERG_* variables into `tree`, over what is there.
Status ReadConfigurationVariables(const std::map<std::string, std::string>& environment, ConfigurationTree& tree);
/// Storage properties of AWS_*, AZURE_STORAGE_* and STORAGE_EMULATOR_HOST.
ports::Properties StorageVariables(const std::map<std::string, std::string>& environment);
/// `properties` over those of variables. Credentials of variables count only together, and only where there are none.
ports::Properties OverVariables(ports::Properties variables, const ports::Properties& properties);

}  // namespace firn::service
