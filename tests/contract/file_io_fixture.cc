// SPDX-License-Identifier: Apache-2.0
#include "contract/file_io_fixture.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "contract/scratch_directory.h"
#include "ports/hooked_file_io.h"
#include "ports/local_file_io.h"
#include "ports/mapped_file_io.h"
#include "ports/memory_file_io.h"
#include "ports/renewed_file_io.h"
#include "ports/routed_file_io.h"

namespace firn::contract {
namespace {

constexpr std::size_t kSmallPage = 3;

FileIOFixture Memory() {
  auto io = std::make_unique<ports::MemoryFileIO>();
  io->set_page_files(kSmallPage);
  return {.io = std::move(io), .root = "mem://root/", .copies_ranges = true, .owner = nullptr};
}

FileIOFixture Local(const std::string& scheme, bool anonymous) {
  auto directory = std::make_shared<ScratchDirectory>();
  auto io = std::make_unique<ports::LocalFileIO>();
  io->set_page_files(kSmallPage);
  io->set_anonymous_files(anonymous);
  return {.io = std::move(io), .root = scheme + directory->path() + "/", .any_key = false, .owner = directory};
}

FileIOFixture Mapped() {
  auto directory = std::make_shared<ScratchDirectory>();
  auto local = std::make_shared<ports::LocalFileIO>();
  local->set_page_files(kSmallPage);
  // Both sides name the same place, so that writing is allowed.
  std::vector<ports::LocationRule> rules = {{"file:" + directory->path(), directory->path()}};
  return {.io = std::make_unique<ports::MappedFileIO>(local, rules),
          .root = "file:" + directory->path() + "/",
          .any_key = false,
          .owner = directory};
}

FileIOFixture Hooked() {
  auto memory = std::make_shared<ports::MemoryFileIO>();
  memory->set_page_files(kSmallPage);
  const auto pass = [](const ports::IoEvent&) { return Ok(); };
  return {.io = std::make_unique<ports::HookedFileIO>(memory, pass),
          .root = "/hooked/",
          .copies_ranges = true,
          .owner = nullptr};
}

/// Both names are those of one place.
FileIOFixture MappedMemory() {
  auto memory = std::make_shared<ports::MemoryFileIO>();
  memory->set_page_files(kSmallPage);
  std::vector<ports::LocationRule> rules = {{"s3a://b", "s3://b"}};
  return {.io = std::make_unique<ports::MappedFileIO>(memory, rules),
          .root = "s3a://b/mapped/",
          .copies_ranges = true,
          .owner = nullptr};
}

FileIOFixture Renewed() {
  static ports::SystemClock clock;
  auto memory = std::make_shared<ports::MemoryFileIO>();
  memory->set_page_files(kSmallPage);
  const auto renew = [memory]() -> Result<ports::EndingFileIO> { return ports::EndingFileIO{memory, {0}}; };
  return {.io = std::make_unique<ports::RenewedFileIO>(ports::EndingFileIO{memory, {0}}, renew, clock),
          .root = "/renewed/",
          .copies_ranges = true,
          .owner = nullptr};
}

std::string Variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value ? value : fallback;
}

FileIOFixture S3(const std::string& scheme) {
  static std::atomic<int> counter = 0;
  const ports::Properties properties = {{"s3.endpoint", Variable("FIRN_TEST_S3_ENDPOINT", "")},
                                        {"s3.access-key-id", Variable("FIRN_TEST_S3_ACCESS_KEY", "")},
                                        {"s3.secret-access-key", Variable("FIRN_TEST_S3_SECRET_KEY", "")},
                                        {"s3.region", Variable("FIRN_TEST_S3_REGION", "us-east-1")}};
  const std::string root = scheme + "://" + Variable("FIRN_TEST_S3_BUCKET", "firn") + "/contract-" +
                           std::to_string(::getpid()) + "-" + std::to_string(++counter) + "/";
  const ports::Properties wrong = {{"s3.secret-access-key", "of-somebody-else"}};
  return {.io = std::make_unique<ports::RoutedFileIO>(properties),
          .refused = std::make_unique<ports::RoutedFileIO>(ports::Merged(properties, wrong)),
          .root = root,
          .has_backslash = false,
          .sorted = false,
          .any_key = false,
          .copies_ranges = true,
          .owner = nullptr};
}

FileIOFixture Cloud(const std::string& bucket, const ports::Properties& properties, const ports::Properties& wrong,
                    bool has_backslash) {
  static std::atomic<int> counter = 0;
  const std::string root = bucket + "/contract-" + std::to_string(::getpid()) + "-" + std::to_string(++counter) + "/";
  return {.io = std::make_unique<ports::RoutedFileIO>(properties),
          .refused = std::make_unique<ports::RoutedFileIO>(ports::Merged(properties, wrong)),
          .root = root,
          .has_backslash = has_backslash,
          .sorted = false,
          .any_key = false,
          .owner = nullptr};
}

FileIOFixture Gcs() {
  return Cloud("gs://" + Variable("FIRN_TEST_GCS_BUCKET", "firn"),
               {{"gcs.service.host", Variable("FIRN_TEST_GCS_ENDPOINT", "")},
                {"gcs.oauth2.token", Variable("FIRN_TEST_GCS_TOKEN", "")}},
               {{"gcs.oauth2.token", "of-somebody-else"}}, true);
}

/// A backslash becomes a slash there. By key or by shared access signature.
FileIOFixture Azure(bool by_key) {
  const std::string account = Variable("FIRN_TEST_AZURE_ACCOUNT", "");
  const std::string authority = Variable("FIRN_TEST_AZURE_AUTHORITY", "");
  const std::string host = account + ".dfs.core.windows.net";
  const std::string bucket = "abfs://" + Variable("FIRN_TEST_AZURE_CONTAINER", "firn") + "@" + host;
  ports::Properties properties = {{"adls.account-name", account},
                                  {"adls.blob-storage-authority", authority},
                                  {"adls.dfs-storage-authority", authority},
                                  {"adls.blob-storage-scheme", "http"},
                                  {"adls.dfs-storage-scheme", "http"}};
  if (by_key) {
    properties["adls.account-key"] = Variable("FIRN_TEST_AZURE_KEY", "");
    return Cloud(bucket, properties, {{"adls.account-key", "d3Jvbmc="}}, false);
  }
  const std::string sas = Variable("FIRN_TEST_AZURE_SAS", "");
  properties["adls.sas-token." + host] = sas;
  return Cloud(bucket, properties, {{"adls.sas-token." + host, sas.substr(0, sas.find("sig=")) + "sig=d3Jvbmc%3D"}},
               false);
}

}  // namespace

std::vector<FileIOCase> FileIOCases() {
  std::vector<FileIOCase> cases = {
      {"Memory", Memory},
      {"Hooked", Hooked},
      {"LocalPath", [] { return Local("", true); }},
      {"LocalUri", [] { return Local("file://", true); }},
      {"LocalShortUriNamedTemporary", [] { return Local("file:", false); }},
      {"Mapped", Mapped},
      {"MappedMemory", MappedMemory},
      {"Renewed", Renewed},
  };
  if (std::getenv("FIRN_TEST_S3_ENDPOINT")) {
    cases.push_back({"S3", [] { return S3("s3"); }});
    cases.push_back({"S3a", [] { return S3("s3a"); }});
  }
  if (std::getenv("FIRN_TEST_GCS_ENDPOINT")) cases.push_back({"Gcs", Gcs});
  if (std::getenv("FIRN_TEST_AZURE_AUTHORITY")) {
    cases.push_back({"AzureKey", [] { return Azure(true); }});
    cases.push_back({"AzureSas", [] { return Azure(false); }});
  }
  return cases;
}

std::vector<std::string> FileIOsLeftOut() {
  std::vector<std::string> left_out;
  if (!std::getenv("FIRN_TEST_S3_ENDPOINT")) {
    left_out.emplace_back("FileIO on S3: set FIRN_TEST_S3_ENDPOINT, _ACCESS_KEY, _SECRET_KEY, _BUCKET");
  }
  if (!std::getenv("FIRN_TEST_GCS_ENDPOINT"))
    left_out.emplace_back("FileIO on GCS: set FIRN_TEST_GCS_ENDPOINT, _TOKEN, _BUCKET");
  if (!std::getenv("FIRN_TEST_AZURE_AUTHORITY")) {
    left_out.emplace_back("FileIO on ADLS: set FIRN_TEST_AZURE_AUTHORITY, _ACCOUNT, _KEY, _SAS, _CONTAINER");
  }
  return left_out;
}

}  // namespace firn::contract
