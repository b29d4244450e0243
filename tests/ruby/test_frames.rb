# frozen_string_literal: true

require "child"

# Ruby and native frames form one stack, in the order of the calls.
class FramesTest < ChildTest
  # @return [Array<Array<String>>] the stacks that contain this frame; the names are innermost first
  def stacks_with(name)
    samples.map(&:stack).select { |stack| stack.include?(name) }
  end

  def test_ruby_frames_are_in_the_order_of_their_calls
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def outer = middle { inner }
      def middle = yield
      def inner = burn(0.3)
      outer
      Spanprof.stop
    RUBY
    stacks = stacks_with("Object#burn")
    refute_empty stacks
    wanted = ["Object#burn", "Object#inner", "block in Object#outer", "Object#middle", "Object#outer", "<main>"]
    stacks.each { |stack| assert_equal wanted, stack & wanted }
    assert_burned(0.3, samples.select { |sample| sample.in?("Object#inner") }, hz: 250)
  end

  # Returns the stacks of a program that sorts and compresses, on the main thread and on another
  # thread.
  def native_work(options)
    child!(<<~RUBY)
      require "spanprof"
      require "zlib"
      Spanprof.start(sample_rate_hz: 250, #{options})
      data = Random.bytes(1_000_000)
      def pack(data) = Zlib::Deflate.deflate(data)
      def work(data)
        repeat(0.4) { pack(data); (1..5_000).map(&:to_s).sort_by(&:hash) }
      end
      Thread.new { work(data) }.join
      work(data)
      Spanprof.stop
    RUBY
    stacks_with("Object#work").tap { |stacks| refute_empty stacks }
  end

  def test_a_stack_begins_at_the_outermost_ruby_frame
    stacks = native_work("")
    assert_equal ["<main>", "block in <main>"], stacks.map(&:last).uniq.sort
    assert(stacks.any? { |stack| stack.include?("deflate") })
  end

  def test_code_without_names_is_one_frame_of_its_library
    stacks = native_work("")
    assert_empty stacks.flatten.grep(/\+0x/)
    stripped = stacks.flatten.grep(/\A(zlib|libz)[-.\w]*\.so/).uniq
    skip "zlib and libz have names for all their code" if stripped.empty?
    stacks.each { |stack| stack.each_cons(2) { |inner, outer| refute(inner == outer && stripped.include?(inner), stack.inspect) } }
  end

  def test_all_native_frames_on_request
    stacks = native_work("native_frames: :all")
    main, other = stacks.partition { |stack| stack.include?("<main>") }
    refute_empty main
    main.each { |stack| assert_equal %w[ruby_run_node __libc_start_main], stack[stack.index("<main>")..] & %w[ruby_run_node __libc_start_main] }
    other.each { |stack| assert_operator stack.index("block in <main>"), :<, stack.size - 1 }
  end

  def test_native_frames_are_below_the_calling_ruby_frame
    child!(<<~'RUBY')
      require "spanprof"
      require "zlib"
      Spanprof.start(sample_rate_hz: 250)
      data = Random.bytes(3_000_000)
      def pack(data) = 6.times { Zlib::Deflate.deflate(data) }
      pack(data)
      Spanprof.stop
    RUBY
    stacks = stacks_with("deflate").select { |stack| stack.include?("Zlib::Deflate.deflate") }
    refute_empty stacks
    stacks.each do |stack|
      assert_operator stack.index("deflate"), :<, stack.index("Zlib::Deflate.deflate")
      assert_operator stack.index("Zlib::Deflate.deflate"), :<, stack.index("Object#pack")
    end
  end

  def test_code_of_the_standard_library_has_no_frames
    child!(<<~'RUBY')
      require "spanprof"
      require "digest"
      Spanprof.start(sample_rate_hz: 250)
      data = Random.bytes(100_000)
      repeat(0.3) { Digest::SHA256.digest(data) }
      Spanprof.stop
    RUBY
    leaves = stacks_with("Digest::Base#update").map(&:first)
    refute_empty leaves
    assert_equal ["Digest::Base#update"], leaves.uniq
  end

  def test_a_c_method_is_between_its_ruby_frames
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def sorted = (1..300).to_a.sort { |one, other| compared(one, other) }
      def compared(one, other) = (1..20).sum { |n| n * one <=> other }
      30.times { sorted }
      Spanprof.stop
    RUBY
    stacks = stacks_with("Object#compared")
    refute_empty stacks
    stacks.each do |stack|
      order = ["Object#compared", "block in Object#sorted", "Array#sort", "Object#sorted", "<main>"]
      assert_equal order, stack & order
    end
  end

  def test_calls_between_c_methods_have_no_frames
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def work = (1..1_500_000).each_with_index.sum { |n, _| n.to_s.hash & 1 }
      work
      Spanprof.stop
    RUBY
    stacks = stacks_with("block in Object#work")
    refute_empty stacks
    stacks.each do |stack|
      chain = ["Range#each", "Enumerable#each_with_index", "Enumerator#each", "Enumerable#sum", "Object#work"]
      assert_equal chain, stack & chain
      between = stack[(stack.index("block in Object#work") + 1)...stack.index("Range#each")]
      assert_empty between
    end
  end

  def test_calls_of_c_functions_have_no_frames
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def work = 2_000_000.times { |n| n.to_s.hash }
      work
      Spanprof.stop
    RUBY
    stacks = stacks_with("Object#work")
    refute_empty stacks
    between = stacks.map { |stack| stack[(stack.index("Object#work") + 1)...(stack.index("<main>") || 0)] }
    assert_empty between.flatten
  end

  def test_code_of_yjit_has_no_frames
    skip "this Ruby has no YJIT" unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)
    child!(<<~'RUBY', "--yjit")
      require "spanprof"
      def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
      30.times { fib(15) }
      Spanprof.start(sample_rate_hz: 250)
      repeat(0.3) { fib(20) }
      Spanprof.stop
    RUBY
    stacks = stacks_with("Object#fib")
    refute_empty stacks
    assert_empty stacks.flatten.grep(/unknown|^0x/)
  end

  # Before Ruby 3.3, YJIT can only be enabled at the start of Ruby, so the test hides that it is
  # enabled.
  def test_code_of_yjit_has_no_frames_if_it_is_enabled_later
    skip "this Ruby has no YJIT" unless system(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", err: File::NULL)
    late = system(RbConfig.ruby, "-e", "exit RubyVM::YJIT.respond_to?(:enable)")
    child!(<<~'RUBY', *("--yjit" unless late))
      unless RubyVM::YJIT.respond_to?(:enable)
        class << RubyVM::YJIT
          def enabled? = @enabled
          def enable = @enabled = true
        end
      end
      require "spanprof"
      def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
      Spanprof.start(sample_rate_hz: 250)
      abort "enabled" unless !RubyVM::YJIT.enabled? && RubyVM::YJIT.enable
      30.times { fib(15) }
      repeat(0.3) { fib(20) }
      Spanprof.stop
    RUBY
    stacks = stacks_with("Object#fib")
    refute_empty stacks
    assert_empty stacks.flatten.grep(/unknown|^0x/)
  end

  def test_deep_recursion_keeps_its_innermost_frames
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def deep(left) = left.zero? ? burn(0.3) : deep(left - 1)
      deep(3000)
      $stdout.write Spanprof.stop
    RUBY
    stacks = stacks_with("Object#burn")
    refute_empty stacks
    stacks.each { |stack| assert_operator stack.count("Object#deep"), :>=, 400 }
  end

  def test_every_sample_of_ruby_code_has_ruby_frames
    child!(<<~'RUBY')
      require "spanprof"
      Spanprof.start(sample_rate_hz: 250)
      def work = Array.new(500) { |n| [n.to_s, { n => n.to_f }] }.sort_by(&:first).map(&:last).reduce(:merge)
      repeat(1) { work }
      Spanprof.stop
    RUBY
    all = samples
    with = all.select { |sample| sample.in?("Object#work") }
    assert_operator seconds(with) / seconds(all), :>, 0.95
  end
end
