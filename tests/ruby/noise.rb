# frozen_string_literal: true

require "etc"

# Maximum differences between a profile and the burned CPU time that chance may cause. A correct
# profile exceeds each at most once in a million cases.
module Noise
  # Standard deviations of a normal distribution for a two-sided probability of 1e-6.
  DEVIATIONS = 4.9
  # The same for Student's distribution with ten degrees of freedom.
  SIX_ROUNDS = 10.6
  # The same by Hoeffding's inequality, for a sum of `count` independent values within a range of
  # one: sqrt(log(2e6) / 2).
  SUM_OF_ROUNDED = 2.7
  # A kernel checks a thread's CPU clock at its own ticks, at least 250 times a second: if a tick is
  # due just before a thread ends, it is recorded at the end. On machines that share processors, a
  # processor may be unavailable for AWAY_S or longer (45 ms were seen).
  LATE_S = 0.004
  AWAY_S = 0.06

  # @return [Float] s in which a hypervisor kept the machine from running, since its start and on
  #   all processors (steal in https://docs.kernel.org/filesystems/proc.html)
  def self.stolen_s = File.foreach("/proc/stat").first.split[8].to_f / Etc.sysconf(Etc::SC_CLK_TCK)

  BEGAN_S = stolen_s

  # @return [Float] maximum s of CPU time of a thread between two recorded ticks
  def self.late_s = [AWAY_S, stolen_s - BEGAN_S].max

  # @param true_s [Float] CPU time in the examined place
  # @param total_s [Float] CPU time of all samples
  # @param samples [Integer] number of samples in total_s
  # @param threads [Integer] number of threads that began or ended meanwhile: each rounds its time
  #   to ticks
  # @return [Float] s
  def self.seconds(true_s, total_s:, samples:, threads: 1)
    tick_s = total_s / [samples, 1].max
    share = [true_s / total_s, 1.0].min
    drawn = DEVIATIONS * Math.sqrt(samples * share * (1 - share))
    rounded = [threads, SUM_OF_ROUNDED * Math.sqrt(threads)].min
    (drawn + rounded) * tick_s + threads * LATE_S + late_s
  end

  # @param counted [Array<Array>] two pairs of a count and its duration in s
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
  # @return [Float] s that threads burned after their last tick. The profile has this time, but in
  #   no method.
  def self.ended_s(samples)
    samples.sum { |sample| sample.stack == ["[thread end]"] ? sample.cpu_ns : 0 } / 1e9
  end
end
