#!/usr/bin/env ruby
# frozen_string_literal: true

# ruby.rb SOURCE: runs Ruby's own tests with the gem spanprof, which profiles every
# process that the tests start at 1 kHz. SOURCE is the source folder of the version of
# Ruby that runs this program, and GEM_HOME has the gem. A test that passes without
# spanprof must pass with it.
#
# By default, a few quick files of tests are run. SPANPROF_RUNTIME_TESTS=all runs all
# files that have to do with threads, fibers, processes, signals, the garbage collector
# or sockets (15 minutes), and SPANPROF_RUNTIME_TESTS="ruby/test_gc" runs this file.
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
# Tests that fail because of known effects of spanprof. It has a
# thread of Ruby: Thread.list shows it, Ruby detects no deadlock while it exists, and it
# also runs in a daemon. When environment variables start profiling, spanprof waits for
# modules of the program with a TracePoint. Its threads need address space.
EXPECTED_FAILURES = %w[
  TestThread#test_list TestThread#test_stop TestProcess#test_daemon_no_threads
  TestSetTraceFunc#test_tracepoint_opt_invokebuiltin_delegate_leave TestISeq#test_iseq_builtin_to_a
  TestArray#test_short_heap_array_sort_bang_memory_leak
  TestArraySubclass#test_short_heap_array_sort_bang_memory_leak
].freeze
ONE_SECONDS = 600

# The environment that profiles Ruby. It names the file to load by its path, because
# tests start Ruby with --disable=gems and without RUBYLIB.
def profiled(folder)
  gem = Gem::Specification.find_by_name("spanprof")
  { "RUBYOPT" => "-r#{gem.full_gem_path}/lib/spanprof/autostart",
    "PYROSCOPE_APPLICATION_NAME" => "ruby", "PYROSCOPE_SAMPLE_RATE" => "1000", "PYROSCOPE_LOG_LEVEL" => "off",
    "PYROSCOPE_OUTPUT_DIRECTORY" => folder }
end

# Runs a file of tests.
#
# @return [Array(Array<String>, String)] the names of the tests that fail, and the
#   output; "(its end)" is one of the names if the output has no final result
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
  ours -= EXPECTED_FAILURES
  ours -= failures(source, path, {}).first unless ours.empty?
  puts "#{path} ... #{ours.empty? ? "ok" : "FAILED, and passes without spanprof: #{ours.join(", ")}"}"
  puts said.lines.last(60) unless ours.empty?
  $stdout.flush
  ours.empty?
end

source = File.expand_path(ARGV.fetch(0))
wanted = ENV.fetch("SPANPROF_RUNTIME_TESTS", "")
paths = { "all" => ALL, "" => FEW }.fetch(wanted) { wanted.split }
Dir.mktmpdir do |folder|
  there = paths.select { |path| File.exist?("#{source}/test/#{path}.rb") }
  abort "#{source}/test has none of the files #{paths.join(", ")}" if there.empty?
  good = there.map { |path| judge(source, path, folder) }
  written = Dir["#{folder}/*.pb.gz"].size
  puts "#{written} profiles"
  exit(good.all? && written.positive?)
end
