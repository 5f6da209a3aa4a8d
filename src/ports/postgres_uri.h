// SPDX-License-Identifier: Apache-2.0
//
// What PyIceberg and Java call a PostgreSQL database, as libpq calls it.
//
// In: property uri: "postgresql://user:password@host:port/db?sslmode=require", "postgresql+DRIVER://..." (SQLAlchemy),
//   "jdbc:postgresql://host/db?user=..." with jdbc.user, jdbc.password. Out: a URI of libpq.
// Guarantees: messages name parameters, never values. A parameter that would change how the connection is made and is
//   not understood is refused.
// Errors: kUnsupported (a parameter), kInvalidArgument (no PostgreSQL URI).
// Threads: pure.
// Source: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING; SQLAlchemy engine/url.py; the
//   parameters of pgjdbc, https://jdbc.postgresql.org/documentation/use/.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/properties.h"

namespace firn::ports {

bool IsPostgresUri(std::string_view uri);

/// From `uri` and, for JDBC, `jdbc.*`; what the uri says goes before.
Result<std::string> PostgresUri(const Properties& properties);

}  // namespace firn::ports
