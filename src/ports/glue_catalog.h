// SPDX-License-Identifier: Apache-2.0
//
// The AWS Glue Data Catalog, through its JSON API.
//
// In: properties glue.region, glue.endpoint, glue.id, glue.skip-archive, glue.access-key-id, glue.secret-access-key,
//   glue.session-token, or client.*, or AWS_* variables. Out: the Catalog port.
// Guarantees: a commit is one UpdateTable on the condition that the table's version is still the one whose
//   metadata_location was the old location; everything else in the table's entry stays. When it is not acknowledged,
//   the table is read; what that does not prove stays unknown, also after a refusal. Only tables whose table_type is
//   ICEBERG are seen.
// Cost: a load is one request, a commit two; up to five more, in three seconds, when it is not acknowledged.
// Threads: any.
// Errors: as catalog.h, with Glue's word for it.
// Source: https://docs.aws.amazon.com/glue/latest/webapi/API_UpdateTable.html; Java GlueTableOperations; PyIceberg
//   catalog/glue.py.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/json/json.h"
#include "ports/aws_signature.h"
#include "ports/pointer_catalog.h"
#include "ports/routed_file_io.h"

namespace firn::ports {

class GlueCatalog final : public PointerCatalog {
 public:
  /// `clock` must live longer.
  static Result<std::shared_ptr<Catalog>> Open(std::string name, const Properties& properties,
                                               std::shared_ptr<Http> http, const FileIOFactory& make_io, Clock& clock,
                                               std::uint64_t seed);

  bool SwapsNames() const override { return true; }
  Result<std::vector<TableIdentifier>> ListTables() override;

 private:
  GlueCatalog(std::string name, std::shared_ptr<FileIO> io, std::shared_ptr<Http> http, Clock& clock,
              std::uint64_t seed)
      : PointerCatalog(std::move(name), std::move(io), clock, seed), http_(std::move(http)), now_(clock) {}

  Result<std::string> ReadPointer(const TableIdentifier& id) override;
  Status SwapPointer(const PointerSwap& swap) override;
  Status Settle(const PointerSwap& swap, const std::string& version, Error error);
  Result<json::Value> GetTable(const TableIdentifier& id);
  Result<HttpResponse> Send(std::string_view operation, json::Value body, bool may_change);
  /// For what changes nothing.
  Result<json::Value> Call(std::string_view operation, json::Value body);
  Result<std::vector<json::Value>> ListAll(std::string_view operation, json::Value body, const char* member);

  std::shared_ptr<Http> http_;
  Clock& now_;
  AwsSigner signer_;
  std::string endpoint_;
  std::string catalog_id_;  // empty: the account of the keys
  bool skips_archive_ = true;
};

}  // namespace firn::ports
