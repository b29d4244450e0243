/* The text formats of /ingest. Each reader refuses malformed input and accepts
 * what old agents write and Pyroscope accepts. */
#ifndef SP_STACK_TEXT_H
#define SP_STACK_TEXT_H

#include "stack_list.h"

/* "main;leaf 3". Lines without a space are skipped. */
spanprof_status sp_stack_folded(sp_stack_list *list, sp_view text);

/* "main;leaf". Each line is one sample. */
spanprof_status sp_stack_lines(sp_stack_list *list, sp_view text);

/* A prefix tree. Each node has the length of its name, the name, its value, and
 * the number of its children; numbers are varints. A node's name continues its
 * parent's name. */
spanprof_status sp_stack_trie(sp_stack_list *list, sp_view bytes);

/* A call tree in the same encoding; nodes are frames, and the root has no name.
 */
spanprof_status sp_stack_tree_read(sp_stack_list *list, sp_view bytes);

/* Largest total size of the keys of a trie. */
#define SP_STACK_KEYS_MAX ((size_t)64 << 20)

#endif
