# frozen_string_literal: true

require "child"

# Programs that do not use the gem themselves. The environment or the command starts profiling.
class AutostartTest < ChildTest
  EXECUTABLE = File.expand_path("../exe/spanprof", LIBRARY)

  def spanprof(*arguments, env: {})
    run_command(RbConfig.ruby, EXECUTABLE, *arguments, env: env)
  end

  # Returns the application names, which are in the names of the profiles' files.
  def names
    Dir.children(@profiles).map { |name| name[/\A(.*)-\d+-\d+\.pb/, 1] }.uniq
  end

  def test_rubyopt_profiles_an_unchanged_program
    result = child!("burn 0.2", env: { "RUBYOPT" => "-rspanprof/autostart" })
    assert_empty result.err
    assert_burned(0.2, burnt)
    assert_equal ["test"], names
  end

  def test_the_default_name_is_that_of_the_executable_or_the_spans
    child!("burn 0.1", env: { "RUBYOPT" => "-rspanprof/autostart", "PYROSCOPE_APPLICATION_NAME" => nil })
    assert_match(/\Aunknown_service_ruby/, names.join(" "))
    FileUtils.rm_rf(@profiles)
    child!("burn 0.1", env: { "RUBYOPT" => "-rspanprof/autostart", "PYROSCOPE_APPLICATION_NAME" => nil,
                              "OTEL_SERVICE_NAME" => "otel" })
    assert_equal %w[otel], names
    FileUtils.rm_rf(@profiles)
    child!(<<~'RUBY', env: { "RUBYOPT" => "-rspanprof/autostart", "PYROSCOPE_APPLICATION_NAME" => nil, "OTEL_TRACES_EXPORTER" => "none" })
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure { |config| config.service_name = "spans" }
      OpenTelemetry.tracer_provider.tracer("test").in_span("order") { burn 0.1 }
    RUBY
    assert_equal %w[spans], names
  end

  def test_exec_profiles_a_program_and_its_children
    program("spawned", "burn 0.2")
    path = program("spawning", <<~'RUBY')
      burn 0.1
      system(RbConfig.ruby, "#{__dir__}/spawned.rb")
      exit 7
    RUBY
    result = spanprof("exec", "--", RbConfig.ruby, path)
    assert_equal 7, result.status.exitstatus, result.err
    assert_empty result.err
    assert_burned(0.3, burnt, stretches: 2)
    assert_equal 2, Dir.children(@profiles).size
  end

  def test_exec_opens_a_page_after_the_program
    opened = "#{@directory}/opened"
    File.write("#{@directory}/browser", "#!/bin/sh\nprintf %s \"$1\" > #{opened}\n", perm: 0o755)
    variables = { "BROWSER" => "#{@directory}/browser", "TMPDIR" => @directory }
    result = spanprof("exec", "--open", "--", RbConfig.ruby, program("burning", "burn 0.3; exit 7"), env: variables)
    assert_equal 7, result.status.exitstatus, result.err
    return assert_match(/this build has no page: install npm/, result.err) if result.err.include?("no page")

    assert_equal File.read(opened), result.out.chomp
    assert_includes File.read(result.out.chomp), '"title":"CPU time of ruby'
    assert_empty Dir["#{@profiles}/*"]
    result = spanprof("exec", "--open", "true", env: variables)
    assert_equal [0, "spanprof: there is nothing to open: no CPU time was sampled\n"], [result.status.exitstatus, result.err]
    assert_equal 128 + 15, spanprof("exec", "--open", "sh", "-c", "kill -TERM $$", env: variables).status.exitstatus
    assert_equal 127, spanprof("exec", "--open", "/nonexistent/program", env: variables).status.exitstatus
    assert_equal 1, Dir["#{@directory}/spanprof-*"].size, "only the page remains"
  end

  def test_exec_keeps_rubyopt_and_passes_arguments
    result = spanprof("exec", "ruby", "-e", "p $VERBOSE, ARGV", "a b", "$HOME", env: { "RUBYOPT" => "-w" })
    assert_equal "true\n[\"a b\", \"$HOME\"]\n", result.out, result.err
  end

  def test_exec_from_a_path_with_a_space
    FileUtils.mkdir_p("#{@directory}/a space")
    FileUtils.cp_r([LIBRARY, File.dirname(EXECUTABLE)], "#{@directory}/a space")
    library = ["#{@directory}/a space/lib", *(LIBRARIES - [LIBRARY])].join(":")
    result = run_command(RbConfig.ruby, "#{@directory}/a space/exe/spanprof", "exec", RbConfig.ruby, "-e",
                         "p Spanprof.running?", env: { "RUBYLIB" => library })
    assert_equal "true\n", result.out, result.err
  end

  def test_wrong_usage_and_missing_programs
    assert_equal 2, spanprof("exec").status.exitstatus
    assert_equal 0, spanprof("exec", "--help").status.exitstatus
    assert_equal 127, spanprof("exec", "/nonexistent/program").status.exitstatus
    assert_equal 2, spanprof("nonsense").status.exitstatus
  end

  def test_subcommands_of_the_core
    assert_match(/\Aspanprof \d/, spanprof("version").out)
    child!("burn 0.1", env: { "RUBYOPT" => "-rspanprof/autostart" })
    assert_match(/CPU \d/, spanprof("report", @profiles).out)
    assert_match(/^ok +timer/, spanprof("check").out)
  end

  def test_a_wrong_variable_is_logged_and_the_program_runs
    result = child!("puts 1", env: { "RUBYOPT" => "-rspanprof/autostart", "PYROSCOPE_SAMPLE_RATE" => "fast" })
    assert_equal "1\n", result.out
    assert_equal "spanprof: not profiling: sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is \"fast\", " \
                 "not a whole number\n", result.err
  end

  SPANS = <<~'RUBY'
    OpenTelemetry::SDK.configure
    tracer = OpenTelemetry.tracer_provider.tracer("test")
    tracer.in_span("order") { burn 0.2 }
  RUBY

  def test_opentelemetry_gets_our_processor_when_it_is_loaded
    environment = { "RUBYOPT" => "-rspanprof/autostart", "OTEL_TRACES_EXPORTER" => "none" }
    ["require 'opentelemetry/sdk'", "require 'opentelemetry-sdk'",
     "require 'opentelemetry'; require 'opentelemetry/sdk'"].each do |load|
      FileUtils.rm_rf(@profiles)
      result = child!("#{load}\n#{SPANS}", env: environment)
      spans = samples.select { |sample| sample.labels["span_name"] == "order" }
      assert_burned(0.2, burnt(spans), message: "#{load}: #{result.err}")
    end
  end

  def test_opentelemetry_that_was_loaded_before
    result = child!(<<~RUBY, env: { "OTEL_TRACES_EXPORTER" => "none" })
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure
      require "spanprof/autostart"
      OpenTelemetry.tracer_provider.tracer("test").in_span("order") { burn 0.2 }
    RUBY
    assert_burned(0.2, burnt.select { |sample| sample.labels["span_name"] == "order" }, message: result.err)
  end

  def test_a_program_with_our_processor_gets_no_second_one
    result = child!(<<~'RUBY', env: { "RUBYOPT" => "-rspanprof/autostart", "OTEL_TRACES_EXPORTER" => "none" })
      require "opentelemetry/sdk"
      OpenTelemetry::SDK.configure { |config| config.add_span_processor(Spanprof::SpanProcessor.new) }
      processors = OpenTelemetry.tracer_provider.instance_variable_get(:@span_processors)
      p processors.count { |processor| processor.is_a?(Spanprof::Otel::SpanProcessor) }
      OpenTelemetry::SDK.configure
      processors = OpenTelemetry.tracer_provider.instance_variable_get(:@span_processors)
      p processors.count { |processor| processor.is_a?(Spanprof::Otel::SpanProcessor) }
    RUBY
    assert_equal %w[1 1], result.out.split, result.err
  end

  def test_require_is_not_wrapped
    result = child!(<<~'RUBY', env: { "RUBYOPT" => "-rspanprof/autostart" })
      p Kernel.instance_method(:require).source_location.to_a.grep(%r{lib/spanprof})
      begin
        require "no/such/file"
      rescue LoadError => e
        p e.backtrace.grep(%r{lib/spanprof})
      end
    RUBY
    assert_equal %w[[] []], result.out.split, result.err
  end

  # The test needs no Rails, because the program itself defines the parts of ActiveSupport that the
  # gem uses.
  def test_frameworks_are_instrumented_when_they_are_loaded
    result = child!(<<~'RUBY', env: { "RUBYOPT" => "-rspanprof/autostart" })
      autoload :Sidekiq, "/nonexistent"
      module ActiveSupport
        HOOKS = []
        module LazyLoadHooks
          def on_load(name) = HOOKS << name
        end
        p HOOKS
        extend LazyLoadHooks
      end
      p ActiveSupport::HOOKS
    RUBY
    assert_equal ["[]", "[:action_controller, :active_job, :after_initialize]"], result.out.lines.map(&:chomp), result.err
  end

  # An enabled TracePoint may make a JIT compiler discard its code. So Spanprof.start enables one
  # only if the bundle has a supported gem that is not loaded yet.
  def test_a_start_in_the_program_awaits_only_gems_of_the_bundle
    result = child!(<<~'RUBY')
      require "spanprof"
      waiting = -> { p Spanprof::LoadWatch.instance_variable_get(:@trace)&.enabled? }
      Spanprof.start
      waiting.call
      Gem.loaded_specs["sidekiq"] = nil # Bundler.setup sets this for a gem of the bundle
      Spanprof.start
      waiting.call
      module Sidekiq
        def self.configure_server = puts("labelled")
      end
      waiting.call
    RUBY
    assert_equal %w[nil true labelled false], result.out.split, result.err
  end

  def test_with_other_wrappers_of_require
    result = child!(<<~'RUBY', env: { "RUBYOPT" => "-rspanprof/autostart", "OTEL_TRACES_EXPORTER" => "none" })
      module Kernel
        alias_method :require_without_another, :require
        def require(path) = require_without_another(path)
        private :require
      end
      require "set"
      begin
        require "no/such/file"
      rescue LoadError => e
        p e.path
      end
      require "opentelemetry/sdk"
      p Object.new.respond_to?(:require), require("opentelemetry/sdk")
      OpenTelemetry::SDK.configure
      p OpenTelemetry.tracer_provider.instance_variable_get(:@span_processors).size
    RUBY
    assert_equal ['"no/such/file"', "false", "false", "1"], result.out.split, result.err
  end
end
