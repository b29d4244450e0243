# frozen_string_literal: true

require "redis_test"

# Jobs of ActiveJob and Sidekiq.
class JobsTest < RedisTest
  def seconds_by_job
    samples.group_by { |sample| sample.labels["job"] }.transform_values { |group| seconds(group) }
  end

  def test_active_job
    child!(<<~'RUBY')
      require "active_job"
      require "spanprof"
      ActiveJob::Base.logger = nil
      Spanprof.start
      module Mail
        class SendJob < ActiveJob::Base
          def perform(seconds) = burn(seconds)
          after_perform { DONE << true }
        end
      end
      DONE = Queue.new
      Mail::SendJob.perform_now(0.2)
      ActiveJob::Base.queue_adapter = :async
      Mail::SendJob.perform_later(0.2)
      2.times { DONE.pop }
      burn 0.1
    RUBY
    assert_in_delta 0.4, seconds_by_job["Mail::SendJob"], noise_s(0.4, stretches: 2)
  end

  # A worker that stops itself after its last job.
  WORKER = <<~'RUBY'
    require "pyroscope"
    class BurnJob
      include Sidekiq::Job
      def perform(seconds) = burn(seconds)
    end
    class LastJob
      include Sidekiq::Job
      def perform = Process.kill("TERM", $$)
    end
    class FailingJob
      include Sidekiq::Job
      sidekiq_options retry: false
      def perform = (burn(0.1); raise("oops"))
    end
    Pyroscope.configure { |config| config.server_address = nil }
  RUBY

  def test_sidekiq
    program("worker", WORKER)
    redis do |url|
      unprofiled = { "REDIS_URL" => url, "PYROSCOPE_AGENT_ENABLED" => "false" }
      child!(%(require "sidekiq"\n) + WORKER + <<~'RUBY', env: unprofiled)
        4.times { BurnJob.perform_async(0.1) }
        FailingJob.perform_async
        LastJob.perform_in(2)
      RUBY
      result = run_command("sidekiq", "-r", "#{@directory}/worker.rb", "-c", "1", env: { "REDIS_URL" => url })
      assert result.status.success?, result.out + result.err
    end
    by_job = seconds_by_job
    assert_in_delta 0.4, by_job["BurnJob"], noise_s(0.4)
    assert_in_delta 0.1, by_job["FailingJob"], noise_s(0.1)
  end
end
