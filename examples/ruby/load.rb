# frozen_string_literal: true

# load.rb PORT SECONDS: orders rides over loopback. Exits with 1 if a request failed.
require "net/http"

port, seconds = ARGV.map { |text| Integer(text) }
random = Random.new(3)
crossings = 48 * 48
answers = Hash.new(0)
lock = Mutex.new
end_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds

# Cars get the most requests.
path = lambda do
  case lock.synchronize { random.rand(10) }
  when 0..3 then "/car/#{rand(crossings)}"
  when 4..6 then "/scooter/#{rand(crossings)}"
  when 7..8 then "/bike/#{rand(crossings)}"
  else "/receipts/#{rand(100_000)}"
  end
end

Array.new(6) do
  Thread.new do
    Net::HTTP.start("127.0.0.1", port, read_timeout: 30) do |http|
      while Process.clock_gettime(Process::CLOCK_MONOTONIC) < end_s
        code = http.get(path.call).code
        lock.synchronize { answers[code] += 1 }
      end
    end
  end
end.each(&:join)
puts "#{answers.values.sum} requests in #{seconds} s, answers: #{answers.map { |code, count| "#{count} x #{code}" }.join(", ")}"
exit 1 unless answers.keys == ["200"]
