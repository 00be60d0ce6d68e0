/**
 * Changes of a file system that nobody waits for, for tests that make very many of them.
 */

import { DurableFs, type FileWriter } from '../../src/repair/durable-fs.js';

export class UnsyncedFs extends DurableFs {
  override createFile(path: string, mode: number): FileWriter {
    return { ...super.createFile(path, mode), sync: () => undefined };
  }

  override syncFile(): void {}

  override syncDirectory(): void {}
}
