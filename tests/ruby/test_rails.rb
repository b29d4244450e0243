# frozen_string_literal: true

require "child"

# Tests of a Rails application.
class RailsTest < ChildTest
  # Returns a Rails application in one file. Its paths /burn/ruby and /api/ruby burn CPU time. The
  # code `configure` runs where initializers run.
  def application(configure, autoinstrument: true)
    <<~RUBY
      require "logger"
      require "rails"
      require "action_controller/railtie"
      require "rack/mock"
      require "spanprof"
      class App < Rails::Application
        config.eager_load = false
        config.consider_all_requests_local = true
        config.secret_key_base = "x"
        config.hosts.clear
        config.logger = Logger.new($stdout, formatter: ->(level, _, _, line) { "\#{level} \#{line}\\n" })
        config.autoinstrument = #{autoinstrument}
        initializer("profile") { #{configure} }
      end
      class BurnController < ActionController::Base
        def ruby = (burn(0.2); render plain: "burnt")
        def fail = (burn(0.1); raise "oops")
      end
      module Admin
        class ApiController < ActionController::API
          def ruby = (burn(0.2); render json: {})
        end
      end
      App.initialize!
      App.routes.draw do
        get "burn/ruby", to: "burn#ruby"
        get "burn/fail", to: "burn#fail"
        get "api/ruby", to: "admin/api#ruby"
      end
      browser = Rack::MockRequest.new(App)
      p browser.get("/burn/ruby").body, browser.get("/api/ruby").status, browser.get("/burn/fail").status
      burn 0.2
    RUBY
  end

  CONFIGURE = %(Pyroscope.configure { |config| config.server_address = nil; config.application_name = "shop" })

  def seconds_by_action
    samples.group_by { |sample| sample.labels["action"] }.transform_values { |group| seconds(group) }
  end

  def test_an_initializer_labels_actions_and_logs_to_rails
    result = child!(application(CONFIGURE))
    assert_equal ['"burnt"', "200", "500"], result.out.lines(chomp: true).last(4).first(3)
    by_action = seconds_by_action
    assert_in_delta 0.2, by_action["burn/ruby"], noise_s(0.2)
    assert_in_delta 0.2, by_action["api/ruby"], noise_s(0.2)
    assert_in_delta 0.1, by_action["burn/fail"], noise_s(0.1)
    assert_operator by_action[nil], :>, 0.1
    assert_equal 1, result.out.scan(/^INFO spanprof: profiling "shop"/).size
    # spanprof has logged nothing; Rails 8.0 itself logs a warning
    refute_match(/^spanprof/, result.err)
  end

  def test_the_environment_disables_profiling
    child!(application(CONFIGURE.sub("; config", "; config.autoinstrument_rails = false; config")))
    assert_equal [nil], seconds_by_action.keys
  end

  def test_two_starts_add_one_label
    result = child!(application("#{CONFIGURE}; #{CONFIGURE}; Pyroscope.initialize_rails_hooks") + <<~'RUBY')
      p BurnController._process_action_callbacks.count { |callback| callback.kind == :around }
    RUBY
    plain = child!(application(""))
    assert_equal "1", result.out[/^(\d+)$(?!.*^\d+$)/m, 1], plain.out
  end

  def test_a_start_before_rails_labels_actions
    # `gem` activates the gem without loading it, as Bundler.setup does.
    result = child!("gem 'activesupport'\nrequire 'pyroscope'\n#{CONFIGURE}\n" + application(""))
    assert_in_delta 0.2, seconds_by_action.fetch("burn/ruby", 0), noise_s(0.2), result.out
  end

  def test_environment_start
    child!(application(""), env: { "RUBYOPT" => "-rspanprof/autostart" })
    assert_in_delta 0.2, seconds_by_action["burn/ruby"], noise_s(0.2)
  end
end
