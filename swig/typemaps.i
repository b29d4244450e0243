/* How values cross, written once for every language, by the type or the role of
 * an argument. The primitives come from lang/: SP_CHECK(status), which leaves
 * the function with an exception where the status is a failure; SP_NOTHING;
 * SP_BOOL(c); SP_STRING(p), text that ends with NUL; SP_TEXT(object, p, n), an
 * object's text or bytes, or an exception; SP_STATS(stats), counters by name. */
typedef unsigned int uint32_t;
typedef uint32_t spanprof_text;

%typemap(out) spanprof_status "SP_CHECK($1) $result = SP_NOTHING;"
%typemap(out) spanprof_session * "$result = SP_BOOL($1);"
%typemap(out) const char * "$result = SP_STRING($1);"

%typemap(in) spanprof_status = int;
%typemap(in) spanprof_span_attribute = int;
%typemap(in) (const char *text, size_t bytes) "SP_TEXT($input, $1, $2)"

%typemap(in, numinputs=0) spanprof_text *out (spanprof_text number)
    "$1 = &number;"
%typemap(argout, fragment=SWIG_From_frag(unsigned int)) spanprof_text *out {
  %set_output(SWIG_From(unsigned int)(*$1));
}

%typemap(in, numinputs=0) spanprof_stats *out (spanprof_stats stats)
    "stats.struct_size = sizeof stats; $1 = &stats;"
%typemap(argout) spanprof_stats *out { %set_output(SP_STATS($1)); }
