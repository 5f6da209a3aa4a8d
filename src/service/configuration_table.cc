// SPDX-License-Identifier: Apache-2.0
#include "service/configuration_table.h"

#include <fmt/format.h>

#include <filesystem>

#include "ports/glue_catalog.h"
#include "ports/hadoop_catalog.h"
#include "ports/hadoop_versions.h"
#include "ports/hive_catalog.h"
#include "ports/location.h"
#include "ports/metadata_file.h"
#include "ports/rest_catalog.h"
#include "ports/routed_file_io.h"
#include "ports/sql_catalog.h"
#include "ports/static_catalog.h"

namespace firn::service {
namespace {

/// What lies in the metadata folder of a directory.
struct MetadataFolder {
  std::optional<std::int64_t> hadoop_version;
  std::int64_t unique_version = -1;  // highest N of NNNNN-UUID.metadata.json
  std::vector<std::string> newest;   // files of that version
  std::vector<std::string> others;   // metadata files with other names
};

Result<MetadataFolder> ScanMetadataFolder(ports::FileIO& io, const std::string& folder) {
  MetadataFolder found;
  std::string page;
  do {
    FIRN_ASSIGN(const ports::ListPage files, io.List(ports::AsPrefix(folder), page));
    for (const ports::FileInfo& file : files.files) {
      if (ports::ParentOf(file.location) != folder || !ports::IsMetadataFileName(file.location)) continue;
      if (const auto hadoop = ports::HadoopVersionNumber(file.location)) {
        if (found.hadoop_version && *found.hadoop_version >= *hadoop) continue;
        found.hadoop_version = hadoop;
      } else if (const auto version = ports::MetadataVersion(file.location); !version) {
        found.others.push_back(file.location);
      } else if (*version >= found.unique_version) {
        if (*version > found.unique_version) found.newest.clear();
        found.unique_version = *version;
        found.newest.push_back(file.location);
      }
    }
    page = files.next_page;
  } while (!page.empty());
  return found;
}

bool IsLocation(const std::string& table) {
  if (!ports::SchemeOf(table).empty() || table.find('/') != std::string::npos) return true;
  if (ports::IsMetadataFileName(table) || table == "." || table == "..") return true;
  // A plain word: a directory of that name, if there is one. Names in catalogs have a dot.
  std::error_code ignored;
  return table.find('.') == std::string::npos && std::filesystem::is_directory(table, ignored);
}

OpenedTable ReadOnly(std::shared_ptr<ports::FileIO> io, std::string metadata_location) {
  return {std::make_shared<ports::StaticCatalog>(std::move(io)), {{}, std::move(metadata_location)}};
}

/// The newest of several metadata files that a catalog has written; the catalog is not known here.
Result<std::string> NewestOf(const MetadataFolder& folder, const std::string& directory) {
  const std::vector<std::string>& candidates = folder.newest.empty() ? folder.others : folder.newest;
  if (candidates.size() == 1) return candidates.front();
  return Error{Code::kInvalidArgument,
               fmt::format("{}: which metadata file is current is known only to the table's catalog (for example {} or "
                           "{}): name the table through it, or give the file",
                           directory, candidates[0], candidates[1])};
}

Result<OpenedTable> OpenDirectory(const Configuration& configuration, const std::string& given,
                                  const CatalogEnvironment& environment) {
  const std::string directory(ports::WithoutSlash(given));
  const std::string metadata_folder = ports::Join(directory, "metadata");
  const auto make_io = ports::StandardFileIO(configuration.rules());
  FIRN_ASSIGN(auto io, make_io(configuration.StorageProperties()));
  FIRN_ASSIGN(const MetadataFolder folder, ScanMetadataFolder(*io, metadata_folder));
  if (folder.hadoop_version && !folder.newest.empty()) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("{}: holds versions of a directory table (v{}) and files of another catalog ({}): name the "
                    "table through its catalog, or give the metadata file",
                    directory, *folder.hadoop_version, folder.newest.front())};
  }
  if (folder.hadoop_version) {
    FIRN_ASSIGN(auto catalog,
                ports::HadoopCatalog::Open("directory", configuration.StorageProperties(), make_io, environment.clock));
    return OpenedTable{std::move(catalog), {{}, directory}};
  }
  if (folder.newest.empty() && folder.others.empty()) {
    return Error{Code::kNotFound,
                 fmt::format("{}: no table there: looked for {}/vN.metadata.json and NNNNN-*.metadata.json", directory,
                             metadata_folder)};
  }
  FIRN_ASSIGN(std::string newest, NewestOf(folder, directory));
  return ReadOnly(std::move(io), std::move(newest));
}

Result<OpenedTable> OpenLocation(const Configuration& configuration, const std::string& location,
                                 const CatalogEnvironment& environment) {
  if (!ports::IsMetadataFileName(location)) return OpenDirectory(configuration, location, environment);
  const auto make_io = ports::StandardFileIO(configuration.rules());
  FIRN_ASSIGN(auto io, make_io(configuration.StorageProperties()));
  return ReadOnly(std::move(io), location);
}

}  // namespace

Result<std::shared_ptr<ports::Catalog>> OpenCatalog(const Configuration& configuration, const std::string& name,
                                                    const CatalogEnvironment& environment) {
  FIRN_ASSIGN(const CatalogSettings settings, configuration.Catalog(name));
  auto make_io = ports::StandardFileIO(configuration.rules());
  Result<std::shared_ptr<ports::Catalog>> opened = Error{Code::kInternal, "unknown type " + settings.type};
  std::shared_ptr<ports::Http> http = environment.http;
  if (!http && (settings.type == "rest" || settings.type == "glue")) {
    FIRN_ASSIGN(http, ports::MakeRestHttp(settings.properties, environment.stop));
  }
  if (settings.type == "rest") {
    opened = ports::RestCatalog::Open(name, settings.properties, std::move(http), std::move(make_io), environment.clock,
                                      environment.seed);
  } else if (settings.type == "glue") {
    opened = ports::GlueCatalog::Open(name, settings.properties, std::move(http), make_io, environment.clock,
                                      environment.seed);
  } else if (settings.type == "hive") {
    opened = ports::HiveCatalog::Open(name, settings.properties, make_io, environment.clock, environment.seed,
                                      environment.stop);
  } else if (settings.type == "sql") {
    opened = ports::SqlCatalog::Open(name, settings.properties, make_io, environment.clock, environment.seed);
  } else if (settings.type == "hadoop") {
    opened = ports::HadoopCatalog::Open(name, settings.properties, make_io, environment.clock);
  }
  if (!opened) return std::move(opened.error()).In("catalog `" + name + "`");
  return opened;
}

Result<std::shared_ptr<PolicySource>> OpenPolicies(const Configuration& configuration, const std::string& name,
                                                   const CatalogEnvironment& environment) {
  FIRN_ASSIGN(const CatalogSettings settings, configuration.Catalog(name));
  const std::string wanted = ports::PropertyOr(settings.properties, kPolarisPoliciesProperty, "auto");
  if (wanted != "auto" && wanted != "true" && wanted != "false") {
    return Error{Code::kInvalidArgument, fmt::format("catalog `{}`: property `{}` is \"{}\", not auto, true or false",
                                                     name, kPolarisPoliciesProperty, wanted)};
  }
  if (settings.type != "rest" || wanted == "false") return std::shared_ptr<PolicySource>();
  std::shared_ptr<ports::Http> http = environment.http;
  if (!http) {
    FIRN_ASSIGN(http, ports::MakeRestHttp(settings.properties, environment.stop));
  }
  FIRN_ASSIGN(auto made, PolarisPolicies::Make(settings.properties, std::move(http), environment.clock,
                                               /*has_to_list=*/wanted == "auto"));
  return std::shared_ptr<PolicySource>(std::move(made));
}

Result<OpenedTable> OpenTable(const Configuration& configuration, const std::string& table,
                              const CatalogEnvironment& environment) {
  if (table.empty()) return Error{Code::kInvalidArgument, "no table is given"};
  if (IsLocation(table)) return OpenLocation(configuration, table, environment);
  FIRN_ASSIGN(ports::TableIdentifier id, ports::ParseTableIdentifier(table));
  std::string catalog = configuration.default_catalog();
  // "a.b.t" is table t of a.b, unless a is a catalog.
  if (!configuration.names_catalog_by_flag() && id.name_space.size() >= 2 &&
      configuration.HasCatalog(id.name_space.front())) {
    catalog = id.name_space.front();
    id.name_space.erase(id.name_space.begin());
  }
  if (id.name_space.empty()) {
    return Error{
        Code::kInvalidArgument,
        fmt::format("table `{}`: write NAMESPACE.TABLE, CATALOG.NAMESPACE.TABLE, a directory (with a slash), a "
                    "metadata file or a location",
                    table)};
  }
  std::string context = "table `" + table + "`";
  // Its first part was meant as a catalog, perhaps; none has that name.
  if (!configuration.HasCatalog(catalog) && !configuration.names_catalog_by_flag() && id.name_space.size() >= 2) {
    context += fmt::format(": no catalog `{}`, and to find it in the default one", id.name_space.front());
  }
  FIRN_ASSIGN(auto opened, OpenCatalog(configuration, catalog, environment).In(context));
  return OpenedTable{std::move(opened), std::move(id)};
}

}  // namespace firn::service
