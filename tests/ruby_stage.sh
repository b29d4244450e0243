# shellcheck shell=bash
# Sourced by stage.sh: the gem, built and installed as users do, then tested as
# it is installed, on every Ruby of tests/gems/ that is found.

# The interpreters, one of each minor version, the one on PATH first.
ruby_all() {
  local ruby version seen=" "

  for ruby in "$(command -v ruby)" /usr/bin/ruby3.? "$HOME"/.rbenv/versions/*/bin/ruby; do
    version=$("$ruby" -e 'print RUBY_VERSION[/\d+\.\d+/]' 2> /dev/null) || continue
    if [[ $seen != *" $version "* ]]; then
      seen+="$version "
      echo "$ruby $version"
    fi
  done
}

# ruby_gems RUBY VERSION: what tests use, into build/gems; nothing is asked for
# again that is there.
ruby_gems() {
  local missing=() name number

  while read -r name number; do
    [ -n "$(compgen -G "build/gems/$2/specifications/$name-$number*.gemspec")" ] ||
      missing+=("$name:$number")
  done <<< "$(grep -v '^#' "tests/gems/$2.txt")"
  if [ ${#missing[@]} -eq 0 ]; then
    return 0
  fi
  echo "Ruby $2: installing ${#missing[@]} gems"
  GEM_HOME=$PWD/build/gems/$2 GEM_PATH=$PWD/build/gems/$2 MAKEFLAGS=-j2 "$1" -S gem install \
    --no-document --ignore-dependencies --conservative "${missing[@]}"
}

# Everything below finds the installed gem, and no file of the checkout.
ruby_install() {
  export GEM_HOME=$PWD/build/ruby-$2 GEM_PATH=$PWD/build/ruby-$2:$PWD/build/gems/$2
  rm -rf "$GEM_HOME"
  SPANPROF_REQUIRED=1 "$1" -S gem install --local --force --no-document build/spanprof.gem -- --enable-test-variables
}

ruby_tests() {
  local ruby=$1 version=$2 path jit jits=("")

  for path in tests/ruby/test_*.rb; do
    lane check "ruby-$version-$(basename "$path" .rb)" 300 "$ruby" -w -Itests/ruby "$path" --verbose
  done
  lanes_end
  if "$ruby" --yjit -e 'exit RubyVM::YJIT.enabled?' 2> /dev/null; then
    jits+=(--yjit)
  fi
  for path in tests/stress/ruby/*.rb; do
    [ "${path##*/}" != stress.rb ] || continue # what the others share
    for jit in "${jits[@]}"; do
      # shellcheck disable=SC2086
      lane check "ruby-$version-stress$jit-$(basename "$path" .rb)" $((SPANPROF_STRESS_SECONDS * 3 + 60)) "$ruby" $jit "$path"
    done
  done
  lanes_end
}

# ruby_own_tests RUBY: those of the interpreter, profiled.
ruby_own_tests() {
  local version
  version=$("$1" -e 'print RUBY_VERSION')
  tests/runtimes/ruby_source.sh "$version" || return
  "$1" tests/runtimes/ruby.rb "build/ruby-source/ruby-$version"
}

# What the set-up brings has to be there.
stage_ruby() {
  local ruby version path headers before=$PATH needs_all=1
  unset RUBYOPT RUBYLIB BUNDLE_GEMFILE

  headers=$(ruby -rrbconfig -e 'print RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").join(" ")')
  check ruby-strict 120 strict_binding ruby "$headers"
  check ruby-rules 60 rules_binding ruby "$headers" rb_sp_walker_walk rb_sp_walker_stack_end
  check ruby-gem 60 rake --rakefile ruby/Rakefile gem
  while read -r ruby version; do
    if [ ! -e "tests/gems/$version.txt" ] && [ "$ruby" != "$(command -v ruby)" ]; then
      echo "SKIP ruby-$version: tests/gems/$version.txt, the gems of its tests, does not exist"
      continue
    fi
    check "ruby-$version-gems" 900 ruby_gems "$ruby" "$version"
    check "ruby-$version-install" 180 ruby_install "$ruby" "$version"
    export GEM_HOME=$PWD/build/ruby-$version GEM_PATH=$PWD/build/ruby-$version:$PWD/build/gems/$version
    export PATH=$PWD/build/gems/$version/bin:$before
    ruby_tests "$ruby" "$version"
    lane check "ruby-$version-cost" 300 binding_cost ruby "$version" "$ruby" tests/cost/binding/cost.rb
    for path in tests/package/gem_*.sh; do
      lane check "ruby-$version-$(basename "$path" .sh)" 900 "$path" "$ruby"
    done
    lane check "ruby-$version-own_tests" 7200 ruby_own_tests "$ruby"
    lane check "ruby-$version-types" 240 "$ruby" tests/package/gem_types.rb --verbose
    lanes_end
  done < <(ruby_all)
  PATH=$before
  if jruby -e 'exit RUBY_VERSION >= "3.1"' 2> /dev/null; then
    check jruby 900 tests/package/jruby.sh
  else
    echo "SKIP jruby: no JRuby of Ruby 3.1 or newer is installed"
  fi
}
