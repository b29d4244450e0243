#!/usr/bin/env ruby
# frozen_string_literal: true

# ruby.rb SOURCE: Ruby's own tests, of the source of the version that runs this,
# profiled at 1 kHz in every process that they start. What passes without us has
# to pass with us; the gem is found by GEM_HOME.
#
# Runs some quick files; SPANPROF_RUNTIME_TESTS=all runs all that threads,
# fibers, processes, signals, the collector of garbage, or sockets can have to do
# with (15 minutes), and SPANPROF_RUNTIME_TESTS="ruby/test_gc" runs that.
require "open3"
require "rbconfig"
require "tmpdir"

FEW = %w[ruby/test_fiber ruby/test_enumerator ruby/test_threadgroup ruby/test_thread_cv ruby/test_system
         fiber/test_scheduler fiber/test_sleep fiber/test_mutex test_timeout monitor/test_monitor ruby/test_signal].freeze
ALL = (FEW + %w[ruby/test_thread ruby/test_thread_queue ruby/test_process ruby/test_gc ruby/test_gc_compact ruby/test_io
                ruby/test_backtrace ruby/test_exception ruby/test_lazy_enumerator ruby/test_proc ruby/test_method
                ruby/test_method_cache ruby/test_objectspace ruby/test_pipe ruby/test_rubyoptions ruby/test_settracefunc
                ruby/test_sleep ruby/test_autoload ruby/test_require ruby/test_refinement ruby/test_iseq ruby/test_eval
                ruby/test_continuation ruby/test_beginendblock ruby/test_weakmap ruby/test_vm_dump ruby/test_yjit
                fiber/test_address_resolve fiber/test_backtrace fiber/test_enumerator fiber/test_io fiber/test_process
                fiber/test_ractor fiber/test_thread fiber/test_timeout socket/test_socket socket/test_tcp socket/test_unix
                socket/test_nonblock socket/test_basicsocket drb/test_drb drb/test_drbunix net/http/test_http
                net/http/test_https test_open3 test_pty rinda/test_rinda logger/test_logger coverage/test_coverage
                objspace/test_objspace ruby/test_string ruby/test_array]).freeze
# They notice what README says of us: a thread more is listed, of a program that
# only it and a stopped thread are left of Ruby says what it says of two, a daemon
# is profiled; that a start by the environment waits, by a TracePoint, for what the
# program loads; and that a thread takes address space.
MEANT = %w[TestThread#test_list TestThread#test_stop TestProcess#test_daemon_no_threads
           TestSetTraceFunc#test_tracepoint_opt_invokebuiltin_delegate_leave TestISeq#test_iseq_builtin_to_a
           TestArray#test_short_heap_array_sort_bang_memory_leak
           TestArraySubclass#test_short_heap_array_sort_bang_memory_leak].freeze
ONE_SECONDS = 600

# By its path: tests start Rubies with --disable=gems and without RUBYLIB.
def profiled(folder)
  gem = Gem::Specification.find_by_name("spanprof")
  { "RUBYOPT" => "-r#{gem.full_gem_path}/lib/spanprof/autostart",
    "PYROSCOPE_APPLICATION_NAME" => "ruby", "PYROSCOPE_SAMPLE_RATE" => "1000", "PYROSCOPE_LOG_LEVEL" => "off",
    "PYROSCOPE_OUTPUT_DIRECTORY" => folder }
end

# @return [Array(Array<String>, String)] the tests that fail, and all that was
#   said; a run that does not tell its result has failed too
def failures(source, path, environment)
  command = ["timeout", "-k", "5", ONE_SECONDS.to_s, RbConfig.ruby, "-Itool/lib", "-Itest/lib", "test/runner.rb",
             "-v", "test/#{path}.rb"]
  clean = { "RUBYOPT" => nil, "RUBYLIB" => nil, "GEM_HOME" => nil, "GEM_PATH" => nil }
  said, = Open3.capture2e(clean.merge(environment), *command, chdir: source, stdin_data: "")
  failed = said.scrub.scan(/^ +\d+\) (?:Failure|Error|Timeout):\n(\S+?)[:(\s]/).flatten
  failed << "(its end)" unless said.scrub.match?(/^\d+ tests, \d+ assertions/)
  [failed, said]
end

def judge(source, path, folder)
  ours, said = failures(source, path, profiled(folder))
  ours -= MEANT
  ours -= failures(source, path, {}).first unless ours.empty?
  puts "#{path} ... #{ours.empty? ? "ok" : "FAILED, and passes without us: #{ours.join(", ")}"}"
  puts said.lines.last(60) unless ours.empty?
  $stdout.flush
  ours.empty?
end

source = File.expand_path(ARGV.fetch(0))
wanted = ENV.fetch("SPANPROF_RUNTIME_TESTS", "")
paths = { "all" => ALL, "" => FEW }.fetch(wanted) { wanted.split }
Dir.mktmpdir do |folder|
  there = paths.select { |path| File.exist?("#{source}/test/#{path}.rb") }
  abort "#{source} has none of #{paths.join(", ")}" if there.empty?
  good = there.map { |path| judge(source, path, folder) }
  written = Dir["#{folder}/*.pb.gz"].size
  puts "#{written} profiles"
  exit(good.all? && written.positive?)
end
