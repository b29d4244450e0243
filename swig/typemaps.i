/* Conversions of arguments and results, by type or role, for all languages. The
 * file of each language in lang/ defines these primitives: SP_CHECK(status)
 * leaves the function with an exception if the status is a failure;
 * SP_FAIL_UNLESS(c) does so if `c` is false because an exception is set;
 * SP_DROP(object) releases an object that a conversion has created (in Ruby, it
 * keeps the object alive up to that point);
 * SP_UNLOCKED(statement) runs the statement, in Python without the GIL;
 * SP_NOTHING is None or nil; SP_STRING(p) converts text that ends with NUL. */
typedef unsigned int uint32_t;

%typemap(out) spanprof_status "SP_CHECK($1) $result = SP_NOTHING;"
%typemap(out) sp_object "$result = $1; SP_FAIL_UNLESS($result)"
%typemap(out) const char * "$result = $1 ? SP_STRING($1) : SP_NOTHING;"

%typemap(in) const sp_control_options *
    (sp_control_options options = SP_CONTROL_OPTIONS_NONE)
    "$1 = &options; SP_FAIL_UNLESS(control_options($input, &options))"
%typemap(freearg) const sp_control_options * "SP_DROP(options$argnum.kept)"

%typemap(in) (int argc, char **argv) (sp_object kept = (sp_object)0) {
  kept = values_owner_new();
  $2 = control_words($input, kept, &$1);
  SP_FAIL_UNLESS($2)
}
%typemap(freearg) (int argc, char **argv) "SP_DROP(kept$argnum)"

/* Texts that a function allocates. The result is "" if there was no memory. */
%typemap(in, numinputs=0) char **out (char *text = NULL),
                          char **err (char *text = NULL)
    "$1 = &text;"
%typemap(argout) char **out, char **err {
  %append_output(SP_STRING(*$1 ? *$1 : ""));
  free(*$1);
}

%typemap(in, numinputs=0) spanprof_stats *out (spanprof_stats stats)
    "stats.struct_size = sizeof stats; $1 = &stats;"
%typemap(argout) spanprof_stats *out { %set_output(values_stats($1)); }
