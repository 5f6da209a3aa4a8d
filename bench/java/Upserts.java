// SPDX-License-Identifier: Apache-2.0
import java.io.*;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.*;
import org.apache.iceberg.catalog.*;
import org.apache.iceberg.data.*;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.*;
import org.apache.iceberg.encryption.*;
import org.apache.iceberg.exceptions.*;
import org.apache.iceberg.io.*;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.*;

/**
 * A change stream: every second some keys of every partition get a new value, in one RowDelta. The old row is deleted by its
 * key, or by its position while the file that the stream wrote it to is still in the table.
 * Usage: Upserts URI TABLE SECONDS PARTITIONS KEYS OUT; OUT receives the rows that the table must hold: p,k,v.
 */
public class Upserts {
  static final int EACH_SECOND = 40;

  record Place(String file, long position, int tick) {}

  final Table table;
  final Random random = new Random(11);
  final Map<Long, Long> values = new TreeMap<>();
  final Map<Long, Place> places = new HashMap<>();
  final int keys;
  long counter = 0;
  int refused = 0;

  Upserts(Table table, int keys) {
    this.table = table;
    this.keys = keys;
  }

  public static void main(String[] args) throws Exception {
    RESTCatalog catalog = new RESTCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize("rest", Map.of("uri", args[0]));
    TableIdentifier id = TableIdentifier.parse(args[1]);
    if (!catalog.namespaceExists(id.namespace())) catalog.createNamespace(id.namespace());
    Schema schema = new Schema(Types.NestedField.required(1, "p", Types.IntegerType.get()),
        Types.NestedField.required(2, "k", Types.LongType.get()), Types.NestedField.optional(3, "v", Types.LongType.get()));
    Table table = catalog.createTable(id, schema, PartitionSpec.builderFor(schema).identity("p").build(),
        Map.of("format-version", "2", "commit.retry.num-retries", "20", "write.metadata.delete-after-commit.enabled", "true"));
    Upserts stream = new Upserts(table, Integer.parseInt(args[4]));
    long start = System.currentTimeMillis();
    int commits = 0;
    for (int tick = 0; tick < Integer.parseInt(args[2]); tick++) {
      long wait = start + tick * 1000L - System.currentTimeMillis();
      if (wait > 0) Thread.sleep(wait);
      stream.commit(tick, Integer.parseInt(args[3]));
      commits++;
    }
    try (PrintWriter out = new PrintWriter(args[5] + ".part")) {
      stream.values.forEach((key, value) -> out.println(key / stream.keys + "," + key % stream.keys + "," + value));
    }
    new File(args[5] + ".part").renameTo(new File(args[5]));
    System.out.printf("commits %d refused %d rows %d%n", commits, stream.refused, stream.values.size());
  }

  void commit(int tick, int partitions) throws Exception {
    Map<Long, Long> changes = new TreeMap<>();
    for (int p = 0; p < partitions; p++)
      for (int i = 0; i < EACH_SECOND; i++) changes.put((long) p * keys + random.nextInt(keys), ++counter);
    for (boolean byPosition = true; ; byPosition = false) {
      try {
        attempt(tick, changes, byPosition);
        return;
      } catch (ValidationException e) {
        refused++; // a file that it deletes from was rewritten: by key, then
        if (!byPosition) throw e;
      }
    }
  }

  void attempt(int tick, Map<Long, Long> changes, boolean byPosition) throws Exception {
    table.refresh();
    Schema schema = table.schema();
    GenericFileWriterFactory factory = new GenericFileWriterFactory.Builder(table).dataFileFormat(FileFormat.PARQUET)
        .deleteFileFormat(FileFormat.PARQUET).equalityFieldIds(new int[] {1, 2}).equalityDeleteRowSchema(schema.select("p", "k")).build();
    RowDelta delta = table.newRowDelta();
    if (table.currentSnapshot() != null) delta.validateFromSnapshot(table.currentSnapshot().snapshotId());
    Set<String> live = byPosition ? liveFiles() : Set.of();
    Set<CharSequence> referenced = new HashSet<>();
    Map<Long, Place> written = new HashMap<>();
    Map<Integer, Map<Long, Long>> parts = new TreeMap<>();
    changes.forEach((key, value) -> parts.computeIfAbsent((int) (key / keys), p -> new TreeMap<>()).put(key, value));
    for (Map.Entry<Integer, Map<Long, Long>> part : parts.entrySet()) {
      PartitionKey partition = new PartitionKey(table.spec(), schema);
      Record first = row(schema, part.getValue().keySet().iterator().next(), 0L);
      partition.partition(first);
      DataWriter<Record> data = factory.newDataWriter(output("data"), table.spec(), partition);
      EqualityDeleteWriter<Record> equal = factory.newEqualityDeleteWriter(output("eq"), table.spec(), partition);
      TreeMap<String, TreeSet<Long>> positions = new TreeMap<>();
      long equals = 0, position = 0;
      for (Map.Entry<Long, Long> change : part.getValue().entrySet()) {
        Place place = places.get(change.getKey());
        if (place != null && live.contains(place.file())) {
          positions.computeIfAbsent(place.file(), f -> new TreeSet<>()).add(place.position());
        } else {
          Record key = GenericRecord.create(schema.select("p", "k"));
          key.setField("p", part.getKey());
          key.setField("k", change.getKey() % keys);
          equal.write(key);
          equals++;
        }
        data.write(row(schema, change.getKey(), change.getValue()));
        written.put(change.getKey(), new Place("", position++, tick));
      }
      data.close();
      equal.close();
      DataFile file = data.toDataFile();
      part.getValue().keySet().forEach(key -> written.computeIfPresent(key, (k, w) -> new Place(file.location(), w.position(), w.tick())));
      delta.addRows(file);
      if (equals > 0) delta.addDeletes(equal.toDeleteFile());
      if (!positions.isEmpty()) {
        PositionDeleteWriter<Record> deletes = factory.newPositionDeleteWriter(output("pos"), table.spec(), partition);
        PositionDelete<Record> delete = PositionDelete.create();
        positions.forEach((path, some) -> some.forEach(at -> deletes.write(delete.set(path, at))));
        deletes.close();
        delta.addDeletes(deletes.toDeleteFile());
        referenced.addAll(positions.keySet());
      }
    }
    if (!referenced.isEmpty()) delta.validateDataFilesExist(referenced);
    delta.commit();
    values.putAll(changes);
    places.putAll(written);
  }

  /** As an engine's plan of the snapshot names them. */
  Set<String> liveFiles() throws IOException {
    Set<String> live = new HashSet<>();
    if (table.currentSnapshot() == null) return live;
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      tasks.forEach(task -> live.add(task.file().location()));
    }
    return live;
  }

  Record row(Schema schema, long key, long value) {
    Record row = GenericRecord.create(schema);
    row.setField("p", (int) (key / keys));
    row.setField("k", key % keys);
    row.setField("v", value);
    return row;
  }

  EncryptedOutputFile output(String prefix) {
    return EncryptedFiles.plainAsEncryptedOutput(
        table.io().newOutputFile(table.locationProvider().newDataLocation(prefix + "-" + UUID.randomUUID() + ".parquet")));
  }
}
