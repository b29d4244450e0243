#include "rb_recording.h"

#include <ruby/thread.h>
#include <unistd.h>

#include "context/rb_context.h"
#include "context/rb_follow.h"
#include "runtime/rb_runtime.h"
#include "settings/option_table.h"

/* A recording as a Ruby object. Invalid in a forked child. */
typedef struct rb_recording {
  spanprof_recording *recording; /* NULL if the recording has ended */
  spanprof_mark previous_mark;   /* mark that the fiber had before */
  pid_t pid;
} rb_recording;

typedef struct recording_call {
  spanprof_recording_options options;
  bool return_profile; /* true: return the profile; false: discard it */
  spanprof_recording *recording;
  const spanprof_profile *profile;
  bool ran;
  spanprof_status status;
} recording_call;

static void *recording_begin_run(void *data) {
  recording_call *call = data;

  call->status = spanprof_recording_begin(&call->options, &call->recording);
  call->ran = true;
  return NULL;
}

static void *recording_end_run(void *data) {
  recording_call *call = data;

  call->status = spanprof_recording_end(
      call->recording, call->return_profile ? &call->profile : NULL);
  call->ran = true;
  return NULL;
}

/* Run a call without the GVL until it has completed. A pending interrupt of the
 * thread is raised before the call begins; one that arrives during the call is
 * raised only when the Ruby method has returned. */
static void recording_run(void *(*run)(void *), recording_call *call) {
  do {
    rb_thread_check_ints();
    rb_nogvl(run, call, NULL, NULL, RB_NOGVL_INTR_FAIL);
  } while (!call->ran);
}

/* Free a recording, and end it without a profile if Ruby code did not end it.
 * The garbage collector calls this, so it must not wait. */
static void recording_free(void *data) {
  rb_recording *recording = data;

  if (recording->recording && recording->pid == getpid()) {
    spanprof_recording_end(recording->recording, NULL);
    rb_sp_runtime_forget();
  }
  xfree(recording);
}

static size_t recording_memsize(const void *data) {
  (void)data;
  return sizeof(rb_recording);
}

static const rb_data_type_t recording_type = {
    .wrap_struct_name = "Spanprof::Native::Recording",
    .function = {.dfree = recording_free, .dsize = recording_memsize},
};

NORETURN(static void recording_refuse(void));

static void recording_refuse(void) {
  rb_raise(rb_sp_error, "%s", spanprof_last_error());
}

/* Begin the recording that `data` describes. The caller has retained the
 * runtime. If the recording has a mark, new fibers and threads inherit marks
 * from now on. */
static VALUE recording_begin_wait(VALUE data) {
  recording_call *call = (recording_call *)data;

  rb_sp_follow_update();
  if (call->options.scope == SPANPROF_RECORDING_MARK) {
    rb_sp_follow_marks();
    call->options.outer = spanprof_mark_get();
  }
  /* A recording with a mark begins without waiting if a session runs. Keep the
   * GVL in this case: while other threads are busy, the acquisition of a
   * released GVL takes long. */
  if (call->options.scope == SPANPROF_RECORDING_MARK &&
      spanprof_session_running())
    recording_begin_run(call);
  else
    recording_run(recording_begin_run, call);
  return Qnil;
}

/* Release the runtime. Returns an interrupt for rb_jump_tag(), or 0 if there is
 * none. */
static int recording_release(void) {
  const int interrupt = rb_sp_runtime_release();

  rb_sp_follow_update();
  return interrupt;
}

/* Convert an option. nil means that the option is not set. */
static int64_t recording_option(VALUE value) {
  return NIL_P(value) ? SPANPROF_UNSET : NUM2LL(value);
}

static int64_t recording_native_frames(VALUE value) {
  int64_t number = SPANPROF_UNSET;

  if (NIL_P(value))
    return number;
  value = rb_String(value);
  if (!sp_option_name(SP_OPTION_NATIVE, StringValueCStr(value), &number))
    rb_raise(rb_eArgError, "native_frames is \"%" PRIsVALUE "\", not %s", value,
             sp_option_names(SP_OPTION_NATIVE));
  return number;
}

/* call-seq: Recording.begin(own, sample_rate_hz, native_frames, ms) ->
 * Recording
 *
 * If `own` is true, record the samples of the running fiber and of the fibers
 * and threads that it creates from now on. Otherwise record all samples of the
 * process. The other arguments may be nil. */
static VALUE recording_s_begin(VALUE self, VALUE own, VALUE sample_rate_hz,
                               VALUE native_frames, VALUE ms) {
  recording_call call = {0};
  rb_recording *recording;
  VALUE object =
      TypedData_Make_Struct(self, rb_recording, &recording_type, recording);
  int interrupt = 0, released;
  rb_sp_scope *scope;

  spanprof_recording_options_init(&call.options, sizeof call.options);
  call.options.scope =
      RTEST(own) ? SPANPROF_RECORDING_MARK : SPANPROF_RECORDING_ALL;
  call.options.sample_rate_hz = recording_option(sample_rate_hz);
  call.options.native_frames = recording_native_frames(native_frames);
  call.options.duration_ms = recording_option(ms);
  rb_sp_runtime_retain();
  rb_protect(recording_begin_wait, (VALUE)&call, &interrupt);
  if (call.recording) {
    recording->recording = call.recording;
    recording->pid = getpid();
    if (RTEST(own)) {
      scope = rb_sp_scope_ensure();
      recording->previous_mark = scope->mark;
      rb_sp_scope_mark_set(scope, spanprof_recording_mark(call.recording));
    }
    return object;
  }
  released = recording_release();
  if (interrupt || released)
    rb_jump_tag(interrupt ? interrupt : released);
  recording_refuse();
}

/* Remove the running fiber from the recording: give it the mark that it had
 * before. */
static void recording_unmark(const rb_recording *recording) {
  rb_sp_scope *scope = rb_sp_scope_current();
  const spanprof_mark mark = spanprof_recording_mark(recording->recording);

  if (mark && scope && scope->mark == mark)
    rb_sp_scope_mark_set(scope, recording->previous_mark);
}

/* End the recording. Returns nil if it has already ended or belongs to the
 * parent process. */
static VALUE recording_finish(VALUE self, bool return_profile) {
  recording_call call = {.return_profile = return_profile};
  rb_recording *recording;
  VALUE result = Qnil;
  int interrupt;

  TypedData_Get_Struct(self, rb_recording, &recording_type, recording);
  if (!recording->recording || recording->pid != getpid())
    return Qnil;
  recording_unmark(recording);
  call.recording = recording->recording;
  if (return_profile)
    rb_sp_runtime_resolve_all();
  recording_run(recording_end_run, &call);
  recording->recording = NULL;
  interrupt = recording_release();
  if (call.profile)
    result = rb_ary_new_from_args(
        3, rb_str_new(call.profile->bytes, (long)call.profile->size_bytes),
        ULL2NUM(call.profile->samples),
        call.profile->note ? rb_utf8_str_new_cstr(call.profile->note) : Qnil);
  spanprof_profile_free(call.profile);
  if (interrupt)
    rb_jump_tag(interrupt);
  if (call.status)
    recording_refuse();
  return result;
}

/* call-seq: end -> [String, Integer, String or nil] or nil
 *
 * End the recording. Returns its profile (gzip-compressed pprof), the number of
 * samples, and a text if the profile differs from the requested one. Returns
 * nil if the recording has already ended. */
static VALUE recording_end(VALUE self) {
  return recording_finish(self, true);
}

/* call-seq: discard -> nil */
static VALUE recording_discard(VALUE self) {
  return recording_finish(self, false);
}

void rb_sp_recording_init(void) {
  VALUE recording =
      rb_define_class_under(rb_sp_native, "Recording", rb_cObject);

  rb_undef_alloc_func(recording);
  rb_define_singleton_method(recording, "begin", recording_s_begin, 4);
  rb_define_method(recording, "end", recording_end, 0);
  rb_define_method(recording, "discard", recording_discard, 0);
}
