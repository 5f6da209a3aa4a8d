// SPDX-License-Identifier: Apache-2.0
import static org.apache.parquet.filter2.predicate.FilterApi.*;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.*;

import java.io.*;
import java.math.BigInteger;
import java.nio.*;
import java.nio.file.Path;
import java.util.*;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.*;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.hadoop.*;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.*;
import org.apache.parquet.hadoop.metadata.*;
import org.apache.parquet.io.*;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.*;
import org.apache.parquet.schema.LogicalTypeAnnotation.*;

/**
 * Writes and reads Parquet with parquet-mr, record by record. One command a line, fields between tabs; the answer is "ok ..."
 * or "error ...", one line each:
 *   copy IN OUT key=value...   reads IN and writes its rows to OUT; codec, v2, dictionary, page, rows, blooms, ... as below
 *   filter IN                  asks for rows by values that IN has and has not, through statistics, page index, dictionaries
 *                              and Bloom filters; "ok" if as many are found as without those
 */
public final class ParquetMr {
  static final long DAY_MICROS = 86_400_000_000L, UNIX_EPOCH = 2_440_588;  // a Julian day
  static final String[] ASKED = {"eq", "gt", "ltEq"};

  public static void main(String[] args) throws IOException {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8");
    System.setOut(System.err);
    for (String line; (line = commands.readLine()) != null;) {
      String[] words = line.split("\t");
      String answer;
      try {
        answer = words[0].equals("copy") ? copy(words) : filter(words[1]);
      } catch (Exception | OutOfMemoryError | StackOverflowError error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        answer = "error " + text.toString().replace('\n', '|');
      }
      answers.println(answer.length() > 3000 ? answer.substring(0, 3000) : answer);
    }
  }

  // ---- reading

  static final class Reader extends ParquetReader.Builder<Group> {
    Reader(String path) throws IOException {
      super(new LocalInputFile(Path.of(path)), new PlainParquetConfiguration());
      usePageChecksumVerification(true);
    }

    /** Only one column is read. */
    Reader(String path, Type only) throws IOException {
      this(path);
      set(ReadSupport.PARQUET_READ_SCHEMA, new MessageType("one", only).toString());
    }

    @Override
    protected ReadSupport<Group> getReadSupport() {
      return new GroupReadSupport();
    }
  }

  static MessageType schemaOf(String path) throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(Path.of(path)))) {
      return reader.getFileMetaData().getSchema();
    }
  }

  // ---- copying

  static String copy(String[] words) throws IOException {
    Map<String, String> options = new HashMap<>();
    for (int i = 3; i < words.length; ++i) {
      String[] pair = words[i].split("=", 2);
      options.put(pair[0], pair[1]);
    }
    MessageType from = schemaOf(words[1]);
    MessageType to = new MessageType(from.getName(), changed(from.getFields(), options));
    ExampleParquetWriter.Builder builder = ExampleParquetWriter.builder(new LocalOutputFile(Path.of(words[2])));
    builder.withConf(new PlainParquetConfiguration()).withWriteMode(ParquetFileWriter.Mode.OVERWRITE);
    builder.withType(to).withCompressionCodec(CompressionCodecName.valueOf(options.getOrDefault("codec", "UNCOMPRESSED")));
    builder.withWriterVersion(flag(options, "v2") ? WriterVersion.PARQUET_2_0 : WriterVersion.PARQUET_1_0);
    builder.withDictionaryEncoding(flag(options, "dictionary")).withByteStreamSplitEncoding(flag(options, "split"));
    builder.withDictionaryPageSize(number(options, "dictionary_page", 1 << 20)).withPageSize(number(options, "page", 1 << 20));
    builder.withPageRowCountLimit(number(options, "page_rows", 20000)).withRowGroupRowCountLimit(number(options, "rows", 1 << 20));
    builder.withMinRowCountForPageSizeCheck(number(options, "check", 100));
    builder.withPageWriteChecksumEnabled(flag(options, "crc")).withStatisticsEnabled(!"0".equals(options.get("statistics")));
    if (flag(options, "blooms")) {
      builder.withBloomFilterEnabled(true).withMaxBloomFilterBytes(number(options, "bloom_bytes", 1 << 20));
      builder.withAdaptiveBloomFilterEnabled(flag(options, "adaptive"));
    }
    long rows = 0;
    try (ParquetReader<Group> reader = new Reader(words[1]).build(); ParquetWriter<Group> writer = builder.build()) {
      for (Group row; (row = reader.read()) != null; ++rows) {
        SimpleGroup made = new SimpleGroup(to);
        for (int i = 0; i < from.getFieldCount(); ++i) move(row, made, i);
        writer.write(made);
      }
    }
    return "ok " + rows;
  }

  static boolean flag(Map<String, String> options, String name) {
    return "1".equals(options.get(name));
  }

  static int number(Map<String, String> options, String name, int otherwise) {
    return Integer.parseInt(options.getOrDefault(name, "" + otherwise));
  }

  /** The types as old or other writers make them: INT96, decimals in another layout, lists of two levels. */
  static List<Type> changed(List<Type> fields, Map<String, String> options) {
    List<Type> made = new ArrayList<>();
    for (Type field : fields) {
      LogicalTypeAnnotation logical = field.getLogicalTypeAnnotation();
      if (!field.isPrimitive()) {
        GroupType group = field.asGroupType();
        List<Type> children = changed(group.getFields(), options);
        if (logical instanceof ListLogicalTypeAnnotation && flag(options, "old_lists")) {
          PrimitiveType element = children.get(0).asGroupType().getType(0).asPrimitiveType();
          children = List.of(copyOf(element, Type.Repetition.REPEATED, "array"));
        }
        made.add(group.withNewFields(children));
      } else {
        made.add(changed(field.asPrimitiveType(), logical, options));
      }
    }
    return made;
  }

  static Type copyOf(PrimitiveType from, Type.Repetition repetition, String name) {
    Types.PrimitiveBuilder<PrimitiveType> builder = Types.primitive(from.getPrimitiveTypeName(), repetition);
    if (from.getPrimitiveTypeName() == FIXED_LEN_BYTE_ARRAY) builder = builder.length(from.getTypeLength());
    PrimitiveType made = builder.as(from.getLogicalTypeAnnotation()).named(name);
    return from.getId() == null ? made : made.withId(from.getId().intValue());
  }

  static Type changed(PrimitiveType from, LogicalTypeAnnotation logical, Map<String, String> options) {
    Types.PrimitiveBuilder<PrimitiveType> builder = null;
    if (logical instanceof TimestampLogicalTypeAnnotation && flag(options, "int96")) {
      builder = Types.primitive(INT96, from.getRepetition());
    } else if (logical instanceof DecimalLogicalTypeAnnotation && options.containsKey("decimals")) {
      PrimitiveType.PrimitiveTypeName name = PrimitiveType.PrimitiveTypeName.valueOf(options.get("decimals"));
      builder = Types.primitive(name, from.getRepetition());
      if (name == FIXED_LEN_BYTE_ARRAY) builder = builder.length(number(options, "decimal_bytes", 9));
      builder = builder.as(logical);
    }
    if (builder == null) return from;
    PrimitiveType made = builder.named(from.getName());
    return from.getId() == null ? made : made.withId(from.getId().intValue());
  }

  static void move(Group in, Group out, int field) {
    Type from = in.getType().getType(field), to = out.getType().getType(field);
    for (int i = 0; i < in.getFieldRepetitionCount(field); ++i) {
      if (from.isPrimitive()) {
        add(in, field, i, from.asPrimitiveType(), out, field, to.asPrimitiveType());
        continue;
      }
      Group source = in.getGroup(field, i), made = out.addGroup(field);
      boolean two = from.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation
          && to.asGroupType().getType(0).isPrimitive() && !from.asGroupType().getType(0).isPrimitive();
      if (!two) {
        for (int child = 0; child < from.asGroupType().getFieldCount(); ++child) move(source, made, child);
        continue;
      }
      PrimitiveType element = from.asGroupType().getType(0).asGroupType().getType(0).asPrimitiveType();
      for (int n = 0; n < source.getFieldRepetitionCount(0); ++n) {
        add(source.getGroup(0, n), 0, 0, element, made, 0, to.asGroupType().getType(0).asPrimitiveType());
      }
    }
  }

  static void add(Group in, int field, int i, PrimitiveType from, Group out, int at, PrimitiveType to) {
    PrimitiveType.PrimitiveTypeName target = to.getPrimitiveTypeName();
    if (target == INT96 && from.getPrimitiveTypeName() == INT64) {
      long micros = in.getLong(field, i);
      out.add(at, new NanoTime((int) (Math.floorDiv(micros, DAY_MICROS) + UNIX_EPOCH), Math.floorMod(micros, DAY_MICROS) * 1000));
      return;
    }
    if (to.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation && target != from.getPrimitiveTypeName()) {
      addDecimal(unscaled(in, field, i, from), out, at, to);
      return;
    }
    switch (target) {
      case BOOLEAN -> out.add(at, in.getBoolean(field, i));
      case INT32 -> out.add(at, in.getInteger(field, i));
      case INT64 -> out.add(at, in.getLong(field, i));
      case FLOAT -> out.add(at, in.getFloat(field, i));
      case DOUBLE -> out.add(at, in.getDouble(field, i));
      case INT96 -> out.add(at, in.getInt96(field, i));
      default -> out.add(at, in.getBinary(field, i));
    }
  }

  static BigInteger unscaled(Group in, int field, int i, PrimitiveType type) {
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> BigInteger.valueOf(in.getInteger(field, i));
      case INT64 -> BigInteger.valueOf(in.getLong(field, i));
      default -> new BigInteger(in.getBinary(field, i).getBytes());
    };
  }

  static void addDecimal(BigInteger value, Group out, int at, PrimitiveType to) {
    switch (to.getPrimitiveTypeName()) {
      case INT32 -> out.add(at, value.intValueExact());
      case INT64 -> out.add(at, value.longValueExact());
      case BINARY -> out.add(at, Binary.fromConstantByteArray(value.toByteArray()));
      default -> {
        byte[] short_ = value.toByteArray(), full = new byte[to.getTypeLength()];
        Arrays.fill(full, (byte) (value.signum() < 0 ? -1 : 0));
        System.arraycopy(short_, 0, full, full.length - short_.length, short_.length);
        out.add(at, Binary.fromConstantByteArray(full));
      }
    }
  }

  // ---- filters

  static String filter(String path) throws IOException {
    MessageType schema = schemaOf(path);
    int questions = 0;
    for (int field = 0; field < schema.getFieldCount(); ++field) {
      Type type = schema.getType(field);
      if (!type.isPrimitive() || type.isRepetition(Type.Repetition.REPEATED)) continue;
      PrimitiveType.PrimitiveTypeName name = type.asPrimitiveType().getPrimitiveTypeName();
      if (name == BOOLEAN || name == INT96) continue;
      for (Comparable<?> value : samples(path, type)) {
        for (String word : ASKED) {
          // To parquet-mr a NaN is greater than all numbers, and bounds say nothing of it.
          if (word.equals("gt") && (name == FLOAT || name == DOUBLE)) continue;
          FilterPredicate asked = predicate(word, type.getName(), name, value);
          long plain = count(path, type, asked, false), pruned = count(path, type, asked, true);
          ++questions;
          if (plain != pruned) {
            return "error " + path + ": " + asked + ": " + pruned + " rows through statistics, indexes and filters, " + plain + " without";
          }
        }
      }
    }
    return "ok " + questions;
  }

  /** Some values of the column, from everywhere in the file, and one that is probably not there. */
  static List<Comparable<?>> samples(String path, Type type) throws IOException {
    List<Comparable<?>> all = new ArrayList<>(), some = new ArrayList<>();
    PrimitiveType.PrimitiveTypeName name = type.asPrimitiveType().getPrimitiveTypeName();
    try (ParquetReader<Group> reader = new Reader(path, type).build()) {
      for (Group row; (row = reader.read()) != null;) {
        if (row.getFieldRepetitionCount(0) == 0) continue;
        all.add(switch (name) {
          case INT32 -> row.getInteger(0, 0);
          case INT64 -> row.getLong(0, 0);
          case FLOAT -> row.getFloat(0, 0);
          case DOUBLE -> row.getDouble(0, 0);
          default -> row.getBinary(0, 0).copy();
        });
      }
    }
    for (int i = 0; i < 3 && !all.isEmpty(); ++i) some.add(all.get((all.size() - 1) * i / 2));
    some.removeIf(value -> value instanceof Float f && f.isNaN() || value instanceof Double d && d.isNaN());
    switch (name) {
      case INT32 -> some.add(123_457);
      case INT64 -> some.add(123_457L);
      case FLOAT -> some.add(0.0f);
      case DOUBLE -> some.add(-0.0);
      case BINARY -> some.add(Binary.fromString("value-5x"));
      default -> {}
    }
    return new ArrayList<>(new LinkedHashSet<>(some));
  }

  static FilterPredicate predicate(String word, String column, PrimitiveType.PrimitiveTypeName name, Comparable<?> value) {
    return switch (name) {
      case INT32 -> ask(word, intColumn(column), (Integer) value);
      case INT64 -> ask(word, longColumn(column), (Long) value);
      case FLOAT -> ask(word, floatColumn(column), (Float) value);
      case DOUBLE -> ask(word, doubleColumn(column), (Double) value);
      default -> ask(word, binaryColumn(column), (Binary) value);
    };
  }

  static <T extends Comparable<T>, C extends org.apache.parquet.filter2.predicate.Operators.Column<T>
      & org.apache.parquet.filter2.predicate.Operators.SupportsLtGt> FilterPredicate ask(String word, C column, T value) {
    return word.equals("eq") ? eq(column, value) : word.equals("gt") ? gt(column, value) : ltEq(column, value);
  }

  static long count(String path, Type type, FilterPredicate asked, boolean prune) throws IOException {
    ParquetReader.Builder<Group> builder = new Reader(path, type).withFilter(FilterCompat.get(asked)).useRecordFilter(true);
    builder.useStatsFilter(prune).useDictionaryFilter(prune).useColumnIndexFilter(prune).useBloomFilter(prune);
    long rows = 0;
    try (ParquetReader<Group> reader = builder.build()) {
      while (reader.read() != null) ++rows;
    }
    return rows;
  }
}
