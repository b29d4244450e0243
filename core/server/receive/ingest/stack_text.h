/* The text formats of /ingest. Each reader accepts everything that old agents
 * write and Pyroscope accepts, and refuses malformed input. */
#ifndef SP_STACK_TEXT_H
#define SP_STACK_TEXT_H

#include "stack_list.h"

/* Read lines such as "main;leaf 3". Lines without a space are skipped. */
spanprof_status sp_stack_folded(sp_stack_list *list, sp_view text);

/* Read lines such as "main;leaf". Each line is one sample. */
spanprof_status sp_stack_lines(sp_stack_list *list, sp_view text);

/* Read a prefix tree. Each node has the length of its name, the name, its
 * value, and the number of its children. The numbers are varints. The key of a
 * node, a stack such as "main;leaf", is its parent's key followed by its
 * name. */
spanprof_status sp_stack_trie(sp_stack_list *list, sp_view bytes);

/* Read a call tree, encoded like the prefix tree. Each node is a frame, and the
 * root has no name. */
spanprof_status sp_stack_tree_read(sp_stack_list *list, sp_view bytes);

/* Largest total size of the keys of a trie. */
#define SP_STACK_KEYS_MAX ((size_t)64 << 20)

#endif
