import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { openDatabase } from '../../../../test/kit/database/open-database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { findState, lockDataFolder } from '../index.ts'

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

describe('the lock of a data folder with a database that a process has open', () => {
  const open = databases('sqlite')

  async function held() {
    const { dataDir } = await open.place()
    const child = await holder(dataDir)
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    return { child, folder: dataDir, lockFile: join(dataDir, 'lock.db'), rejections: () => output }
  }

  const lock = (folder: string) =>
    lockDataFolder(folder, { database: join(folder, 'posthorn.db'), onWait: () => {}, waitMs: 300 })

  async function expectRefusal(folder: string, child: ChildProcess): Promise<void> {
    const error = await lock(folder).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(String(error)).toContain('is in use by another Posthorn process')
    expect(String(error)).toContain(`process ${child.pid}`)
    expect(String(error)).not.toMatch(/delet|remov|lock\.db/i)
  }

  it('keeps others out when the lock file is deleted, and locks it again', async () => {
    const { child, folder, lockFile, rejections } = await held()
    const before = statSync(lockFile).ino
    rmSync(lockFile)
    await expectRefusal(folder, child)
    await eventually(() => expect(statSync(lockFile).ino).not.toBe(before))
    await expectRefusal(folder, child)
    expect(rejections()).toBe('')
  })

  it('keeps others out when the lock file is replaced by a copy, also through a link to the folder', async () => {
    const { child, folder, lockFile } = await held()
    copyFileSync(lockFile, `${lockFile}.copy`)
    renameSync(`${lockFile}.copy`, lockFile)
    await expectRefusal(folder, child)
    const link = `${folder}-link`
    symlinkSync(folder, link)
    onTestFinished(() => rmSync(link))
    await expectRefusal(link, child)
  })

  it('keeps others out while its process is suspended, and lets it go on afterwards', async () => {
    const { child, folder, lockFile } = await held()
    child.kill('SIGSTOP')
    rmSync(lockFile)
    await expectRefusal(folder, child)
    child.kill('SIGCONT')
    const db = openDatabase({ dataDir: folder, databaseUrl: undefined })
    onTestFinished(() => db.close())
    const before = Number((await findState(db.read, 'writes')) ?? 0)
    await eventually(async () => expect(Number(await findState(db.read, 'writes'))).toBeGreaterThan(before))
  })

  it('is free once that process was killed', async () => {
    const { child, folder, lockFile } = await held()
    rmSync(lockFile)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const own = await lock(folder)
    own.confirm()
    own.release()
  })

  it('rejects writes to a database file that was replaced under it', async () => {
    const { folder, rejections } = await held()
    const file = join(folder, 'posthorn.db')
    renameSync(file, `${file}.moved`)
    await eventually(() => expect(rejections()).toContain('its file was moved or replaced'))
    renameSync(`${file}.moved`, file)
    const written = async () => {
      const db = openDatabase({ dataDir: folder, databaseUrl: undefined })
      try {
        return Number((await findState(db.read, 'writes')) ?? 0)
      } finally {
        await db.close()
      }
    }
    const before = await written()
    await eventually(async () => expect(await written()).toBeGreaterThan(before))
  })
})
