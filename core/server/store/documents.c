#include "store_inside.h"

typedef struct documents_call {
  const sp_store_document *document; /* NULL: remove the document with this kind
                                      * and key */
  const char *kind;
  const char *key;
} documents_call;

static spanprof_status documents_write(sp_writer *writer, void *data) {
  const documents_call *call = data;
  sqlite3_stmt *write = NULL;
  spanprof_status st = sp_database_prepare(
      writer->db, &write,
      call->document ? "INSERT OR REPLACE INTO document(kind, key, time_ms, "
                       "bytes) VALUES(?,?,?,?)"
                     : "DELETE FROM document WHERE kind=? AND key=?");

  if (st)
    return st;
  sqlite3_bind_text(write, 1, call->kind, -1, SQLITE_STATIC);
  sqlite3_bind_text(write, 2, call->key, -1, SQLITE_STATIC);
  if (call->document) {
    sqlite3_bind_int64(write, 3, call->document->time_ms);
    sqlite3_bind_blob64(write, 4,
                        call->document->size ? call->document->bytes : "",
                        call->document->size, SQLITE_STATIC);
  }
  st = sp_database_do(write);
  sqlite3_finalize(write);
  return st;
}

spanprof_status sp_store_put_document(sp_store *store,
                                      const sp_store_document *document) {
  documents_call call = {document, document->kind, document->key};

  return sp_store_write(store, documents_write, &call);
}

spanprof_status sp_store_remove_document(sp_store *store, const char *kind,
                                         const char *key) {
  documents_call call = {NULL, kind, key};

  return sp_writer_call(&store->writer, documents_write, &call);
}

spanprof_status sp_store_documents(sp_store *store, const char *kind,
                                   const char *key, int64_t from_ms,
                                   int64_t until_ms, sp_store_document_fn fn,
                                   void *data) {
  sp_store_document document = {.kind = kind};
  sqlite3_stmt *each = NULL;
  sp_store_reader *reader;
  int code = SQLITE_DONE;
  spanprof_status st = sp_store_reader_acquire(store, &reader);

  if (st)
    return st;
  st = sp_database_prepare(
      reader->db, &each,
      "SELECT key, time_ms, bytes FROM document WHERE kind=?1 AND (?2 IS NULL "
      "OR key=?2) AND time_ms BETWEEN ?3 AND ?4 ORDER BY time_ms, key");
  if (!st) {
    sqlite3_bind_text(each, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(each, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(each, 3, from_ms);
    sqlite3_bind_int64(each, 4, until_ms);
  }
  while (!st && !(st = sp_database_step(each, &code)) && code == SQLITE_ROW) {
    document.key = (const char *)sqlite3_column_text(each, 0);
    document.time_ms = sqlite3_column_int64(each, 1);
    document.bytes = sqlite3_column_blob(each, 2);
    document.size = (size_t)sqlite3_column_bytes(each, 2);
    if (!fn(data, &document))
      break;
  }
  sqlite3_finalize(each);
  sp_store_reader_release(store, reader);
  return st;
}
