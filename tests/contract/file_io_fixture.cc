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
#include "ports/routed_file_io.h"

namespace firn::contract {
namespace {

constexpr std::size_t kSmallPage = 3;

FileIOFixture Memory() {
  auto io = std::make_unique<ports::MemoryFileIO>();
  io->set_page_files(kSmallPage);
  return {.io = std::move(io), .root = "mem://root/", .owner = nullptr};
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
  return {.io = std::make_unique<ports::HookedFileIO>(memory, pass), .root = "/hooked/", .owner = nullptr};
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
  return {.io = std::make_unique<ports::RoutedFileIO>(properties),
          .root = root,
          .has_backslash = false,
          .sorted = false,
          .any_key = false,
          .owner = nullptr};
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
  };
  if (std::getenv("FIRN_TEST_S3_ENDPOINT")) {
    cases.push_back({"S3", [] { return S3("s3"); }});
    cases.push_back({"S3a", [] { return S3("s3a"); }});
  }
  return cases;
}

std::vector<std::string> FileIOsLeftOut() {
  if (std::getenv("FIRN_TEST_S3_ENDPOINT")) return {};
  return {"FileIO on S3: set FIRN_TEST_S3_ENDPOINT, _ACCESS_KEY, _SECRET_KEY, _BUCKET"};
}

}  // namespace firn::contract
