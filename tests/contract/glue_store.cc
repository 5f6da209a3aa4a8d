// SPDX-License-Identifier: Apache-2.0
#include "contract/glue_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "contract/scratch_directory.h"
#include "ports/aws_signature.h"
#include "ports/glue_catalog.h"
#include "ports/http.h"

namespace firn::contract {
namespace {

using ports::Properties;
using ports::TableIdentifier;

/// Keys that the tests' server takes.
Properties GlueProperties() {
  return {{"glue.endpoint", std::getenv("FIRN_TEST_GLUE_ENDPOINT")},
          {"glue.region", std::getenv("FIRN_TEST_GLUE_REGION")},
          {"glue.access-key-id", std::getenv("FIRN_TEST_GLUE_ACCESS_KEY")},
          {"glue.secret-access-key", std::getenv("FIRN_TEST_GLUE_SECRET_KEY")}};
}

class GlueStore final : public CatalogStore {
 public:
  GlueStore() {
    has_processes = true;
    static std::atomic<int> counter = 0;
    database_ = fmt::format("contract_{}_{}", ::getpid(), ++counter);
    if (auto http = ports::MakeCurlHttp({})) http_ = *http;
    (void)Call("CreateDatabase", fmt::format(R"({{"DatabaseInput":{{"Name":"{}"}}}})", database_));
  }
  ~GlueStore() override { (void)Call("DeleteDatabase", fmt::format(R"({{"Name":"{}"}})", database_)); }

  Result<std::shared_ptr<ports::Catalog>> Open() override {
    // A client of its own, because libcurl does not survive fork().
    FIRN_ASSIGN(auto http, ports::MakeCurlHttp({}));
    return ports::GlueCatalog::Open("glue", GlueProperties(), std::move(http), ports::StandardFileIO(), clock_,
                                    EntropySeed());
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    const std::string location = "file://" + directory_.path() + "/" + name;
    FIRN_ASSIGN(const std::string file, WriteEmptyTable(location, properties));
    FIRN_TRY(Call("CreateTable",
                  fmt::format(R"({{"DatabaseName":"{}","TableInput":{{"Name":"{}","TableType":"EXTERNAL_TABLE",)"
                              R"("Parameters":{{"table_type":"ICEBERG","metadata_location":"{}"}}}}}})",
                              database_, name, file)));
    FIRN_TRY(Call("CreateTable",
                  fmt::format(R"({{"DatabaseName":"{}","TableInput":{{"Name":"{}_view","TableType":"VIRTUAL_VIEW"}}}})",
                              database_, name)));
    return TableIdentifier{{database_}, name};
  }

  Status DropTable(const TableIdentifier& id) override {
    for (const std::string& name : {id.name, id.name + "_view"}) {
      FIRN_TRY(Call("DeleteTable", fmt::format(R"({{"DatabaseName":"{}","Name":"{}"}})", database_, name)));
    }
    return Ok();
  }

  TableIdentifier MissingTable() const override { return {{database_}, "missing"}; }

 private:
  Status Call(const std::string& operation, const std::string& body) {
    ports::HttpRequest request{.method = "POST", .url = std::getenv("FIRN_TEST_GLUE_ENDPOINT"), .body = body};
    request.headers = {{"Content-Type", "application/x-amz-json-1.1"}, {"X-Amz-Target", "AWSGlue." + operation}};
    FIRN_ASSIGN(const auto signer,
                ports::AwsSignerOf(GlueProperties(), "glue.", std::getenv("FIRN_TEST_GLUE_REGION"), "glue"));
    FIRN_TRY(signer.Sign(request, clock_.Now()));
    FIRN_ASSIGN(const ports::HttpResponse response, http_->Send(request));
    if (response.status == 200) return Ok();
    return Error{Code::kInternal, fmt::format("{}: {} {}", operation, response.status, response.body)};
  }

  ScratchDirectory directory_;
  std::string database_;
  std::shared_ptr<ports::Http> http_;
};

}  // namespace

std::unique_ptr<CatalogStore> MakeGlueStore() { return std::make_unique<GlueStore>(); }

}  // namespace firn::contract
