# frozen_string_literal: true

# Walks the stack between any two instructions of a JIT compiler's code, whose VM frames are often
# inconsistent. (torn.rb does this for the interpreter's code, with timers, which is often enough
# there.)
require_relative "stress"
require_relative "code/torn"

unless RbConfig::CONFIG["host_cpu"] == "x86_64" && RubyVM.const_defined?(:YJIT) && RubyVM::YJIT.enabled?
  puts "for a JIT compiler of x86-64"
  exit 77
end

steps = nil
calls = { begin: [[], Fiddle::TYPE_INT], end: [[], Fiddle::TYPE_VOID], walks: [[], Fiddle::TYPE_LONG_LONG] }
# A garbage collection in single steps takes so long that the names of frames would not be resolved
# in time.
GC.disable
Stress.run(wrong: ->(sample) { Torn.wrong(sample) }) do |round|
  # Let the compiler compile the code before the first step.
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
