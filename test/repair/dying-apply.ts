/**
 * Applies a plan in a process of its own that is killed in front of one of its changes: `node dying-apply.js PLAN CALL`.
 */

import { readFileSync } from 'node:fs';
import { applyPlan } from '../../src/repair/apply.js';
import { decodePlan } from '../../src/repair/plan-file.js';
import { requestWith } from '../builders/repairs.js';

const [, , file, call] = process.argv;
const plan = await decodePlan(readFileSync(file!));
if (!plan.ok) throw new Error(plan.error);
let calls = 0;
const dying = () => {
  if (calls++ === Number(call)) process.kill(process.pid, 'SIGKILL');
};
applyPlan(plan.value, requestWith(dying));
