#include "file_index.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Number of files that one transaction adds. */
#define FILE_INDEX_BATCH 256

static const char file_index_schema[] =
    "PRAGMA journal_mode = WAL;"
    "PRAGMA synchronous = NORMAL;"
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE, kind TEXT,"
    "                    bytes INTEGER, packed INTEGER, sha256 TEXT);"
    "CREATE VIRTUAL TABLE words USING fts4 (content='', text);"
    "BEGIN;";

struct file_index {
  pthread_mutex_t lock;
  /* Guarded by `lock`. */
  sqlite3 *database;
  sqlite3_stmt *add_file;
  sqlite3_stmt *add_words;
  size_t in_batch;
};

static int file_index_failed(const file_index *index, const char *what) {
  fprintf(stderr, "embed: %s: %s\n", what, sqlite3_errmsg(index->database));
  return -1;
}

static int file_index_step(file_index *index, sqlite3_stmt *statement) {
  int result = sqlite3_step(statement);

  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return result == SQLITE_DONE ? 0 : file_index_failed(index, "insert");
}

static int file_index_add_locked(file_index *index, const file_record *record) {
  sqlite3_stmt *file = index->add_file;

  sqlite3_bind_text(file, 1, record->path, -1, SQLITE_STATIC);
  sqlite3_bind_text(file, 2, record->kind, -1, SQLITE_STATIC);
  sqlite3_bind_int64(file, 3, (sqlite3_int64)record->bytes);
  sqlite3_bind_int64(file, 4, (sqlite3_int64)record->packed_bytes);
  sqlite3_bind_text(file, 5, record->sha256, -1, SQLITE_STATIC);
  if (file_index_step(index, file) != 0)
    return -1;
  if (record->text) {
    sqlite3_bind_int64(index->add_words, 1,
                       sqlite3_last_insert_rowid(index->database));
    sqlite3_bind_text(index->add_words, 2, record->text,
                      (int)record->text_bytes, SQLITE_STATIC);
    if (file_index_step(index, index->add_words) != 0)
      return -1;
  }
  if (++index->in_batch < FILE_INDEX_BATCH)
    return 0;
  index->in_batch = 0;
  if (sqlite3_exec(index->database, "COMMIT; BEGIN", NULL, NULL, NULL))
    return file_index_failed(index, "commit");
  return 0;
}

file_index *file_index_open(const char *path) {
  file_index *index = calloc(1, sizeof *index);

  if (!index) {
    fprintf(stderr, "embed: out of memory\n");
    return NULL;
  }
  pthread_mutex_init(&index->lock, NULL);
  unlink(path);
  if (sqlite3_open(path, &index->database) != SQLITE_OK ||
      sqlite3_exec(index->database, file_index_schema, NULL, NULL, NULL) ||
      sqlite3_prepare_v2(index->database,
                         "INSERT OR REPLACE INTO files"
                         " (path, kind, bytes, packed, sha256)"
                         " VALUES (?, ?, ?, ?, ?)",
                         -1, &index->add_file, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(index->database,
                         "INSERT INTO words (docid, text) VALUES (?, ?)", -1,
                         &index->add_words, NULL) != SQLITE_OK) {
    file_index_failed(index, path);
    file_index_close(index);
    return NULL;
  }
  return index;
}

int file_index_add(file_index *index, const file_record *record) {
  int result;

  pthread_mutex_lock(&index->lock);
  result = file_index_add_locked(index, record);
  pthread_mutex_unlock(&index->lock);
  return result;
}

int file_index_close(file_index *index) {
  int result = 0;

  if (!index)
    return 0;
  /* file_index_open() prepares this statement last, so without it the database
   * is not usable. */
  if (index->add_words &&
      sqlite3_exec(index->database, "COMMIT", NULL, NULL, NULL))
    result = file_index_failed(index, "commit");
  sqlite3_finalize(index->add_file);
  sqlite3_finalize(index->add_words);
  sqlite3_close(index->database);
  pthread_mutex_destroy(&index->lock);
  free(index);
  return result;
}
