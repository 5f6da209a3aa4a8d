// SPDX-License-Identifier: Apache-2.0
//
// Files of Azure Blob Storage and Data Lake Storage Gen2, through Arrow's client.
//
// In: "abfss://container@account.dfs.core.windows.net/path" (also abfs, wasb, wasbs; without "@..." the account is that
//   of the properties), paths as raw bytes; properties of azure_account.h. Without credentials the usual Azure chain is
//   asked (environment, workload identity, managed identity, command line).
// Out: as file_io.h says. Guarantees: those of arrow_file_io.h; with a key or a shared access signature metadata files
// are
//   made by conditional requests (conditional_file_io.h), otherwise CheckExclusive refuses. A file of more than 8 MiB
//   is there, not whole, before Close.
// Cost: as arrow_file_io.h; a file is deleted by one request where there is a key or a shared access signature.
// Threads: any.
// Errors: those of azure_account.h.
// Source: arrow/filesystem/azurefs.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ports/file_io.h"
#include "ports/properties.h"

namespace firn::ports {

bool IsAzureScheme(std::string_view scheme);
/// "account.dfs.core.windows.net" of a location; empty when it names none.
std::string_view AzureHostOf(std::string_view location);
/// For locations whose host is `host`.
Result<std::unique_ptr<FileIO>> OpenAzureFileIO(const Properties& properties, const std::string& host);

}  // namespace firn::ports
