// SPDX-License-Identifier: Apache-2.0
//
// Encodes PLAIN values as one of the other encodings, for columns whose inputs have it or whose table allows it.
//
// In: PLAIN values of one page. Out: the value section of a page.
// Guarantees: decodes to the same bytes. Blocks of 128 values in 4 miniblocks, as most writers do.
// Cost: about 1 to 2 ns a value, far less than the compressor saves. Threads: pure.
// Errors: kInternal for a type that the encoding does not take: the caller has chosen.
// Source: Encodings.md "Delta Encoding", "Delta-length byte array", "Delta Strings", "Byte Stream Split".
#pragma once

#include "base/result.h"
#include "splice/output_column.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

/// Whether EncodePlainAs writes `encoding` for columns of this type.
bool CanEncode(parquet::Encoding encoding, parquet::PhysicalType type);

Status EncodePlainAs(parquet::Encoding encoding, const OutputColumn& column, ByteView plain, std::size_t count,
                     RawBuffer& out);

}  // namespace firn::splice
