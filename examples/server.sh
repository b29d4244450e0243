# shellcheck shell=bash
# Functions for examples/run, which start and stop the server that receives the profiles and traces
# of the examples.

# server_start DIRECTORY: starts a server with an empty data directory; sets and exports
# SPANPROF_EXAMPLE_SERVER. The server stops when the script ends, unless server_keep is called.
server_start() {
  local port=${SPANPROF_EXAMPLE_PORT:-4040} line

  rm -rf "$1"
  mkdir -p "$1"
  if (: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
    echo "Port $port is in use; the server chooses another."
    port=0
  fi
  server_log=$1/server.txt
  : > "$server_log" # The loop below may read the file before the server's shell opens it.
  setsid spanprof serve --listen "127.0.0.1:$port" --data "$1" > "$server_log" 2>&1 < /dev/null &
  server_pid=$!
  trap server_stop EXIT
  for _ in $(seq 100); do
    line=$(head -n 1 "$server_log")
    [ -z "$line" ] || break
    sleep 0.1
  done
  SPANPROF_EXAMPLE_SERVER=$(sed -nE 's/.* at (http:[^ ,]+),.*/\1/p' <<< "$line")
  if [ -z "$SPANPROF_EXAMPLE_SERVER" ]; then
    echo "The server did not start: $(cat "$server_log")" >&2
    return 1
  fi
  export SPANPROF_EXAMPLE_SERVER
  echo "$line"
}

server_stop() {
  kill "$server_pid" 2> /dev/null || true
}

# server_counts: prints the number of received spans of each application.
server_counts() {
  local application count

  echo
  echo "Sent to the server, by application:"
  for application in embed rideshare-ruby library-asyncio library-threaded; do
    count=$(server_count "$application")
    printf '  %-16s %s\n' "$application" "$count"
  done
}

# server_count APPLICATION: prints the number of the application's spans with samples, and how many
# of these spans are in traces.
server_count() {
  curl -sSfG "$SPANPROF_EXAMPLE_SERVER/api/v1/spans" -d by=name -d limit=10000 \
    --data-urlencode "query={service_name=\"$1\"}" |
    sed -E 's/"(spans|traced)":([0-9]+)/\n\1 \2\n/g' |
    awk '$1 == "spans" { spans += $2 } $1 == "traced" { traced += $2 }
      END { printf "%d spans with samples, %d of them in traces\n", spans, traced }'
}

server_keep() {
  trap - EXIT
  disown "$server_pid"
  echo
  echo "The page: $SPANPROF_EXAMPLE_SERVER/ (until: kill $server_pid)"
}
