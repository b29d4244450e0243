# frozen_string_literal: true

# How far a profile may be from the CPU time that was burned, by chance alone: to
# be exceeded once in a million times at most.
module Noise
  # Of a normal distribution, on both sides of it: 1e-6.
  DEVIATIONS = 4.9
  # The same by Hoeffding's inequality, for a sum of `count` independent values
  # within a range of one: sqrt(log(2e6) / 2).
  SUM_OF_ROUNDED = 2.7
  # Kernels look at a thread's CPU clock 250 times a second or more often: a tick
  # that was due just before a thread ended is booked where it ends. Once in a
  # program the machine may itself be away for longer, which a thread's clock
  # counts: on virtual cores that ten programs shared it was 45 ms.
  LATE_S = 0.004
  AWAY_S = 0.06

  # @param true_s [Float] CPU time in the place that is looked at
  # @param total_s [Float] CPU time of all that was sampled
  # @param samples [Integer] taken in total_s
  # @param threads [Integer] that began or ended in between: each rounds its time
  #   to ticks
  # @return [Float] s
  def self.seconds(true_s, total_s:, samples:, threads: 1)
    tick_s = total_s / [samples, 1].max
    share = [true_s / total_s, 1.0].min
    drawn = DEVIATIONS * Math.sqrt(samples * share * (1 - share))
    rounded = [threads, SUM_OF_ROUNDED * Math.sqrt(threads)].min
    (drawn + rounded) * tick_s + threads * LATE_S + AWAY_S
  end
end
