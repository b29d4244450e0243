# frozen_string_literal: true

# Builds one shared object from the core and its command (their unity files), the hand-written
# binding and the SWIG module. An installed gem has all sources under vendor/; a checkout is
# compiled in place.
#
# On Linux, the installation fails if the sources cannot be compiled, and one sentence names the
# missing packages. Other systems cannot be profiled. On these systems, or with SPANPROF_REQUIRED=0,
# the gem is installed without the shared object, and lib/spanprof/skipped_reason.txt has the
# reason, which Spanprof.unavailable_reason returns. With SPANPROF_REQUIRED=1 the installation fails
# on other systems, too.

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

# INSTALL has the commands of Debian, Alpine and Fedora that install packages. TOOLS and
# RUBY_HEADERS have the names of the packages in the same order.
INSTALL = ["apt-get install", "apk add", "dnf install"].freeze
TOOLS = ["gcc make libc6-dev", "gcc make musl-dev", "gcc make glibc-devel"].freeze
RUBY_HEADERS = ["ruby-dev", "ruby-dev", "ruby-devel"].freeze
# For each library: its name for pkg-config, its name for the linker, a function, a header, and the
# packages in the order of INSTALL.
LIBRARIES = [
  ["libcurl", "curl", "curl_easy_init", "curl/curl.h", ["libcurl4-openssl-dev", "curl-dev", "libcurl-devel"]],
  ["zlib", "z", "deflate", "zlib.h", ["zlib1g-dev", "zlib-dev", "zlib-devel"]],
  ["libprotobuf-c", "protobuf-c", "protobuf_c_message_pack", "protobuf-c/protobuf-c.h",
   ["libprotobuf-c-dev", "protobuf-c-dev", "protobuf-c-devel"]]
].freeze

NOT_INSTALLED = "spanprof is not installed: %s; set SPANPROF_REQUIRED=0 to install it without profiling"
NOT_COMPILED = "it could not be compiled, see the output of its installation"

# FAILED has the commands that make runs if the compilation fails. The Makefile also deletes the
# object files after the installation. RubyGems sets the destination in RbConfig; its newer versions
# set it in a variable of make.
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

# Returns the command that installs packages on this system.
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
# -g1 adds the function names and lines for a backtrace. The library has 1.1 MB; debug information
# about types and variables would add 1.5 MB, and each installed gem contains the library twice.
append_cflags("-g1")
# nodelete: if a signal is pending when the library is unloaded, the signal handler still runs, so
# its code must stay mapped. now: the handler must not run the dynamic linker, as lazy binding
# would.
append_ldflags(%w[-Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack -Wl,--exclude-libs,ALL])
append_ldflags("-Wl,--version-script=#{ROOT}/bindings/ruby/exports.map")
# Expand the variables of make in CFLAGS, because the flag -O may be in their values.
$defs << "-U_FORTIFY_SOURCE" << "-D_FORTIFY_SOURCE=2" if RbConfig.expand($CFLAGS.dup).match?(/-O[1-9s]/)
$defs << "-D_GNU_SOURCE" << "-DSPANPROF_STATIC"
$defs << "-DSPANPROF_TEST_VARIABLES" if enable_config("test-variables", false)
# A statement for the assembler in core/page/built_page.c includes the page and defines a symbol for
# it. Link-time optimization could move the code that uses the symbol into another partition, where
# the symbol is unknown.
if File.size?(page)
  $defs << "-DSP_PAGE_FILE=#{%("#{page}").shellescape}"
  append_cflags("-fno-lto")
end
$INCFLAGS << FOLDERS.map { |folder| " -I#{ROOT}/#{folder}" }.join << " -I#{generated}"
# The object files of all folders are in one folder. This works because all source files have
# different names.
bindings = Dir["#{ROOT}/bindings/{common,ruby}/**/*.c"].sort
$VPATH.push("#{ROOT}/core/src", "#{ROOT}/core/command", *bindings.map { |path| File.dirname(path) }.uniq, generated)
$srcs = %w[spanprof_unity.c command_unity.c spanprof_wrap_rb.c] + bindings.map { |path| File.basename(path) }

create_makefile("spanprof/spanprof_native")
if PACKAGED
  File.rename("Makefile", "Makefile.native")
  File.write("Makefile", MAKEFILE)
end
