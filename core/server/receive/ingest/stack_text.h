/* The formats of /ingest that hold stacks by name. Each refuses as broken what
 * it cannot read, and reads what the old agents wrote and Pyroscope takes. */
#ifndef SP_STACK_TEXT_H
#define SP_STACK_TEXT_H

#include "stack_list.h"

/* "main;leaf 3": lines without a space are skipped. */
spanprof_status sp_stack_folded(sp_stack_list *list, sp_view text);

/* "main;leaf": each line is one sample. */
spanprof_status sp_stack_lines(sp_stack_list *list, sp_view text);

/* A prefix tree, written node by node: the length of its name, the name, its
 * value, its number of children; numbers are varints. A node's name goes on
 * where its parent's ends. */
spanprof_status sp_stack_trie(sp_stack_list *list, sp_view bytes);

/* A call tree in the same writing, whose nodes are frames; the root has no
 * name. */
spanprof_status sp_stack_tree_read(sp_stack_list *list, sp_view bytes);

/* Bytes of all keys together that a trie may unfold to. */
#define SP_STACK_KEYS_MAX ((size_t)64 << 20)

#endif
