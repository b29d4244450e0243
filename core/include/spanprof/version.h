/* The version of spanprof. Every other file reads the version from here.
 *
 * Before 1.0, a new minor version may change the ABI. If it does, it also
 * changes the SONAME. A new patch version never changes the ABI. */
#ifndef SPANPROF_VERSION_H
#define SPANPROF_VERSION_H

#define SPANPROF_VERSION_MAJOR 0
#define SPANPROF_VERSION_MINOR 1
#define SPANPROF_VERSION_PATCH 0

#define SPANPROF_VERSION_TEXT_(a, b, c) #a "." #b "." #c
#define SPANPROF_VERSION_TEXT(a, b, c)  SPANPROF_VERSION_TEXT_(a, b, c)
#define SPANPROF_VERSION                                                \
  SPANPROF_VERSION_TEXT(SPANPROF_VERSION_MAJOR, SPANPROF_VERSION_MINOR, \
                        SPANPROF_VERSION_PATCH)

#endif
