// SPDX-License-Identifier: Apache-2.0
#include "act/data_location.h"

#include <fmt/format.h>

#include <bitset>
#include <string_view>

#include "base/ascii.h"
#include "iceberg/bucket_hash.h"
#include "ports/location.h"
#include "ports/metadata_file.h"

namespace firn::act {
namespace {

bool IsTrue(std::string_view text) { return AsciiLower(text) == "true"; }

const std::string* First(const iceberg::TableMetadata& metadata, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto found = metadata.properties().find(key);
    if (found != metadata.properties().end()) return &found->second;
  }
  return nullptr;
}

/// "db/table" of ".../db/table".
std::string ContextOf(std::string_view table) {
  const std::string name(ports::FileNameOf(table));
  const std::string parent(ports::FileNameOf(ports::WithoutSlash(ports::ParentOf(table))));
  return parent.empty() ? name : parent + "/" + name;
}

}  // namespace

std::string HashFolders(const std::string& name) {
  constexpr std::size_t kBits = 20, kFolderBits = 4, kFolders = 3;
  const std::string bits = std::bitset<kBits>(iceberg::Murmur3(AsBytes(name)) & ((1U << kBits) - 1)).to_string();
  std::string folders;
  for (std::size_t i = 0; i < kFolders; ++i) folders += bits.substr(i * kFolderBits, kFolderBits) + "/";
  return folders + bits.substr(kFolders * kFolderBits);
}

Result<DataLocations> DataLocations::For(const iceberg::TableMetadata& metadata) {
  for (const std::string_view key : {"write.location-provider.impl", "write.py-location-provider.impl"}) {
    if (const std::string* provider = First(metadata, {key}); provider != nullptr && !provider->empty()) {
      return Error{Code::kUnsupported,
                   fmt::format("{} = {}: where this class wants new files is not known", key, *provider)};
    }
  }
  const std::string table(ports::WithoutSlash(metadata.location()));
  DataLocations locations;
  locations.hashed_ = IsTrue(metadata.Property("write.object-storage.enabled", "false"));
  locations.partitioned_paths_ =
      !locations.hashed_ || IsTrue(metadata.Property("write.object-storage.partitioned-paths", "true"));
  const std::string* folder =
      locations.hashed_ ? First(metadata, {"write.data.path", "write.object-storage.path", "write.folder-storage.path"})
                        : First(metadata, {"write.data.path", "write.folder-storage.path"});
  locations.folder_ = ports::TableFolder(metadata, folder == nullptr || folder->empty() ? "data" : *folder);
  if (locations.hashed_ && !locations.folder_.starts_with(table)) locations.context_ = ContextOf(table);
  return locations;
}

std::string DataLocations::NewLocation(const std::string& partition_path, const std::string& file_name) const {
  const std::string name = partition_path.empty() || !partitioned_paths_ ? file_name : partition_path + "/" + file_name;
  if (!hashed_) return ports::Join(folder_, name);
  const std::string hash = HashFolders(name);
  if (!context_.empty()) return fmt::format("{}/{}/{}/{}", folder_, hash, context_, name);
  return fmt::format("{}/{}{}{}", folder_, hash, partitioned_paths_ ? '/' : '-', name);
}

}  // namespace firn::act
