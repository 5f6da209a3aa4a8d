// SPDX-License-Identifier: Apache-2.0
// Writes an Arrow file as Parquet with arrow-go: parquetgo IN.arrow OUT.parquet '{"codec":"zstd",...}'.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

type options struct {
	Codec      string `json:"codec"`
	Dictionary bool   `json:"dictionary"`
	V2         bool   `json:"v2"`
	Page       int64  `json:"page"`
	Rows       int64  `json:"rows"`
}

func run(source, target string, chosen options) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	reader, err := ipc.NewFileReader(in)
	if err != nil {
		return err
	}
	defer reader.Close()
	var records []arrow.Record
	for i := 0; i < reader.NumRecords(); i++ {
		record, err := reader.RecordAt(i)
		if err != nil {
			return err
		}
		records = append(records, record)
	}
	table := array.NewTableFromRecords(reader.Schema(), records)
	defer table.Release()
	codecs := map[string]compress.Compression{"zstd": compress.Codecs.Zstd, "snappy": compress.Codecs.Snappy, "gzip": compress.Codecs.Gzip,
		"uncompressed": compress.Codecs.Uncompressed}
	version := parquet.DataPageV1
	if chosen.V2 {
		version = parquet.DataPageV2
	}
	properties := parquet.NewWriterProperties(parquet.WithCompression(codecs[chosen.Codec]),
		parquet.WithDictionaryDefault(chosen.Dictionary), parquet.WithDataPageVersion(version),
		parquet.WithDataPageSize(chosen.Page), parquet.WithMaxRowGroupLength(chosen.Rows), parquet.WithStoreDecimalAsInteger(true))
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	return pqarrow.WriteTable(table, out, chosen.Rows, properties, pqarrow.NewArrowWriterProperties())
}

func main() {
	var chosen options
	err := json.Unmarshal([]byte(os.Args[3]), &chosen)
	if err == nil {
		err = run(os.Args[1], os.Args[2], chosen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
