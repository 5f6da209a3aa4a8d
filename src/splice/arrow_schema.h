// SPDX-License-Identifier: Apache-2.0
//
// Asks Arrow whether it can read a file's schema, with the Arrow schema that its own writers add to the footer.
//
// In: footers, in the order of the inputs. Out: whether readers that are made of Arrow refuse the file for its schema.
// Guarantees: what Arrow says that it does not implement passes, and so do Arrow types that this version does not know.
// Why: little of a schema is needed to move values, and a merged file gets a schema that is right, but readers refuse a
//   file whose schema is damaged. Bytes around it may be damaged too without anything that shows it, and a merge would
//   hide the only sign.
// Cost: writing the schema as thrift and a comparison for a schema equal to the one before; else some microseconds a
//   column.
// Errors: kCorrupt without a place: the caller adds it.
// Threads: one owner.
// Source: LogicalTypes.md; Arrow columnar format, "Encapsulated message format" (under the key ARROW:schema).
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/metadata.h"

namespace firn::splice {

class ArrowSchemaCheck {
 public:
  Status Check(const parquet::FileMetaData& footer);

 private:
  Bytes last_good_;
};

}  // namespace firn::splice
