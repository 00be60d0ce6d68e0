#!/usr/bin/env node
import process from 'node:process';
import { main } from '../dist/src/cli/main.js';

process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
});
