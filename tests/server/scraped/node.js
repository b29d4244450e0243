// A program that needs only Node itself. It burns CPU, and answers
// /debug/pprof/profile?seconds=N with a profile of node:inspector. The profile is
// pprof with the types that Pyroscope's and Datadog's packages for Node use.
'use strict';
const http = require('node:http');
const { Session } = require('node:inspector');
const zlib = require('node:zlib');

function varint(number) {
  const bytes = [];
  let left = BigInt.asUintN(64, BigInt(number));
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(left)]);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

// https://chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile
function pprof(profile, timeNs) {
  const texts = new Map([['', 0]]);
  const text = (value) => texts.get(value) ?? texts.set(value, texts.size).get(value);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const self = new Map();
  profile.samples.forEach((id, i) => {
    const [count, us] = self.get(id) ?? [0, 0];
    self.set(id, [count + 1, us + Math.max(profile.timeDeltas[i], 0)]);
  });
  for (const node of profile.nodes) for (const child of node.children ?? []) nodes.get(child).parent = node;
  const parts = [
    message(1, number(1, text('sample')), number(2, text('count'))),
    message(1, number(1, text('wall')), number(2, text('nanoseconds'))),
  ];
  for (const node of profile.nodes) {
    const frame = node.callFrame;
    parts.push(message(5, number(1, node.id), number(2, text(frame.functionName || '(anonymous)')), number(4, text(frame.url))));
    parts.push(message(4, number(1, node.id), message(4, number(1, node.id), number(2, frame.lineNumber + 1))));
  }
  for (const [id, [count, us]] of self) {
    const stack = [];
    for (let node = nodes.get(id); node; node = node.parent) stack.push(number(1, node.id));
    parts.push(message(2, ...stack, number(2, count), number(2, us * 1000)));
  }
  const period = message(11, number(1, text('wall')), number(2, text('nanoseconds')));
  const names = [...texts.keys()].map((value) => bytes(6, Buffer.from(value)));
  return zlib.gzipSync(Buffer.concat([...parts, ...names, period, number(12, 1000000), number(9, timeNs),
    number(10, (profile.endTime - profile.startTime) * 1000)]));
}

function profileOf(seconds, done) {
  const session = new Session();
  const timeNs = BigInt(Date.now()) * 1000000n;
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.start', () => setTimeout(() => session.post('Profiler.stop', (error, { profile }) => {
    session.disconnect();
    done(pprof(profile, timeNs));
  }), seconds * 1000));
}

function burnInNode() {
  const until = Date.now() + 5;
  while (Date.now() < until) Math.sqrt(until);
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  if (url.pathname !== '/debug/pprof/profile') {
    response.writeHead(404).end('not found\n');
    return;
  }
  profileOf(Number(url.searchParams.get('seconds') ?? 30), (body) => response.writeHead(200).end(body));
});
server.listen(0, '127.0.0.1', () => {
  console.log(`127.0.0.1:${server.address().port}`);
  setInterval(burnInNode, 10);
});
