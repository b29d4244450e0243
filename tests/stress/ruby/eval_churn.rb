# frozen_string_literal: true

# Code is created and freed by eval, define_method, undef and anonymous classes. Code that waits for
# its name must stay alive; other code must be freed.
require_relative "stress"

# The class whose methods are defined and removed.
class Churn
  def burn(count) = (1..count).sum { |number| number.to_s.hash & 1 }
end

Stress.run do |round|
  name = "made_#{round % 50}"
  Churn.class_eval("def #{name}(n) = [n].map { |one| burn(one) }", "churn_#{round}.rb", 1)
  Churn.new.send(name, 20)
  Churn.class_eval { define_method("other_#{name}") { |n| burn(n) } }
  Churn.new.send("other_#{name}", 20)
  Churn.send(:undef_method, name) if round.even?
  Class.new(Churn) { def burn(count) = super(count) + 1 }.new.burn(20)
  eval("proc { |x| x.then { |y| y * #{round} } }").call(3)
  GC.start if (round % 500).zero?
end
