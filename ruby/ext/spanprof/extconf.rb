# frozen_string_literal: true

# Builds one shared object from the core and its command (their unity files), the hand-written
# binding and the SWIG module. An installed gem has all sources under vendor/; a checkout is
# compiled in place.
#
# On Linux, an installation that cannot be compiled fails with a sentence that names the missing
# packages. Other systems cannot be profiled. There, or with SPANPROF_REQUIRED=0, the gem is
# installed without the library, and lib/spanprof/skipped_reason.txt has the reason, which
# Spanprof.unavailable_reason returns. With SPANPROF_REQUIRED=1 the installation fails in this case,
# too.

require "rbconfig"
require "shellwords"

REASON = "skipped_reason.txt"
SYSTEM = RbConfig::CONFIG["host_os"]
SUPPORTED = RUBY_ENGINE == "ruby" && SYSTEM.include?("linux")
REQUIRED = ENV.fetch("SPANPROF_REQUIRED", SUPPORTED ? "1" : "0") == "1"
VENDOR = File.expand_path("vendor", __dir__)
PACKAGED = File.directory?(VENDOR)
ROOT = PACKAGED ? VENDOR : File.expand_path("../../..", __dir__)
FOLDERS = %w[core/include core/src core bindings/common bindings/ruby swig swig/lang].freeze

# Commands that install packages, and the packages with the tools, in the same order.
INSTALL = ["apt-get install", "apk add", "dnf install"].freeze
TOOLS = ["gcc make libc6-dev", "gcc make musl-dev", "gcc make glibc-devel"].freeze
RUBY_HEADERS = ["ruby-dev", "ruby-dev", "ruby-devel"].freeze
# For each library: its names for pkg-config and the linker, a function, a header and packages.
LIBRARIES = [
  ["libcurl", "curl", "curl_easy_init", "curl/curl.h", ["libcurl4-openssl-dev", "curl-dev", "libcurl-devel"]],
  ["zlib", "z", "deflate", "zlib.h", ["zlib1g-dev", "zlib-dev", "zlib-devel"]],
  ["libprotobuf-c", "protobuf-c", "protobuf_c_message_pack", "protobuf-c/protobuf-c.h",
   ["libprotobuf-c-dev", "protobuf-c-dev", "protobuf-c-devel"]]
].freeze

NOT_INSTALLED = "spanprof is not installed: %s; SPANPROF_REQUIRED=0 installs it without profiling"
NOT_COMPILED = "it could not be compiled, see the output of its installation"

# The commands of make after a failed compilation. Objects are deleted when the library is
# installed. RubyGems sets the destination in RbConfig, newer versions in a variable of make.
FAILED = REQUIRED ? "{ echo '#{format(NOT_INSTALLED, NOT_COMPILED)}' >&2; exit 1; }" : "echo '#{NOT_COMPILED}' > #{REASON}"
MAKEFILE = <<~MAKEFILE
  sitearchdir = #{RbConfig.expand(RbConfig::MAKEFILE_CONFIG["sitearchdir"].dup)}
  all:
  	@$(MAKE) -f Makefile.native all || #{FAILED}
  install:
  	@if test -f #{REASON}; then mkdir -p "$(DESTDIR)$(sitearchdir)/spanprof" && \\
  	  cp #{REASON} "$(DESTDIR)$(sitearchdir)/spanprof/"; \\
  	else $(MAKE) -f Makefile.native install && rm -f *.o *.so; fi
  clean:
  	@:
MAKEFILE

def skip(reason)
  abort format(NOT_INSTALLED, reason) if REQUIRED
  warn "spanprof is installed, but cannot profile: #{reason}."
  File.write(REASON, "#{reason}\n")
  File.write("Makefile", MAKEFILE.sub(/^\t.*Makefile\.native all.*/, "\t@:"))
  exit
end

def found?(program)
  ENV["PATH"].split(":").any? { |folder| File.executable?("#{folder}/#{program}") }
end

# The command that installs packages on this system.
# @param packages [Array<Array<String>>] names in the order of INSTALL
def remedy(packages)
  i = INSTALL.index { |install| found?(install.split.first) }
  "#{"in Debian: " unless i}#{INSTALL[i || 0]} #{packages.map { |names| names[i || 0] }.join(" ")}"
end

skip("#{RUBY_ENGINE} is not supported: profiling needs CRuby") unless RUBY_ENGINE == "ruby"
skip("#{SYSTEM} is not supported: profiling needs Linux") unless SUPPORTED
skip("make is missing (#{remedy([TOOLS])})") unless found?("make")
skip("ruby.h is missing (#{remedy([RUBY_HEADERS])})") unless File.file?("#{RbConfig::CONFIG["rubyhdrdir"]}/ruby.h")

require "mkmf"

begin
  works = try_compile("int main(void) { return 0; }")
rescue RuntimeError
  works = false
end
skip("no C compiler works (#{remedy([TOOLS])})") unless works
missing = LIBRARIES.reject do |package, library, function, header|
  pkg_config(package)
  have_header(header) && have_library(library, function, header)
end
unless missing.empty?
  headers = missing.map { |_, _, _, header| header }.join(", ")
  skip("#{headers} or its library is missing (#{remedy(missing.map(&:last))})")
end
have_header("libunwind.h")

if PACKAGED
  generated = "#{VENDOR}/generated"
  page = "#{VENDOR}/core/page/page.html"
elsif File.directory?("#{ROOT}/core")
  require_relative "generate"
  generated = File.join(Dir.pwd, "generated")
  generate(ROOT, generated)
  page = File.join(Dir.pwd, "page.html")
else
  skip("this gem was built without its sources (rake gem packs them)")
end

append_cflags(%w[-std=gnu11 -fvisibility=hidden -fstack-protector-strong -Werror=implicit-function-declaration])
# Names and lines for a backtrace. Types and variables would add 1.5 MB to 1.1 MB, and each
# installed gem has the library twice.
append_cflags("-g1")
# A signal that is pending when the library is unloaded still runs the handler, so its code must stay
# mapped. The handler must not call the lazy resolver either.
append_ldflags(%w[-Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--exclude-libs,ALL])
append_ldflags("-Wl,--version-script=#{ROOT}/bindings/ruby/exports.map")
# CFLAGS may refer to variables of make, whose values contain the flags that the pattern looks for.
$defs << "-U_FORTIFY_SOURCE" << "-D_FORTIFY_SOURCE=2" if RbConfig.expand($CFLAGS.dup).match?(/-O[1-9s]/)
$defs << "-D_GNU_SOURCE" << "-DSPANPROF_STATIC"
$defs << "-DSPANPROF_TEST_VARIABLES" if enable_config("test-variables", false)
# The assembler includes the page (core/page/built_page.c) as a symbol. Link-time optimization could
# move the code that uses the symbol into another partition, which does not find it.
if File.size?(page)
  $defs << "-DSP_PAGE_FILE=#{%("#{page}").shellescape}"
  append_cflags("-fno-lto")
end
$INCFLAGS << FOLDERS.map { |folder| " -I#{ROOT}/#{folder}" }.join << " -I#{generated}"
# All source files have different names, because the objects of all folders are in one folder.
bindings = Dir["#{ROOT}/bindings/{common,ruby}/**/*.c"].sort
$VPATH.push("#{ROOT}/core/src", "#{ROOT}/core/command", *bindings.map { |path| File.dirname(path) }.uniq, generated)
$srcs = %w[spanprof_unity.c command_unity.c spanprof_wrap_rb.c] + bindings.map { |path| File.basename(path) }

create_makefile("spanprof/spanprof_native")
if PACKAGED
  File.rename("Makefile", "Makefile.native")
  File.write("Makefile", MAKEFILE)
end
