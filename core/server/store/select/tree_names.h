/* Reads the locations of a tree, and the names of its functions. */
#ifndef SP_TREE_NAMES_H
#define SP_TREE_NAMES_H

#include "row_numbers.h"
#include "server/model/stack_tree.h"

/* Set the locations and the functions of the tree. `locations` has the database
 * row of each location. Both arrays of the tree have room for one more item.
 * `mem` allocates temporary memory. Can return SPANPROF_ERR_NOMEM,
 * SPANPROF_ERR_LIMIT if the tree's arena is full, and SPANPROF_ERR_FORMAT if
 * the store is damaged. */
spanprof_status sp_tree_names_read(sp_stack_tree *tree, const sp_mem *mem,
                                   sqlite3 *db,
                                   const sp_row_numbers *locations);

#endif
