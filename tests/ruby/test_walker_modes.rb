# frozen_string_literal: true

require "child"

# The modes of the stack walker, and the messages if the walker cannot work.
class WalkerModesTest < ChildTest
  PROGRAM = <<~'RUBY'
    require "spanprof"
    p Spanprof.start(sample_rate_hz: 250)
    class Cart
      def total = [1].each { burn(0.3) }
    end
    Cart.new.total
    Spanprof.stop
    puts Spanprof.unavailable_reason
  RUBY

  def names = samples.flat_map(&:stack).uniq

  def test_methods_is_the_default
    assert_equal "true", child!(PROGRAM).out.strip
    assert_includes names, "block in Cart#total"
    assert_includes names, "Array#each"
  end

  def test_frames_has_no_classes_of_ruby_code
    assert_equal "true", child!(PROGRAM, env: { "SPANPROF_RUBY_WALKER" => "frames" }).out.strip
    assert_includes names, "block in total"
    assert_includes names, "<main>"
    assert_includes names, "Array#each"
    refute_includes names, "block in Cart#total"
  end

  def test_off_refuses_with_a_reason
    result = child!(PROGRAM, env: { "SPANPROF_RUBY_WALKER" => "off" })
    assert_equal ["false", 'the stacks of this Ruby cannot be read: SPANPROF_RUBY_WALKER is "off"'], result.out.lines(chomp: true)
    assert_empty samples
  end

  def test_another_value_is_refused
    result = child!(PROGRAM, env: { "SPANPROF_RUBY_WALKER" => "fast" })
    assert_equal ["false", 'SPANPROF_RUBY_WALKER is not "methods", "frames" or "off"'], result.out.lines(chomp: true)
  end

  # The numbers of the system calls prctl() and process_vm_readv().
  SYSTEM_CALLS = { "x86_64" => [157, 310], "aarch64" => [167, 270] }.fetch(RbConfig::CONFIG["host_cpu"])

  # A seccomp(2) filter, as in containers, that lets process_vm_readv() fail.
  DENY_READING = <<~RUBY
    prctl, denied = #{SYSTEM_CALLS}
    $VERBOSE = nil # hides the warning that Kernel#syscall is deprecated
    steps = [[0x20, 0, 0, 0], [0x15, 0, 1, denied], [0x06, 0, 0, 0x00050001], [0x06, 0, 0, 0x7fff0000]]
    filter = steps.map { |step| step.pack("SCCL") }.join
    syscall(prctl, 38, 1, 0, 0, 0)
    program = [steps.size, [filter].pack("P").unpack1("J")].pack("Sx6J")
    syscall(prctl, 22, 2, [program].pack("P").unpack1("J"))
    begin
      syscall(denied, Process.pid, 0, 0, 0, 0, 0)
    rescue Errno::EPERM
      puts "denied"
    end
  RUBY

  def test_a_process_that_may_not_read_memory_is_profiled
    assert_equal %w[denied true], child!(DENY_READING + PROGRAM).out.split
    assert_includes names, "block in Cart#total"
  end

  def test_a_process_without_free_descriptors_has_a_reason
    program = "files = []\n3.times { files << File.open(IO::NULL) }\nrequire \"spanprof\"\n" \
              "Process.setrlimit(:NOFILE, files.last.fileno + 1)\np Spanprof.start\nputs Spanprof.unavailable_reason"
    assert_equal ["false", "the stacks of this Ruby cannot be read: its self-test needs a pipe: Too many open files"],
                 child!(program, env: { "PYROSCOPE_OUTPUT_DIRECTORY" => nil }).out.lines(chomp: true)
  end

  # Layouts of the VM by the version of Ruby: the offset of a thread's execution context, and the
  # number of words of a control frame. The library contains these layouts in any order.
  LAYOUTS = { "3.1" => [40, 8], "3.2" => [48, 8], "3.3" => [48, 7] }.freeze

  # @return [Array<String>] the output of a program that uses a copy of the gem. The copy has this
  #   layout for every version of Ruby
  def with_layout(layout)
    native = Gem.find_files("spanprof/spanprof_native.so").first
    code = File.binread(native)
    known = LAYOUTS.values.permutation.map { |all| all.flatten.pack("Q*") }.find { |all| code.scan(all).size == 1 }
    refute_nil known, "#{native} has no layouts"
    FileUtils.rm_rf("#{@directory}/other")
    FileUtils.cp_r("#{Gem::Specification.find_by_name("spanprof").gem_dir}/lib", "#{@directory}/other")
    File.binwrite("#{@directory}/other/spanprof/spanprof_native.so", code.sub(known, (layout * LAYOUTS.size).pack("Q*")))
    child!(PROGRAM, "-I", "#{@directory}/other").out.lines(chomp: true)
  end

  def test_a_vm_with_another_layout_is_refused_by_the_self_test
    mine = LAYOUTS.fetch(RUBY_VERSION[/\d+\.\d+/], LAYOUTS["3.3"])
    assert_equal "true", with_layout(mine).first
    [[40, 7], [40, 9], [48, 7], [48, 8], [56, 7], [56, 8]].each do |layout|
      next if layout == mine

      started, reason = with_layout(layout)
      assert_equal "false", started, "with #{layout}"
      assert_match(/\Athe stacks of this Ruby cannot be read: /, reason)
    end
  end

  def test_threads_that_move_between_native_threads_are_refused
    skip "threads of this Ruby do not move" if Gem::Version.new(RUBY_VERSION) < Gem::Version.new("3.3")
    result = child!(PROGRAM, env: { "RUBY_MN_THREADS" => "1" })
    assert_equal "false", result.out.lines.first.strip
    assert_match(/RUBY_MN_THREADS/, result.out)
  end
end
