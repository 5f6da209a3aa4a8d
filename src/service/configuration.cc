// SPDX-License-Identifier: Apache-2.0
#include "service/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/log.h"
#include "ports/local_file_io.h"
#include "ports/location.h"

namespace firn::service {
namespace {

constexpr std::string_view kFileName = ".pyiceberg.yaml";
constexpr std::uint64_t kFileBytesMax = 1 << 20;

std::string Variable(const Surroundings& surroundings, const char* name) {
  const auto found = surroundings.environment.find(name);
  return found == surroundings.environment.end() ? "" : found->second;
}

/// What a kind is called by PyIceberg and by Java.
Result<std::string> TypeOf(const std::string& name, const ports::Properties& properties) {
  const std::string type = AsciiLower(ports::PropertyOr(properties, "type", ""));
  if (type == "rest" || type == "sql" || type == "hadoop" || type == "glue" || type == "hive") return type;
  if (type == "jdbc") return std::string("sql");
  if (!type.empty()) {
    return Error{Code::kUnsupported, fmt::format("catalog `{}`: type `{}` is not supported, only rest, sql, glue, "
                                                 "hive and hadoop",
                                                 name, type)};
  }
  const std::string uri = ports::PropertyOr(properties, "uri", "");
  if (uri.starts_with("http")) return std::string("rest");
  if (uri.starts_with("sqlite") || uri.starts_with("postgresql") || uri.starts_with("jdbc:")) return std::string("sql");
  if (uri.starts_with("thrift")) return std::string("hive");
  return Error{Code::kInvalidArgument,
               uri.empty()
                   ? fmt::format("catalog `{}`: set `uri`, `type: glue`, or `type: hadoop` with `warehouse`", name)
                   : fmt::format("catalog `{}`: the kind does not follow from uri `{}`: set `type`", name,
                                 ports::WithoutCredentials(uri))};
}

/// Keys that name Python classes: what such a catalog does is not known here.
Status CheckPythonClasses(const std::string& name, const ports::Properties& properties) {
  if (const std::string* catalog = ports::FindFirstProperty(properties, {"py-catalog-impl"})) {
    return Error{Code::kUnsupported,
                 fmt::format("catalog `{}`: `py-catalog-impl` names the Python class {}, which "
                             "cannot be used: set `type` to rest, sql, glue, hive or hadoop in its place",
                             name, *catalog)};
  }
  const std::string* io = ports::FindFirstProperty(properties, {"py-io-impl"});
  if (io == nullptr || *io == "pyiceberg.io.pyarrow.PyArrowFileIO" || *io == "pyiceberg.io.fsspec.FsspecFileIO") {
    return Ok();
  }
  Log(LogLevel::kWarn,
      fmt::format("catalog `{}`: `py-io-impl` {} is not used: files are read and written without it", name, *io));
  return Ok();
}

}  // namespace

Result<CatalogFlags> ParseCatalogFlags(std::string catalog, std::string file,
                                       const std::vector<std::string>& properties,
                                       const std::vector<std::string>& maps) {
  CatalogFlags flags{.catalog = std::move(catalog), .properties = {}, .rules = {}, .file = std::move(file)};
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const std::size_t equals = properties[i].find('=');
    if (equals == std::string::npos || equals == 0) {
      return Error{Code::kInvalidArgument, fmt::format("--property number {}: write KEY=VALUE", i + 1)};
    }
    flags.properties.insert_or_assign(properties[i].substr(0, equals), properties[i].substr(equals + 1));
  }
  for (const std::string& text : maps) {
    FIRN_ASSIGN(ports::LocationRule rule, ports::ParseLocationRule(text).In("--map"));
    flags.rules.push_back(std::move(rule));
  }
  return flags;
}

Result<Configuration> Configuration::Load(const Surroundings& surroundings, CatalogFlags flags) {
  Configuration made;
  made.variables_ = StorageVariables(surroundings.environment);
  std::vector<std::string> files;
  if (!flags.file.empty()) {
    files = {flags.file};
  } else {
    for (const std::string& folder :
         {Variable(surroundings, "PYICEBERG_HOME"), Variable(surroundings, "HOME"), surroundings.working_directory}) {
      if (!folder.empty()) files.push_back(ports::Join(folder, kFileName));
    }
  }
  ports::LocalFileIO io;
  for (const std::string& file : files) {
    const auto bytes = ports::ReadFile(io, file, kFileBytesMax);
    if (!bytes && (bytes.error().code != Code::kNotFound || !flags.file.empty())) return bytes.error();
    made.searched_files_.push_back(file + (bytes ? "" : " (no such file)"));
    if (!bytes) continue;
    FIRN_TRY(ReadConfigurationText(file, std::string(AsText(*bytes)), made.tree_));
    const bool empty = made.tree_.top.empty() && made.tree_.catalogs.empty() && made.tree_.own.empty();
    if (!empty) break;
  }
  FIRN_TRY(ReadConfigurationVariables(surroundings.environment, made.tree_));
  made.rules_ = flags.rules;
  for (const std::string& text : made.tree_.own_rules) {
    FIRN_ASSIGN(ports::LocationRule rule, ports::ParseLocationRule(text));
    made.rules_.push_back(std::move(rule));
  }
  made.flags_ = std::move(flags);
  return made;
}

std::string Configuration::default_catalog() const {
  if (!flags_.catalog.empty()) return flags_.catalog;
  const std::string* name = ports::FindFirstProperty(tree_.top, {"default-catalog"});
  if (name) return *name;
  // Properties of the command line alone are those of a catalog that no file has.
  const bool is_alone = tree_.catalogs.size() == 1 && flags_.properties.empty();
  return is_alone ? tree_.catalogs.begin()->first : "default";
}

bool Configuration::HasCatalog(std::string_view name) const {
  const std::string lower = AsciiLower(name);
  return tree_.catalogs.contains(lower) || (!flags_.properties.empty() && lower == AsciiLower(default_catalog()));
}

std::vector<std::string> Configuration::catalog_names() const {
  std::vector<std::string> names;
  for (const auto& [name, properties] : tree_.catalogs) names.push_back(name);
  return names;
}

Result<CatalogSettings> Configuration::Catalog(const std::string& name) const {
  if (!HasCatalog(name)) {
    std::string message = fmt::format("no catalog `{}`: {}", name, SearchedText(name));
    if (!tree_.catalogs.empty()) {
      message += fmt::format("; there are: {}", fmt::join(catalog_names(), ", "));
      if (flags_.catalog.empty()) {
        message += fmt::format(
            ": choose by --catalog {0}, by the setting `default-catalog`, or by the table's name: "
            "{0}.db.table",
            tree_.catalogs.begin()->first);
      }
    }
    return Error{Code::kNotFound, std::move(message)};
  }
  ports::Properties properties;
  const std::string lower = AsciiLower(name);
  if (const auto found = tree_.catalogs.find(lower); found != tree_.catalogs.end()) properties = found->second;
  if (lower == AsciiLower(default_catalog())) properties = ports::Merged(std::move(properties), flags_.properties);
  FIRN_TRY(CheckPythonClasses(name, properties));
  FIRN_ASSIGN(std::string type, TypeOf(name, properties));
  return CatalogSettings{name, std::move(type), OverVariables(variables_, properties)};
}

ports::Properties Configuration::StorageProperties() const {
  // Of the default catalog, if there is one: its keys open the store that a path of it is in.
  const auto found = tree_.catalogs.find(AsciiLower(default_catalog()));
  const ports::Properties below = found == tree_.catalogs.end() ? ports::Properties{} : found->second;
  return OverVariables(variables_, ports::Merged(below, flags_.properties));
}

std::string Configuration::SearchedText(std::string_view catalog) const {
  std::string variable = AsciiUpper(catalog);
  std::ranges::replace(variable, '-', '_');
  return fmt::format("looked at flags (--property), environment variables PYICEBERG_CATALOG__{}__*, and {}", variable,
                     searched_files_.empty() ? "no file" : fmt::format("{}", fmt::join(searched_files_, ", ")));
}

}  // namespace firn::service
