import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { findState, setState } from '../index.ts'
import { Checkpointer, MAX_WAL_BYTES } from './checkpointer.ts'

/** SQLite writes only the pages whose content changes, so all of it differs. */
const PER_COMMIT = 2 ** 20
const COMMITS = 300

describe('the WAL of the file store', () => {
  const open = databases('sqlite')

  it('stays small while transactions follow each other without a pause, and loses nothing', async () => {
    const place = await open.place()
    const db = await open(place)
    const wal = join(place.dataDir, 'posthorn.db-wal')
    let largest = 0
    for (let count = 0; count < COMMITS; count += 1) {
      await db.transaction((tx) => setState(tx, `value ${count % 3}`, `${100 + count} `.repeat(PER_COMMIT / 4)))
      largest = Math.max(largest, statSync(wal).size)
    }
    expect(largest).toBeGreaterThan(MAX_WAL_BYTES)
    expect(largest).toBeLessThan((COMMITS * PER_COMMIT) / 2)
    await db.close()
    const again = await open(place)
    const values = await Promise.all([0, 1, 2].map((name) => findState(again.read, `value ${name}`)))
    expect(values.map((value) => value?.slice(0, 4))).toEqual(['397 ', '398 ', '399 '])
  })
})

describe('a checkpointer', () => {
  it('whose worker thread fails warns once and runs later checkpoints on the own thread', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-checkpoint-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    // A folder, so that the worker thread cannot open it.
    const file = join(folder, 'x.db')
    mkdirSync(file)
    writeFileSync(`${file}-wal`, '')
    truncateSync(`${file}-wal`, MAX_WAL_BYTES + 1)
    const warnings: string[] = []
    const listen = (warning: Error) => warnings.push(warning.message)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    let here = 0
    const checkpointer = new Checkpointer({
      file,
      pauseWrites: (body) => body(),
      checkpointHere: async () => {
        here += 1
      },
    })
    await eventually(() => {
      checkpointer.committed()
      return here > 2
    })
    expect(warnings).toEqual([expect.stringMatching(/unable to open|directory|disk/i)])
    await checkpointer.close()
  })
})
