# frozen_string_literal: true

# A JIT compiler's code, whose frames are often inconsistent, is walked between any
# two instructions. torn.rb walks the interpreter's often enough.
require_relative "stress"
require_relative "code/torn"

unless RbConfig::CONFIG["host_cpu"] == "x86_64" && RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.enabled?
  puts "for a JIT compiler of x86-64"
  exit 77
end

steps = nil
calls = { begin: [[], Fiddle::TYPE_INT], end: [[], Fiddle::TYPE_VOID], walks: [[], Fiddle::TYPE_LONG_LONG] }
# In single steps, a collection takes longer than the wait for names.
GC.disable
Stress.run(wrong: ->(sample) { Torn.wrong(sample) }) do |round|
  # Compiled before the first step.
  100.times { Torn.run } if round.zero?
  GC.start
  steps ||= Stress.c_functions("steps.c", calls)
  error = steps[:begin].call
  abort "no steps: #{SystemCallError.new(error).message}" unless error.zero?
  Torn.run(1, 1)
  steps[:end].call
end
walks = steps[:walks].call
puts "#{walks} walks in compiled code"
abort "too few walks in compiled code" if walks < 500
