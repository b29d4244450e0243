# frozen_string_literal: true

# Methods that are created and freed. The name, the file and the line of a method contain its
# number, so that a frame with the name, file or line of another method is detected.
module Marked
  # Defines methods with this number, calls them, and releases them.
  def self.call(number)
    made = Class.new
    made.class_eval(<<~RUBY, "marked #{number}", line(number))
      def outer_#{number}(count)
        inner_#{number}(count)
      end
      def inner_#{number}(count)
        20.times { |one| count += one.to_s.size }
        count
      end
    RUBY
    one = made.new
    10.times { one.public_send("outer_#{number}", 1) }
  end

  def self.line(number) = (number % 97) + 1

  # @return [String, nil] a description of the fault in a sample's stack; nil if the stack is right
  def self.wrong(sample)
    frames = sample.frames.select { |frame| frame.function.match?(/(outer|inner)_\d+\z/) }
    [*frames, nil].each_cons(2) do |frame, outer|
      kind, number = frame.function.match(/(outer|inner)_(\d+)\z/).captures
      first = line(number.to_i) + (kind == "inner" ? 3 : 0)
      return "#{frame.function} in #{frame.file}" unless frame.file == "marked #{number}"
      return "#{frame.function} at #{frame.line}" unless (first..first + 3).cover?(frame.line)
      return "#{outer.function} calls #{frame.function}" if kind == "inner" && outer && !outer.function.end_with?("_#{number}")
    end
    nil
  end
end
