// SPDX-License-Identifier: Apache-2.0
//
// Credentials of a table's storage among the properties that a REST catalog gives for it.
//
// In: properties of one table: s3.session-token with -expires-at-ms, gcs.oauth2.token with -expires-at,
//   adls.sas-token.HOST with adls.sas-token-expires-at-ms.HOST. Out: when the first of them ends; the properties
//   without them.
// Guarantees: values are in no message. Threads: pure. Errors: kInvalidArgument for an end that is no number.
// Source: REST OpenAPI, LoadTableResult; Java S3FileIOProperties, GCPProperties, AzureProperties.
#pragma once

#include "base/time.h"
#include "ports/properties.h"

namespace firn::ports {

/// 0 when nothing says that it ends.
Result<TimestampMs> VendedCredentialsEnd(const Properties& config);
/// Whether one of them is a token: those end, also where nothing says when.
bool HasVendedToken(const Properties& config);
/// Tokens and their ends; an access key id and its secret stay, because the next ones replace them.
void EraseVendedTokens(Properties& config);

}  // namespace firn::ports
