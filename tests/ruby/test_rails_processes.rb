# frozen_string_literal: true

require "prefork"

# Tests which processes of a Rails application are profiled if the application sets only the
# destination of profiles.
class RailsProcessesTest < PreforkTest
  STATE = "[Spanprof.running?, Spanprof.unavailable_reason]"

  FILES = {
    "config/application.rb" => <<~RUBY,
      #{PRELUDE}
      require "rails"
      require "action_controller/railtie" if ENV["SERVES"]
      require "spanprof"
      # `rails console` starts this module instead of irb.
      module Console
        def self.start = p(#{STATE})
      end
      module MyShop
        class Application < Rails::Application
          config.root = File.expand_path("..", __dir__)
          config.eager_load = false
          config.secret_key_base = "x" * 32
          config.hosts.clear
          config.logger = Logger.new($stdout, level: :info)
          config.console = Console
        end
      end
    RUBY
    "config/environment.rb" => <<~RUBY,
      require_relative "application"
      Rails.application.initialize!
    RUBY
    "config/routes.rb" => <<~RUBY,
      Rails.application.routes.draw { root to: "orders#show" } if ENV["SERVES"]
    RUBY
    "app/controllers/orders_controller.rb" => <<~RUBY,
      class OrdersController < ActionController::Base
        def show = (burn(0.05); render plain: "\#{$$} \#{Spanprof.running?}")
      end
    RUBY
    "config.ru" => <<~RUBY,
      require_relative "config/environment"
      run Rails.application
    RUBY
    "Rakefile" => <<~RUBY,
      require_relative "config/application"
      task(:environment) { Rails.application.initialize! }
      task(state: :environment) { p #{STATE} }
    RUBY
    "bin/rails" => <<~RUBY,
      APP_PATH = File.expand_path("../config/application", __dir__)
      require "rails/commands"
    RUBY
    "bin/worker" => <<~RUBY,
      require_relative "../config/environment"
      burn 0.1
      p #{STATE}
    RUBY
    "tmp/.keep" => ""
  }.freeze

  def setup
    super
    FILES.each { |path, text| write(path, text) }
  end

  def environment
    super.merge("PYROSCOPE_APPLICATION_NAME" => nil, "RAILS_ENV" => "production", "SERVES" => nil,
                "GEM_PATH" => Gem.path.join(":"))
  end

  def write(path, text)
    FileUtils.mkdir_p(File.dirname("#{@directory}/#{path}"))
    File.write("#{@directory}/#{path}", text)
  end

  # @return [String] the output of a program of the application
  def output_of(*command, **env)
    result = Dir.chdir(@directory) { run_command(RbConfig.ruby, *command, env: env.transform_keys(&:name)) }
    assert result.status.success?, result.err
    result.out
  end

  # @return [Array] the values of STATE in a program of the application, which prints them
  def state(...)
    eval(output_of(...)[/^\[.*\]$/])
  end

  # @return [Array<String>] the names of the services that have profiles
  def services
    Dir.children(@profiles).map { |name| name[/\A(.*)-\d+-\d+\.pb\.gz\z/, 1] }.uniq
  end

  RAKE = Gem.bin_path("rake", "rake")

  def refused(purpose)
    [false, "this is #{purpose}, which is profiled only if config.spanprof.enabled is true"]
  end

  def test_console_rake_and_tests_are_not_profiled
    assert_equal refused("a console"), state("bin/rails", "console")
    assert_equal refused("the program rake"), state(RAKE, "state")
    assert_equal refused("a test"), state("bin/worker", RAILS_ENV: "test")
    refute_path_exists @profiles
  end

  def test_enabled_processes_are_profiled
    assert_equal [true, nil], state(RAKE, "state", PYROSCOPE_AGENT_ENABLED: "true")
  end

  def test_reasons_for_not_profiling
    write("bin/options", <<~RUBY)
      require_relative "../config/application"
      options = Rails.application.config.spanprof
      again = -> { p #{STATE}; Spanprof::Railtie::Start.run(Rails.application) }
      options.enabled = false
      Rails.application.initialize!
      again.call
      options.enabled = nil
      ENV.delete("PYROSCOPE_OUTPUT_DIRECTORY")
      again.call
      p #{STATE}
      options.output_directory = Rails.root.join("profiles")
      options.sample_rate = 100
      again.call
      p #{STATE}
    RUBY
    assert_equal <<~LINES, output_of("bin/options").lines.grep(/^\[/).uniq.join
      [false, "config.spanprof.enabled is false"]
      [false, "neither config.spanprof.server_address nor PYROSCOPE_SERVER_ADDRESS is set"]
      [false, "there is no option \\"sample_rate\\"; did you mean sample_rate_hz?"]
    LINES
  end

  # The generated initializer contains commented-out options. The test removes the comment signs, so
  # that every option is set.
  def test_the_generated_initializer
    assert_match(%r{create  config/initializers/spanprof\.rb}, output_of("bin/rails", "generate", "spanprof:install"))
    refute_path_exists @profiles
    path = "config/initializers/spanprof.rb"
    write(path, File.read("#{@directory}/#{path}").gsub(/^# (Rails\.application)/, '\1'))
    assert_equal [true, nil], state("bin/worker", PYROSCOPE_OUTPUT_DIRECTORY: nil)
    assert_equal %w[my_shop], Dir.children("#{@directory}/tmp/profiles").map { |name| name[/\A\w+/] }.uniq
  end

  # The session starts after Rails has enabled YJIT, which Rails does after all initializers of an
  # application. The profiles have the service name of the application's spans.
  def test_the_start_is_after_yjit_and_uses_the_name_of_the_spans
    write("config/initializers/tracing.rb", <<~RUBY)
      require "opentelemetry/sdk"
      ENV["OTEL_TRACES_EXPORTER"] = "none"
      OpenTelemetry::SDK.configure { |config| config.service_name = "orders" }
      module YJIT
        def self.enable = puts("YJIT, then \#{Spanprof.running?}")
      end
      RubyVM.send(:remove_const, :YJIT) if defined?(RubyVM::YJIT)
      RubyVM::YJIT = YJIT
      Rails.application.config.yjit = true
    RUBY
    write("bin/order", <<~RUBY)
      require_relative "../config/environment"
      p Spanprof.running?
      OpenTelemetry.tracer_provider.tracer("shop").in_span("order") { burn 0.1 }
    RUBY
    output = output_of("bin/order")
    assert_match(/^true$/, output)
    assert_equal "false", output[/^YJIT, then (.*)/, 1] if Gem::Version.new(rails_version) >= Gem::Version.new("7.2")
    assert_equal ["orders"], services
    assert_burned(0.1, burnt.select { |sample| sample.labels["span_name"] == "order" })
  end

  def rails_version
    Gem::Specification.find_by_name("railties").version.to_s
  end

  def test_rails_server
    port = free_port
    seconds = nil
    serve(RbConfig.ruby, "bin/rails", "server", "-p", port.to_s, env: { "SERVES" => "1" }) do
      seconds = requests(port, workers: 1)
    end
    assert_profiled(seconds)
    assert_equal ["orders/show"], burnt.map { |sample| sample.labels["action"] }.uniq
    assert_equal ["my_shop"], services
  end

  def test_workers_of_puma
    port = free_port
    write("config/puma.rb", "workers 2\nthreads 2, 4\npreload_app!\nbind 'tcp://127.0.0.1:#{port}'")
    seconds = nil
    log = serve("puma", env: { "SERVES" => "1" }) { seconds = requests(port) }
    assert_profiled(seconds)
    assert_equal ["orders/show"], burnt.map { |sample| sample.labels["action"] }.uniq
    assert_equal 1, log.scan("spanprof: profiling \"my_shop\"").size, log
  end
end
