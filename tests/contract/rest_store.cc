// SPDX-License-Identifier: Apache-2.0
#include "contract/rest_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/random.h"
#include "format/json/json.h"
#include "ports/http.h"
#include "ports/rest_catalog.h"

namespace firn::contract {
namespace {

using ports::Properties;
using ports::TableIdentifier;

class RestStore final : public CatalogStore {
 public:
  RestStore() {
    has_processes = true;
    writes_files = has_unique_names = checks_base = false;
    static std::atomic<int> counter = 0;
    name_space_ = fmt::format("contract {} {}", ::getpid(), ++counter);
    if (auto http = ports::MakeCurlHttp({})) http_ = *http;
    (void)Call("POST", "namespaces", fmt::format(R"({{"namespace":["{}"],"properties":{{}}}})", name_space_));
  }

  Result<std::shared_ptr<ports::Catalog>> Open() override {
    // A client of its own, because libcurl does not survive fork().
    FIRN_ASSIGN(auto http, ports::MakeRestHttp({}));
    const std::uint64_t seed = EntropySeed();
    return ports::RestCatalog::Open("rest", {{"uri", uri_}}, std::move(http), ports::StandardFileIO(), clock_, seed);
  }

  Result<TableIdentifier> MakeTable(const std::string& name, const Properties& properties) override {
    json::Value values = json::Value::Object();
    for (const auto& [key, value] : properties) values.Set(key, value);
    FIRN_TRY(Call("POST", TablesPath(),
                  fmt::format(R"({{"name":"{}","schema":{{"type":"struct","schema-id":0,"fields":[)"
                              R"({{"id":1,"name":"id","required":false,"type":"long"}}]}},"properties":{}}})",
                              name, json::Write(values))));
    return TableIdentifier{{name_space_}, name};
  }

  Status DropTable(const TableIdentifier& id) override {
    return Call("DELETE", TablesPath() + "/" + ports::UrlEncode(id.name), "");
  }

  TableIdentifier MissingTable() const override { return {{name_space_}, "missing"}; }

 private:
  std::string TablesPath() const { return "namespaces/" + ports::UrlEncode(name_space_) + "/tables"; }

  Status Call(const std::string& method, const std::string& path, const std::string& body) {
    ports::HttpRequest request{.method = method, .url = uri_ + "/v1/" + path, .body = body};
    request.headers.emplace_back("Content-Type", "application/json");
    FIRN_ASSIGN(const ports::HttpResponse response, http_->Send(request));
    if (response.status / 100 == 2) return Ok();
    return Error{Code::kInternal, fmt::format("{} {}: {} {}", method, path, response.status, response.body)};
  }

  std::string uri_ = std::getenv("FIRN_TEST_REST_URI");
  std::string name_space_;
  std::shared_ptr<ports::Http> http_;
};

}  // namespace

std::unique_ptr<CatalogStore> MakeRestStore() { return std::make_unique<RestStore>(); }

}  // namespace firn::contract
