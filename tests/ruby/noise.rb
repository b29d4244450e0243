# frozen_string_literal: true

require "etc"

# Maximum differences that chance may cause between the CPU time in a profile and the CPU time that
# was burned. A correct profile exceeds each maximum at most once in a million cases.
module Noise
  # Number of standard deviations that a normally distributed value exceeds with a probability of
  # 1e-6 (two-sided).
  DEVIATIONS = 4.9
  # The number of standard deviations for Student's distribution with ten degrees of freedom.
  SIX_ROUNDS = 10.6
  # Hoeffding's inequality for a sum of n independent values within a range of one: with a
  # probability of 1e-6 the sum deviates by more than this factor, sqrt(log(2e6) / 2), times
  # sqrt(n).
  SUM_OF_ROUNDED = 2.7
  # LATE_S: the kernel checks the CPU clock of a thread at the kernel's own ticks, at least 250
  # times a second. So a tick that is due just before a thread ends is recorded only at the thread's
  # end. AWAY_S: on machines that share processors, a processor may be unavailable for this time or
  # longer (45 ms were seen).
  LATE_S = 0.004
  AWAY_S = 0.06

  # @return [Float] s for which a hypervisor has stopped the machine since its start, summed over
  #   all processors (steal in https://docs.kernel.org/filesystems/proc.html)
  def self.stolen_s = File.foreach("/proc/stat").first.split[8].to_f / Etc.sysconf(Etc::SC_CLK_TCK)

  BEGAN_S = stolen_s

  # @return [Float] maximum CPU time in s that a thread uses between two recorded ticks
  def self.late_s = [AWAY_S, stolen_s - BEGAN_S].max

  # @param true_s [Float] CPU time that was burned in the examined code
  # @param total_s [Float] CPU time of all samples
  # @param samples [Integer] number of samples in total_s
  # @param threads [Integer] number of threads that began or ended meanwhile; the time of each
  #   thread is rounded to ticks
  # @return [Float] maximum difference in s
  def self.seconds(true_s, total_s:, samples:, threads: 1)
    tick_s = total_s / [samples, 1].max
    share = [true_s / total_s, 1.0].min
    drawn = DEVIATIONS * Math.sqrt(samples * share * (1 - share))
    rounded = [threads, SUM_OF_ROUNDED * Math.sqrt(threads)].min
    (drawn + rounded) * tick_s + threads * LATE_S + late_s
  end

  # @param counted [Array<Array>] two pairs of a count and the s in which it was counted
  # @return [Float] maximum difference of both rates (1/s)
  def self.rates(*counted)
    DEVIATIONS * Math.sqrt(counted.sum { |count, seconds| count / seconds**2 })
  end

  # @param series [Array<Array<Float>>] two series of six measurements, taken alternately, because the
  #   load of the machine changes
  # @return [Float] maximum difference of the means of both series
  def self.six_rounds(*series)
    SIX_ROUNDS * Math.sqrt(series.sum { |values| variance(values) } / 6)
  end

  def self.variance(values)
    mean = values.sum / values.size
    values.sum { |value| (value - mean)**2 } / (values.size - 1)
  end

  # @param samples [Array<ProfileReader::Sample>]
  # @return [Float] s that threads burned after their last tick. The profile contains this time, but
  #   not as time of a method.
  def self.ended_s(samples)
    samples.sum { |sample| sample.stack == ["[thread end]"] ? sample.cpu_ns : 0 } / 1e9
  end
end
