# frozen_string_literal: true

require "prefork"

# Unicorn, which forks workers. The workers end by exit!.
class UnicornTest < PreforkTest
  def unicorn(start, options = "preload_app true")
    File.write("#{@directory}/config.ru", rackup(start))
    File.write("#{@directory}/unicorn.rb", <<~RUBY)
      worker_processes 2
      listen "127.0.0.1:#{port = free_port}"
      #{options}
    RUBY
    burnt = nil
    serve("unicorn", "-c", "unicorn.rb", signal: "QUIT") { burnt = requests(port) }
    burnt
  end

  def test_workers_of_a_preloaded_application
    assert_profiled(unicorn(START))
  end

  def test_workers_that_configure_again
    assert_profiled(unicorn(START, "preload_app true\nafter_fork { |_, _| #{AGAIN} }"))
  end
end
