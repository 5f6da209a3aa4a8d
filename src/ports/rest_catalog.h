// SPDX-License-Identifier: Apache-2.0
//
// A catalog behind the Iceberg REST protocol.
//
// In: properties uri, warehouse, prefix, token or credential (rest_authorization.h), header.*, namespace-separator,
//   rest.client.*; the server adds defaults and overrides. Out: the Catalog port.
// Guarantees: a commit is one POST with assert-table-uuid and the caller's requirements. Its answer decides: 200 with
//   metadata that can be read is success, 4xx are refusals, 409 kConflict; everything else, also a lost or unreadable
//   answer, is kOutcomeUnknown. Idempotency-Key goes with it when the server says that it knows it.
//   Credentials of a table that say when they end (vended_credentials.h) are renewed before.
// Cost: one request a load and a commit, one a renewal. FileIOs are kept by the configuration that tables come with.
// Threads: any.
// Errors: as catalog.h, with the server's text.
// Source: Iceberg REST OpenAPI.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "base/random.h"
#include "ports/catalog.h"
#include "ports/renewed_file_io.h"
#include "ports/rest_session.h"
#include "ports/routed_file_io.h"

namespace firn::ports {

class RestCatalog final : public Catalog {
 public:
  /// `clock` must live longer.
  static Result<std::shared_ptr<Catalog>> Open(std::string name, const Properties& properties,
                                               std::shared_ptr<Http> http, FileIOFactory make_io, Clock& clock,
                                               std::uint64_t seed);

  const std::string& name() const override { return name_; }
  Result<LoadedTable> LoadTable(const TableIdentifier& id) override;
  Result<LoadedTable> CommitTable(const LoadedTable& base, const TableCommit& commit) override;
  Status CheckWritable(const LoadedTable&) const override { return Ok(); }
  bool SwapsNames() const override { return false; }
  Result<std::vector<TableIdentifier>> ListTables() override;
  Result<std::shared_ptr<FileIO>> TableIO(const LoadedTable& table) override;

 private:
  RestCatalog(std::string name, std::unique_ptr<RestSession> session, FileIOFactory make_io, Clock& clock,
              std::uint64_t seed)
      : name_(std::move(name)),
        session_(std::move(session)),
        make_io_(std::move(make_io)),
        clock_(clock),
        random_(seed) {}

  std::string TablePath(const TableIdentifier& id) const;
  Properties StorageProperties(const Properties& config) const;
  Result<EndingFileIO> MakeStorage(const Properties& config);
  Result<EndingFileIO> RenewStorage(const TableIdentifier& id, const std::string& location, Properties config);
  Result<std::vector<json::Value>> ListAll(const std::string& path, HttpHeaders query, const char* member);
  Status AddTables(const std::vector<std::string>& name_space, std::vector<TableIdentifier>& tables);
  Status AddNamespaces(const std::vector<std::string>& parent, std::vector<std::vector<std::string>>& found);

  std::string name_;
  std::unique_ptr<RestSession> session_;
  FileIOFactory make_io_;
  Clock& clock_;
  std::mutex mutex_;
  Random random_;
  std::map<Properties, std::shared_ptr<FileIO>> ios_;
};

/// HTTP with what the properties say about it: rest.client.connection-timeout-ms, ssl.cabundle, ssl.client.cert,
/// ssl.client.key. `stop`: of HttpOptions.
Result<std::shared_ptr<Http>> MakeRestHttp(const Properties& properties, const std::atomic<bool>* stop = nullptr);

}  // namespace firn::ports
