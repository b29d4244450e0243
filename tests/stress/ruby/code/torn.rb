# frozen_string_literal: true

# A method that uses $~ and then lets a closure escape from a nested block. While its environments
# move to the heap, the flags word of one environment is overwritten. A stack walk that follows this
# word without a check crashes at address NULL within seconds. (LINES below counts these lines.)
class Torn
  def escape(text)
    text =~ /b+/
    kept = nil
    [1].each do |first|
      [2].each do |second|
        kept = proc { first + second + $~.begin(0) }
      end
    end
    kept
  end

  def nested(depth, &block)
    "x#{depth}" =~ /x(\d)/
    return escape("abc").call unless depth.positive?

    [depth].map { |_| lambda { block.call($1) } }.first.call
    [depth].each { |left| [left].each { |now| nested(now - 1) { |digit| proc { [digit, left] }.call } } }
  end

  def self.run(escapes = 200, depth = 6)
    torn = new
    escapes.times { torn.escape("abbbc").call }
    torn.nested(depth) { |digit| digit }
  end

  # The callers that each function has in this file. The names have no class, because the class is
  # missing in a frame whose environment is just being moved to the heap.
  CALLERS = {
    "escape" => ["block in run", "nested"],
    "block in escape" => ["escape"],
    "block (2 levels) in escape" => ["block in escape"],
    "block (3 levels) in escape" => ["block in run", "nested"],
    "nested" => ["run", "block (2 levels) in nested"],
    "block in nested" => ["nested"],
    "block (2 levels) in nested" => ["block in nested", "nested"],
    "block (3 levels) in nested" => ["block (2 levels) in nested"],
    "block (4 levels) in nested" => ["block (3 levels) in nested"],
    "block in run" => ["run", "block (2 levels) in nested"],
    "run" => [nil]
  }.freeze

  LINES = { "escape" => 7..16, "nested" => 18..24, "run" => 26..30 }.freeze

  # @return [String, nil] a description of the fault in a sample's stack; nil if the stack is right
  def self.wrong(sample)
    frames = sample.frames.select { |frame| frame.file == __FILE__ }
    names = frames.map { |frame| frame.function.sub(/Torn[#.]/, "") }
    [*names, nil].each_cons(2) do |inner, outer|
      # If the walk was cut, the outer frames are missing.
      next if outer.nil? && !sample.in?(/<main>/)
      return "#{outer} calls #{inner}" unless CALLERS.fetch(inner, []).include?(outer)
    end
    frames.zip(names) { |frame, name| return "#{name} at #{frame.line}" unless LINES.fetch(name[/\w+\z/]).cover?(frame.line) }
    nil
  end
end
