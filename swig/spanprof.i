/* The functions for scripting languages that SWIG wraps: options, start, flush,
 * stop, the command, counters, texts and constants. The result is private: users
 * call the hand-written modules of ruby/ and python/. Functions that involve the
 * virtual machine or run for each request are written by hand in bindings/.
 * unwrapped.txt lists all functions that are not here, with reasons. */
#if defined(SWIGRUBY)
%module "spanprof::native"
#else
%module swig
#endif

/* Do not share the type table with other SWIG modules in the process, export
 * nothing, and disable warnings that generated code causes. */
%begin %{
#define SWIG_TYPE_TABLE spanprof
#define SWIGEXPORT
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"
%}

#if defined(SWIGRUBY)
%include "lang/ruby.i"
#else
%include "lang/python.i"
#endif
%include "typemaps.i"

%rename("%(regex:/^(?:spanprof|sp_control)_(.*)/\\1/)s", %$isfunction) "";
%rename(stats) spanprof_stats_get;
%rename(command) sp_command_main;
%rename(command_output) sp_command_output;

%constant int OK = SPANPROF_OK;
%constant int ERR_NOMEM = SPANPROF_ERR_NOMEM;
%constant int ERR_ARGUMENT = SPANPROF_ERR_ARGUMENT;
%constant int ERR_STATE = SPANPROF_ERR_STATE;
%constant int ERR_SYSTEM = SPANPROF_ERR_SYSTEM;
%constant int ERR_UNSUPPORTED = SPANPROF_ERR_UNSUPPORTED;
%constant int ERR_IO = SPANPROF_ERR_IO;
%constant int ERR_TIMEOUT = SPANPROF_ERR_TIMEOUT;
%constant int ERR_FORMAT = SPANPROF_ERR_FORMAT;
%constant int ERR_LIMIT = SPANPROF_ERR_LIMIT;
%constant int ERR_DISABLED = SPANPROF_ERR_DISABLED;

%constant int LOG_DEBUG = SPANPROF_LOG_DEBUG;
%constant int LOG_INFO = SPANPROF_LOG_INFO;
%constant int LOG_WARN = SPANPROF_LOG_WARN;
%constant int LOG_ERROR = SPANPROF_LOG_ERROR;
%constant int LOG_OFF = SPANPROF_LOG_OFF;

const char *spanprof_version(void);
spanprof_status spanprof_thread_register(void);
spanprof_status spanprof_stats_get(spanprof_stats *out);

const char *sp_control_nearest(int argc, char **argv);
#if defined(SWIGRUBY)
sp_object sp_control_check(const sp_control_options *options);
sp_object sp_control_level(const sp_control_options *options);
#endif
sp_object sp_control_start(const sp_control_options *options);
sp_object sp_control_flush(uint32_t timeout_ms);
sp_object sp_control_stop(uint32_t timeout_ms);
sp_object sp_control_pause(void);
sp_object sp_control_resume(void);
SP_ANYWHERE_BEGIN
sp_object sp_control_running(void);
SP_ANYWHERE_END

%exception sp_command_main "SP_UNLOCKED($action)"
int sp_command_main(int argc, char **argv);
%exception sp_command_output "SP_UNLOCKED($action)"
int sp_command_output(int argc, char **argv, char **out, char **err);
