# frozen_string_literal: true

require "etc"

# How far a profile may be from the CPU time that was burned, by chance alone: to
# be exceeded once in a million times at most.
module Noise
  # Of a normal distribution, on both sides of it: 1e-6.
  DEVIATIONS = 4.9
  # The same of Student's distribution with ten degrees of freedom.
  SIX_TURNS = 10.6
  # The same by Hoeffding's inequality, for a sum of `count` independent values
  # within a range of one: sqrt(log(2e6) / 2).
  SUM_OF_ROUNDED = 2.7
  # Kernels look at a thread's CPU clock when they tick in it, 250 times a second
  # or more often: what was due just before a thread ended is booked where it ends.
  # Where machines share processors, one may be away for so long as it says, or
  # longer (45 ms).
  LATE_S = 0.004
  AWAY_S = 0.06

  # @return [Float] s that a hypervisor kept the machine from running, since its
  #   start and on all processors (steal in
  #   https://docs.kernel.org/filesystems/proc.html)
  def self.stolen_s = File.foreach("/proc/stat").first.split[8].to_f / Etc.sysconf(Etc::SC_CLK_TCK)

  BEGAN_S = stolen_s

  # @return [Float] s of CPU of a thread between two ticks that hit it, at most
  def self.late_s = [AWAY_S, stolen_s - BEGAN_S].max

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
    (drawn + rounded) * tick_s + threads * LATE_S + late_s
  end

  # @param counted [Array<Array>] what was counted, and in how many s, twice
  # @return [Float] how far both rates (1/s) may be from each other
  def self.rates(*counted)
    DEVIATIONS * Math.sqrt(counted.sum { |count, seconds| count / seconds**2 })
  end

  # @param turns [Array<Array<Float>>] what was measured in each of six turns, twice,
  #   on a machine that others use more or less in the meantime
  # @return [Float] how far both means may be from each other
  def self.six_turns(*turns)
    SIX_TURNS * Math.sqrt(turns.sum { |values| variance(values) } / 6)
  end

  def self.variance(values)
    mean = values.sum / values.size
    values.sum { |value| (value - mean)**2 } / (values.size - 1)
  end

  # @param samples [Array<ProfileReader::Sample>]
  # @return [Float] s that threads burned after the last tick that hit them, which
  #   the profile books where they ended: true, and in no method
  def self.ended_s(samples)
    samples.sum { |sample| sample.stack == ["[thread end]"] ? sample.cpu_ns : 0 } / 1e9
  end
end
