// SPDX-License-Identifier: Apache-2.0
//
// Chooses which connection makes room for a new one when all are taken.
//
// In: the connections. Out: one of them that waits for its client, or none.
// Guarantees: one that is being answered, and a stream, is never chosen. Those that are idle between
//   two requests go first, since they lose nothing; then those of the address that has most, so that one address cannot
//   crowd out the others; of these the one that has been slow for longest.
// Cost: O(n log addresses). Threads: pure. Errors: none.
// Source: docs/decisions/0005-own-http-server.md.
#pragma once

#include <map>

#include "api/http_connection.h"

namespace firn::api {

using ConnectionId = std::uint64_t;
using Connections = std::map<ConnectionId, Connection>;

Connections::iterator LeastMissed(Connections& connections);

}  // namespace firn::api
