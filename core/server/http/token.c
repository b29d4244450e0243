#include "token.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/system/status.h"

static spanprof_status token_refuse(const char *path, const char *why) {
  return sp_fail(SPANPROF_ERR_ARGUMENT, "the token file %.200s %s", path, why);
}

/* Read the first line of the file. The caller holds `lock`, or no other thread
 * uses the token yet. */
static spanprof_status token_read(sp_token *token) {
  const int file = open(token->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  char text[SP_TOKEN_BYTES_MAX + 1];
  struct stat status;
  ssize_t size = -1;

  if (file >= 0 && !fstat(file, &status))
    size = read(file, text, sizeof text);
  if (file >= 0)
    close(file);
  if (size < 0)
    return token_refuse(token->path, "cannot be read");
  text[size < (ssize_t)sizeof text ? size : SP_TOKEN_BYTES_MAX] = '\0';
  text[strcspn(text, "\r\n")] = '\0';
  if (!*text)
    return token_refuse(token->path, "is empty");
  if (strlen(text) >= SP_TOKEN_BYTES_MAX)
    return token_refuse(token->path, "is longer than 511 bytes");
  memcpy(token->text, text, strlen(text) + 1);
  token->read = status;
  return SPANPROF_OK;
}

static bool token_has_changed(const sp_token *token) {
  struct stat now;

  return !stat(token->path, &now) &&
         (now.st_ino != token->read.st_ino ||
          now.st_dev != token->read.st_dev ||
          now.st_size != token->read.st_size ||
          now.st_ctim.tv_sec != token->read.st_ctim.tv_sec ||
          now.st_ctim.tv_nsec != token->read.st_ctim.tv_nsec);
}

spanprof_status sp_token_init(sp_token *token, const char *given,
                              const char *path) {
  memset(token, 0, sizeof *token);
  pthread_mutex_init(&token->lock, NULL);
  token->path = path;
  if (path)
    return token_read(token);
  if (given && strlen(given) >= sizeof token->text)
    return sp_fail(SPANPROF_ERR_ARGUMENT, "the token is longer than 511 bytes");
  if (given)
    memcpy(token->text, given, strlen(given) + 1);
  return SPANPROF_OK;
}

void sp_token_dispose(sp_token *token) {
  pthread_mutex_destroy(&token->lock);
}

bool sp_token_is(sp_token *token, const char *text, size_t size) {
  unsigned char different;
  size_t own, i;

  pthread_mutex_lock(&token->lock);
  if (token->path && token_has_changed(token))
    (void)token_read(token);
  own = strlen(token->text);
  different = own != size;
  for (i = 0; i < own && i < size; i++)
    different |= (unsigned char)(token->text[i] ^ text[i]);
  pthread_mutex_unlock(&token->lock);
  return !different;
}
