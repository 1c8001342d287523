import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/kit/database/database.ts'
import { loadConfig } from '../config/index.ts'
import { silentLog } from '../platform/log/index.ts'
import { openStore } from './store.ts'

const PAGE_BYTES = 4096

interface Broken {
  breakIt(file: string): void
  says: RegExp
}

const BROKEN: Record<string, Broken> = {
  'is empty': {
    breakIt: (file) => truncateSync(file, 0),
    says: /posthorn\.db is empty, but .* holds encryption-keys.*\nRestore a backup/,
  },
  'is missing': {
    breakIt: (file) => rmSync(file),
    says: /posthorn\.db is missing, but .* holds encryption-keys.*\nRestore a backup/,
  },
  'is something else': {
    breakIt: (file) => writeFileSync(file, 'These are not the rows of a database. '.repeat(500)),
    says: /posthorn\.db is not a database.*\nRestore a backup \(posthorn restore/,
  },
  'was cut off': {
    breakIt: (file) => truncateSync(file, 10 * PAGE_BYTES),
    says: /posthorn\.db is incomplete: \d+ bytes are missing.*\n.*posthorn restore.*\.recover/,
  },
  'was cut off within its header': {
    breakIt: (file) => truncateSync(file, 60),
    says: /posthorn\.db is not a database/,
  },
  'has a damaged schema': {
    breakIt(file) {
      const opened = openSync(file, 'r+')
      writeSync(opened, Buffer.alloc(PAGE_BYTES - 100, 0xff), 0, PAGE_BYTES - 100, 100)
      closeSync(opened)
    },
    says: /posthorn\.db is damaged \(SQLITE_CORRUPT\).*\n.*posthorn restore.*\.recover/,
  },
  'is a folder': {
    breakIt(file) {
      rmSync(file)
      mkdirSync(file)
    },
    says: /posthorn\.db is not a file/,
  },
}

/** Opens the store of an installation that was stopped. */
async function open(breakIt: (file: string) => void, beside = ['encryption-keys']): Promise<void> {
  const dataDir = await temporaryFolder(onTestFinished)
  const file = join(dataDir, 'posthorn.db')
  copyFileSync(inject('sqliteTemplate'), file)
  for (const name of beside) writeFileSync(join(dataDir, name), 'k1:secret\n')
  breakIt(file)
  const { config } = loadConfig({ environment: { DATA_DIR: dataDir }, folder: dataDir })
  const store = await openStore(config, silentLog)
  await store.close()
}

describe('the start with a database file', () => {
  it('opens a file of an installation, and an empty one of none', async () => {
    await open(() => {})
    await open((file) => truncateSync(file, 0), [])
    await open((file) => rmSync(file), [])
  })

  for (const [what, { breakIt, says }] of Object.entries(BROKEN)) {
    it(`that ${what} stops, naming the file and what to do`, async () => {
      await expect(open(breakIt)).rejects.toThrow(says)
    })
  }
})
