#include "adhoc_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server/model/base64.h"
#include "server/query/adhoc/adhoc_profile.h"
#include "server/query/tree/stack_query.h"

#define ADHOC_KIND     "adhoc"
#define ADHOC_ULID     26 /* characters of an id before the name of the file */
#define ADHOC_NAME_MAX 200

/* A stored upload. The document's bytes are the name, a NUL and the file. */
typedef struct adhoc_upload {
  sp_arena *arena;
  const char *id;
  const char *name;
  int64_t time_ms;
  const char *file;
  size_t size;
} adhoc_upload;

static spanprof_status adhoc_decode(sp_query *query, const char *text,
                                    char **out, size_t *size) {
  const size_t characters = strlen(text);
  size_t digits;

  *out = sp_arena_new(&query->arena, SP_BASE64_CAPACITY(characters), 1);
  if (!*out)
    return query->arena.st;
  digits = sp_base64_read(text, characters, SP_BASE64_STANDARD, *out, size);
  return digits == characters || text[digits] == '='
             ? SPANPROF_OK
             : sp_query_invalid(query,
                                "failed to parse profile: illegal base64 data "
                                "at input byte %zu",
                                digits);
}

static bool adhoc_id_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

/* Copy a name with "_" for each character that is not allowed in an id. */
static char *adhoc_name(sp_query *query, const char *name) {
  char *clean =
      sp_arena_text(&query->arena, name, strnlen(name, ADHOC_NAME_MAX));
  char *to = clean;
  const char *p;

  for (p = clean; p && *p; p++) {
    if (((unsigned char)*p & 0xc0) == 0x80 && p > clean)
      continue; /* a further byte of one UTF-8 character */
    *to++ = adhoc_id_character(*p) ? *p : '_';
  }
  if (to)
    *to = '\0';
  return clean;
}

/* Make an id such as "01J…-cpu.pprof": the time and a random number in
 * Crockford's base 32 (https://github.com/ulid/spec), then the name of the
 * file. */
static spanprof_status adhoc_new_id(sp_query *query, adhoc_upload *upload) {
  static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const size_t name_bytes = strlen(upload->name);
  char *id = sp_arena_new(&query->arena, ADHOC_ULID + name_bytes + 2, 1);
  unsigned char random[16];
  size_t i;

  if (!id)
    return query->arena.st;
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    return SPANPROF_ERR_SYSTEM;
  for (i = 0; i < 10; i++)
    id[i] = digits[(uint64_t)upload->time_ms >> (45 - 5 * i) & 31];
  for (; i < ADHOC_ULID; i++)
    id[i] = digits[random[i - 10] & 31];
  id[i++] = '-';
  memcpy(id + i, upload->name, name_bytes);
  upload->id = id;
  return SPANPROF_OK;
}

static bool adhoc_found(void *data, const sp_store_document *document) {
  adhoc_upload *upload = data;
  const char *name =
      sp_arena_text(upload->arena, document->bytes, document->size);

  if (!name)
    return false;
  upload->name = name;
  upload->time_ms = document->time_ms;
  upload->file = name + strlen(name) + 1;
  upload->size = document->size - (strlen(name) + 1);
  return false;
}

static spanprof_status adhoc_find(sp_query *query, const char *id,
                                  adhoc_upload *out) {
  const char *p;
  spanprof_status st;

  *out = (adhoc_upload){.arena = &query->arena, .id = id ? id : ""};
  for (p = out->id; *p || p == out->id; p++)
    if (!adhoc_id_character(*p))
      return sp_query_invalid(
          query, "id '%s' is invalid: can only contain [a-zA-Z0-9_-.]",
          out->id);
  st = sp_store_documents(query->serve->store, ADHOC_KIND, out->id, INT64_MIN,
                          INT64_MAX, adhoc_found, out);
  if (!st && query->arena.st)
    st = query->arena.st;
  if (!st && !out->file)
    st = sp_query_refuse(&query->fault, SP_CODE_NOT_FOUND,
                         "profile %s not found", out->id);
  return st;
}

/* Make an empty tree that stores copies of the names that are added to it. */
static spanprof_status adhoc_tree(sp_query *query, uint32_t side_count,
                                  sp_function_tree *out) {
  const spanprof_status st =
      sp_function_tree_init(out, query->serve->mem, side_count, false);

  out->arena = &query->arena;
  return st;
}

/* Write the tree's flame graph as JSON. */
static spanprof_status adhoc_draw(sp_query *query, sp_function_tree *tree,
                                  const sp_flamebearer *bearer,
                                  int64_t requested_nodes, sp_buffer *out) {
  size_t nodes_max;
  spanprof_status st = sp_stack_query_nodes(query, requested_nodes, &nodes_max);

  if (!st)
    st = sp_function_tree_cut(tree, nodes_max, SP_FLAME_OTHER);
  return st ? st : sp_flamebearer_put(out, bearer, tree);
}

/* Write an AdHocProfilesGetResponse. */
static spanprof_status adhoc_show(sp_query *query, const adhoc_upload *upload,
                                  const sp_query_request *request,
                                  sp_reply *reply) {
  sp_adhoc_profile profile;
  sp_function_tree tree;
  sp_buffer text;
  spanprof_status st = adhoc_tree(query, 1, &tree);

  sp_buffer_init(&text, query->serve->mem);
  if (!st)
    st = sp_adhoc_profile_read(&profile, &query->arena, upload->name,
                               upload->file, upload->size,
                               request->profile_type, &tree, 0, &query->fault);
  if (!st)
    st = adhoc_draw(query, &tree, &profile.bearer, request->max_nodes, &text);
  if (!st) {
    sp_reply_text(reply, 1, "id", upload->id);
    sp_reply_text(reply, 2, "name", upload->name);
    sp_reply_int(reply, 3, "uploadedAt", upload->time_ms);
    sp_reply_text(reply, 4, "profileType", profile.types[profile.type]);
    sp_reply_texts(reply, 5, "profileTypes", profile.types, profile.type_count);
    sp_reply_text(reply, 6, "flamebearerProfile", text.data);
  }
  sp_buffer_dispose(&text);
  sp_function_tree_dispose(&tree);
  return st;
}

static spanprof_status adhoc_store(sp_query *query,
                                   const adhoc_upload *upload) {
  const size_t name_bytes = strlen(upload->name) + 1;
  char *bytes = sp_mem_new(query->serve->mem, name_bytes + upload->size);
  spanprof_status st;

  if (!bytes)
    return SPANPROF_ERR_NOMEM;
  memcpy(bytes, upload->name, name_bytes);
  memcpy(bytes + name_bytes, upload->file, upload->size);
  st = sp_store_put_document(
      query->serve->store,
      &(sp_store_document){.kind = ADHOC_KIND,
                           .key = upload->id,
                           .time_ms = upload->time_ms,
                           .bytes = bytes,
                           .size = name_bytes + upload->size});
  sp_mem_free(query->serve->mem, bytes);
  return st;
}

spanprof_status sp_call_adhoc_upload(sp_query *query,
                                     const sp_query_request *request,
                                     sp_reply *reply) {
  const uint64_t now_ns = sp_clock_unix_ns(query->serve->clock);
  adhoc_upload upload = {
      .arena = &query->arena,
      .name = adhoc_name(query, request->name ? request->name : ""),
      .time_ms = (int64_t)(now_ns / SP_NS_PER_MS)};
  char *file = NULL;
  spanprof_status st;

  if (!request->profile)
    return sp_query_invalid(query,
                            "failed to parse profile: profile is too short");
  st = adhoc_decode(query, request->profile, &file, &upload.size);
  upload.file = file;
  if (!st)
    st = adhoc_new_id(query, &upload);
  if (!st)
    st = adhoc_show(query, &upload, request, reply);
  if (!st)
    st = adhoc_store(query, &upload);
  return st;
}

spanprof_status sp_call_adhoc_get(sp_query *query,
                                  const sp_query_request *request,
                                  sp_reply *reply) {
  adhoc_upload upload;
  spanprof_status st = adhoc_find(query, request->id, &upload);

  return st ? st : adhoc_show(query, &upload, request, reply);
}

typedef struct adhoc_listing {
  sp_query *query;
  adhoc_upload *uploads;
  size_t count;
  size_t capacity;
  spanprof_status st;
} adhoc_listing;

static bool adhoc_list_one(void *data, const sp_store_document *document) {
  adhoc_listing *listing = data;
  sp_arena *arena = &listing->query->arena;
  adhoc_upload upload = {.time_ms = document->time_ms};
  const char *name = document->bytes;

  listing->st =
      sp_mem_reserve(arena->mem, (void **)&listing->uploads, &listing->capacity,
                     listing->count + 1, sizeof *listing->uploads);
  upload.id = sp_arena_text(arena, document->key, strlen(document->key));
  upload.name = sp_arena_text(arena, name, strnlen(name, document->size));
  if (!listing->st && (!upload.id || !upload.name))
    listing->st = arena->st;
  if (!listing->st)
    listing->uploads[listing->count++] = upload;
  return !listing->st;
}

/* Write the list of uploads, the latest one first. */
spanprof_status sp_call_adhoc_list(sp_query *query,
                                   const sp_query_request *request,
                                   sp_reply *reply) {
  adhoc_listing listing = {.query = query};
  spanprof_status st =
      sp_store_documents(query->serve->store, ADHOC_KIND, NULL, INT64_MIN,
                         INT64_MAX, adhoc_list_one, &listing);
  size_t i;

  (void)request;
  if (!st)
    st = listing.st;
  if (!st && listing.count > 0) {
    sp_reply_list(reply, "profiles");
    for (i = listing.count; i > 0; i--) {
      sp_reply_item(reply, 1);
      sp_reply_text(reply, 1, "id", listing.uploads[i - 1].id);
      sp_reply_text(reply, 2, "name", listing.uploads[i - 1].name);
      sp_reply_int(reply, 3, "uploadedAt", listing.uploads[i - 1].time_ms);
      sp_reply_close(reply);
    }
    sp_reply_list_end(reply);
  }
  sp_mem_free(query->serve->mem, listing.uploads);
  return st;
}

spanprof_status sp_call_adhoc_diff(sp_query *query,
                                   const sp_query_request *request,
                                   sp_reply *reply) {
  const char *ids[SP_TREE_SIDES] = {request->left_id, request->right_id};
  sp_adhoc_profile profiles[SP_TREE_SIDES];
  adhoc_upload upload;
  sp_function_tree tree;
  sp_buffer text;
  uint32_t side;
  spanprof_status st = adhoc_tree(query, SP_TREE_SIDES, &tree);

  sp_buffer_init(&text, query->serve->mem);
  for (side = 0; !st && side < SP_TREE_SIDES; side++) {
    st = adhoc_find(query, ids[side], &upload);
    if (!st)
      st = sp_adhoc_profile_read(
          &profiles[side], &query->arena, upload.name, upload.file, upload.size,
          request->profile_type, &tree, side, &query->fault);
  }
  if (!st) {
    profiles[0].bearer.spy = "";
    profiles[0].bearer.groups_empty = false;
    st = adhoc_draw(query, &tree, &profiles[0].bearer, request->max_nodes,
                    &text);
  }
  if (!st) {
    sp_reply_texts(reply, 1, "profileTypes", profiles[0].types,
                   profiles[0].type_count);
    sp_reply_text(reply, 2, "flamebearerProfile", text.data);
  }
  sp_buffer_dispose(&text);
  sp_function_tree_dispose(&tree);
  return st;
}
