/**
 * A thread of the pool: takes one task at a time, scans, and answers with plain data.
 *
 * It shares three words with the others: how many bytes were passed, whether to stop, and when to read next.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '../domain/result.js';
import { paceReads } from '../store/read-pace.js';
import { runTask, type SharedState, type Task } from './task.js';

const port = parentPort;
invariant(port !== null, 'this file runs as a worker');
const shared = workerData as SharedState;
paceReads(shared.pace);

port.on('message', (task: Task) => {
  void runTask(task, shared).then((answer) => port.postMessage(answer));
});
