#include "py_lines.h"

#include "base/py_version.h"
#include "util/base.h"

typedef struct line_table {
  const uint8_t *at;
  const uint8_t *end;
  int64_t line;
  uint64_t unit;
  py_sp_line_run *runs; /* NULL: count only */
  size_t count;
  uint32_t last_line;
} line_table;

/* Start a run at the current unit: the instructions from here on are on
 * `line`. */
SP_HANDLER_RARE static void run_add(line_table *table, uint32_t line) {
  if (table->count > 0 && table->last_line == line)
    return;
  if (table->runs)
    table->runs[table->count] =
        (py_sp_line_run){.unit = (uint32_t)table->unit, .line = line};
  table->last_line = line;
  table->count++;
}

SP_HANDLER_RARE static uint32_t line_valid(int64_t line) {
  return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Kinds of entries of a location table: Objects/locations.md of CPython 3.11,
 * in later versions InternalDocs/code_objects.md. */
enum { ENTRY_ONE_LINE_0 = 10, ENTRY_NO_COLUMN = 13, ENTRY_LONG, ENTRY_NO_LINE };

/* Read a number of six bits per byte, lowest bits first. The bit 0x40 of a byte
 * tells that another byte follows. Stops at the table's end. */
SP_HANDLER_RARE static uint32_t varint_read(line_table *table) {
  uint32_t value = 0;
  unsigned shift = 0;
  uint8_t byte = 0x40;

  while ((byte & 0x40) && table->at < table->end) {
    byte = *table->at++;
    if (shift < 32)
      value |= (uint32_t)(byte & 0x3f) << shift;
    shift += 6;
  }
  return value;
}

SP_HANDLER_RARE static int64_t signed_varint_read(line_table *table) {
  uint32_t value = varint_read(table);

  return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

SP_HANDLER_RARE static void location_read(line_table *table) {
  uint8_t head = *table->at++;
  unsigned kind = (head >> 3) & 15;

  if (kind == ENTRY_LONG) {
    table->line += signed_varint_read(table);
    varint_read(table);
    varint_read(table);
    varint_read(table);
  } else if (kind == ENTRY_NO_COLUMN) {
    table->line += signed_varint_read(table);
  } else if (kind != ENTRY_NO_LINE && kind >= ENTRY_ONE_LINE_0) {
    table->line += kind - ENTRY_ONE_LINE_0;
    table->at += 2;
  } else if (kind != ENTRY_NO_LINE) {
    table->at += 1;
  }
  if (kind != ENTRY_NO_LINE)
    run_add(table, line_valid(table->line));
  table->unit += (head & 7u) + 1;
}

/* Read an entry of CPython 3.10: a byte with the length of the entry, and a
 * byte with the difference of its line to that of the preceding entry, or -128
 * for no line (Objects/lnotab_notes.txt). */
SP_HANDLER_RARE static void delta_read(line_table *table) {
  uint8_t reach = table->at[0];
  int8_t step = table->end - table->at > 1 ? (int8_t)table->at[1] : 0;

  table->at += 2;
  if (step != -128) {
    table->line += step;
    if (reach > 0)
      run_add(table, line_valid(table->line));
  }
  table->unit += reach / 2;
}

SP_HANDLER_RARE size_t py_sp_lines_read(const uint8_t *bytes, size_t size,
                                        int32_t first_line,
                                        py_sp_line_run *runs) {
  size_t read = size < PY_SP_LINES_BYTES_MAX ? size : PY_SP_LINES_BYTES_MAX;
  line_table table = {
      .at = bytes, .end = bytes + read, .line = first_line, .runs = runs};

  run_add(&table, line_valid(first_line));
  while (table.at < table.end) {
    if (PY_SP_VERSION_LOCATION_TABLES)
      location_read(&table);
    else
      delta_read(&table);
  }
  if (read < size)
    run_add(&table, 0);
  return table.count;
}

SP_HANDLER_CODE uint32_t py_sp_lines_find(const py_sp_line_run *runs,
                                          size_t count, uint32_t unit) {
  size_t low = 0, high = count;

  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;

    if (runs[middle].unit <= unit)
      low = middle;
    else
      high = middle;
  }
  return count ? runs[low].line : 0;
}
