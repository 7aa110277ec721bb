// BullMQ in a process of its own: the words of peer.py, a line of JSON in, one out.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(process.argv[3] + "/");
const { Queue, Worker } = require("bullmq");
const connection = { path: process.argv[2], db: 1, maxRetriesPerRequest: null };
const PAYLOAD = "x".repeat(100);
const kept = { removeOnComplete: true, removeOnFail: true };
const queue = new Queue("bull", { connection, defaultJobOptions: kept });
const now = () => Number(process.hrtime.bigint()) / 1e9;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function flush() {
  await queue.obliterate({ force: true });
}

async function enqueue(count) {
  const began = now();
  for (let n = 0; n < count; n++) await queue.add("ran", PAYLOAD);
  const took = now() - began;
  await flush();
  return took;
}

async function bulk(count, chunk) {
  const began = now();
  for (let n = 0; n < count; n += chunk) {
    await queue.addBulk(Array.from({ length: chunk }, () => ({ name: "ran", data: PAYLOAD })));
  }
  const took = now() - began;
  await flush();
  return took;
}

async function drain(count, concurrency) {
  const jobs = Array.from({ length: count }, () => ({ name: "ran", data: PAYLOAD }));
  await queue.addBulk(jobs);
  let seen = 0;
  let first = 0;
  let reached;
  const all = new Promise((done) => (reached = done));
  const worker = new Worker("bull", async () => {
    if (!seen) first = now();
    if (++seen === count) reached();
  }, { connection, concurrency });
  await all;
  const took = now() - first;
  await worker.close();
  await flush();
  return (took * count) / (count - 1);
}

const clock = () => performance.timeOrigin + performance.now();

async function watched(count, put) {
  const late = [];
  let reached;
  const all = new Promise((done) => (reached = done));
  const worker = new Worker("bull", async (job) => {
    if (job.data > 0) late.push(clock() - job.data);
    if (late.length === count) reached();
  }, { connection, concurrency: 10 });
  await worker.waitUntilReady();
  await queue.add("ran", 0);
  await pause(300);
  for (let n = 0; n < count; n++) await put(n);
  await all;
  await worker.close();
  await flush();
  return late;
}

const pickup = (count) => watched(count, async () => {
  await pause(20);
  await queue.add("ran", clock());
});

const lateness = (count) => watched(count, async (n) => {
  const delay = 300 + 37 * n;
  await queue.add("ran", clock() + delay, { delay });
});

const words = { enqueue, bulk, drain, pickup, lateness };
for await (const line of createInterface({ input: process.stdin })) {
  const [word, ...numbers] = JSON.parse(line);
  let answer;
  try {
    answer = words[word] ? await words[word](...numbers) : null;
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
process.exit(0);
