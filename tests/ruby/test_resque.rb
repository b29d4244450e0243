# frozen_string_literal: true

require "redis_test"

# Resque forks a child for each job, and the child ends by exit!.
class ResqueTest < RedisTest
  def test_jobs_are_profiled
    redis do |url|
      result = child!(<<~'RUBY', env: { "REDIS_URL" => url })
        require "resque"
        require "spanprof"
        Resque.redis = ENV["REDIS_URL"]
        Spanprof.start(log_level: :off)
        class BurnJob
          @queue = :burn
          def self.perform(seconds) = burn(seconds)
        end
        3.times { Resque.enqueue(BurnJob, 0.3) }
        worker = Resque::Worker.new("burn")
        worker.work(0)
        p Resque.info.values_at(:processed, :failed), worker.fork_per_job?
      RUBY
      assert_equal "[3, 0]\ntrue\n", result.out, result.err
    end
    assert_operator Dir.children(@profiles).size, :>=, 3
    assert_burned(0.9, burnt, stretches: 3)
  end
end
