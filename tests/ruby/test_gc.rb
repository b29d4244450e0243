# frozen_string_literal: true

require "child"

# Garbage collection appears as the innermost frame, below the method that allocated an object.
class GcTest < ChildTest
  GC_FRAME = "(garbage collection)"

  ALLOCATE = <<~'RUBY'
    require "spanprof"
    def allocate = Array.new(3000) { |n| [n.to_s, { n => "v#{n}" }] }
    KEPT = Array.new(200_000) { |n| "kept #{n}" }
    def work(seconds)
      repeat(seconds) { allocate }
    end
  RUBY

  # @return [Array<ProfileReader::Sample>] the samples in a garbage collection
  def collections = samples.select { |sample| sample.in?(GC_FRAME) }

  def test_collections_are_a_leaf_below_the_method_that_allocated
    child!(<<~RUBY)
      #{ALLOCATE}
      Spanprof.start(sample_rate_hz: 250)
      work(1.5)
      Spanprof.stop
    RUBY
    refute_empty collections
    collections.each { |sample| assert_equal GC_FRAME, sample.leaf }
    below = collections.count { |sample| sample.in?("Object#allocate") }
    assert_operator below.fdiv(collections.size), :>, 0.95
  end

  def test_the_share_of_collections_equals_ruby_s_own_measurement
    result = child!(<<~RUBY)
      #{ALLOCATE}
      GC.measure_total_time = true
      Spanprof.start(sample_rate_hz: 250)
      cpu_before, gc_before = cpu, GC.stat(:time)
      work(2)
      puts (GC.stat(:time) - gc_before) / 1e3 / (cpu - cpu_before)
      Spanprof.stop
    RUBY
    work_s = seconds(samples.select { |sample| sample.in?("Object#work") })
    true_s = Float(result.out) * work_s
    assert_in_delta true_s, seconds(collections), Noise.seconds(true_s, total_s: work_s, samples: (work_s * 250).round)
  end

  def test_collections_have_the_labels_of_their_fiber
    child!(<<~RUBY)
      #{ALLOCATE}
      Spanprof.start(sample_rate_hz: 250)
      Spanprof.label(part: "busy") { work(1) }
      Spanprof.stop
    RUBY
    refute_empty collections
    assert_equal ["busy"], collections.map { |sample| sample.labels["part"] }.uniq
  end

  def test_a_collection_that_moves_objects_is_only_a_leaf
    skip "this Ruby cannot compact" unless GC.respond_to?(:auto_compact=)
    child!(<<~RUBY)
      #{ALLOCATE}
      GC.auto_compact = true
      Spanprof.start(sample_rate_hz: 250)
      repeat(1.5) do
        allocate
        GC.start
      end
      Spanprof.stop
    RUBY
    refute_empty collections
    assert_empty(collections.reject { |sample| sample.leaf == GC_FRAME })
    assert_empty(collections.select { |sample| sample.in?("Object#allocate") })
  end

  def test_compaction_during_sampling
    skip "this Ruby cannot compact" unless GC.respond_to?(:compact)
    result = child!(<<~RUBY)
      #{ALLOCATE}
      Spanprof.start(sample_rate_hz: 250)
      repeat(1) do
        allocate
        GC.compact
      end
      p GC.respond_to?(:compact), GC.method(:compact).arity <= 0, GC.compact.nil?
      Spanprof.stop
    RUBY
    assert_equal "true true", result.out.split.first(2).join(" ")
    refute_empty collections
  end

  def test_code_lives_until_it_is_named
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 1000, upload_interval_ms: 500)
      round = 0
      repeat(1.5) do
        round += 1
        eval("def made = burn(0.01)\nmade\nundef made", binding, "made_#{round}.rb")
        GC.start
      end
      Spanprof.stop
      p round, Spanprof.stats[:frames_unnamed]
    RUBY
    rounds, unnamed = result.out.split.map(&:to_i)
    assert_operator rounds, :>, 20
    assert_equal 0, unnamed
    files = samples.flat_map(&:frames).select { |frame| frame.function == "Object#made" }.map(&:file)
    assert_operator files.uniq.size, :>, rounds / 4
  end

  # The test drops fibers in a labelled block. New fibers start at the address of a dropped fiber
  # whose labels are not freed yet, and must have no labels.
  def test_fibers_do_not_start_with_the_labels_of_a_dead_one
    result = child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(log_level: :off)
      native = Spanprof.const_get(:Native)
      Spanprof.label(follow: 1) {}
      stale = 0
      live = []
      drop = lambda do |count|
        live << Fiber.new do
          stale += 1 if native.labels != 0
          Fiber.yield
          Spanprof.label(job: 1) { Fiber.yield }
        end
        live.last.resume
        next if live.size < 20

        live.shift.resume
        Array.new(count) { "x" * 30 }
      end
      100_000.times { drop.call(50) }
      30_000.times do
        drop.call(20)
        Thread.new { stale += 1 if native.labels != 0 }.join
      end
      p stale
    RUBY
    assert_equal "0\n", result.out
  end
end
