import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startWorker } from '../../../test/kit/worker.ts'
import { lockDataFolder } from './index.ts'

/** Starts another process that holds the lock of the folder. */
async function holder(folder: string): Promise<ChildProcess> {
  const child = startWorker('lock-holder-worker', [folder])
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => {
      throw new Error('the holder ended')
    }),
  ])
  return child
}

describe('the lock of a data folder', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-lock-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('makes a second process report its wait, then fail', async () => {
    const child = await holder(folder)
    const waits: string[] = []
    const second = lockDataFolder(folder, { onWait: () => waits.push('waits'), waitMs: 600 })
    await expect(second).rejects.toThrow(`The data folder ${folder} is in use by another Posthorn process.`)
    expect(waits).toEqual(['waits'])
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  it('passes to the waiting process when its holder is killed', async () => {
    const child = await holder(folder)
    const waiting = new AbortController()
    const second = lockDataFolder(folder, { onWait: () => child.kill('SIGKILL'), aborted: waiting.signal })
    const lock = await second
    lock.release()
    lock.release()
  })

  it('fails at once when the wait is aborted', async () => {
    const first = await lockDataFolder(folder, { onWait: () => {} })
    const stopped = new AbortController()
    const second = lockDataFolder(folder, { onWait: () => stopped.abort(), aborted: stopped.signal })
    await expect(second).rejects.toThrow(/in use/)
    first.release()
    const third = await lockDataFolder(folder, { onWait: () => {} })
    third.release()
  })
})
