import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describePostgres, temporaryFolder } from '../kit/database/database.ts'
import { startOwnPostgres } from '../kit/database/postgres-server.ts'
import { eventually } from '../kit/eventually.ts'
import { SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import {
  clockJump,
  diskFull,
  flushedRedis,
  frozenPostgres,
  noOpenFiles,
  poisonedRedis,
  readOnlyDisk,
  readOnlyPostgres,
} from '../scenarios/fault-kinds.ts'
import { type FaultOutcome, runFaults } from '../scenarios/faults.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { hasRedis, startRedis } from '../servers/redis.ts'

const FUSE = '/usr/lib/python3/dist-packages/fusepy.py'
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const LASTS_MS = 20_000

describe.skipIf(!dovecotAvailable())('a service through faults of its machine', () => {
  it('works again by itself and loses nothing', { timeout: 600_000 }, async () => {
    const folder = await temporaryFolder(onTestFinished)
    const dataDir = join(folder, 'data')
    mkdirSync(dataDir)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dataDir])
    onTestFinished(() => void execFileSync('umount', [dataDir]))
    report(
      await runFaults(() => startServiceProcess({ dataDir }), [diskFull(dataDir), noOpenFiles()], {
        lastsMs: LASTS_MS,
      }),
    )
  })
})

describe.skipIf(!dovecotAvailable() || !existsSync(FUSE))('a service on a disk that becomes read-only', () => {
  it('works again by itself and loses nothing', { timeout: 600_000 }, async () => {
    const folder = await temporaryFolder(onTestFinished)
    const stored = join(folder, 'stored')
    const dataDir = join(folder, 'data')
    const switchFile = join(folder, 'switch')
    for (const folder of [stored, dataDir]) mkdirSync(folder)
    // Debian's own Python has the package.
    const files = spawn('/usr/bin/python3', ['test/kit/service/read_only_files.py', stored, dataDir, switchFile])
    await eventually(() => expect(readFileSync('/proc/mounts', 'utf8')).toContain(` ${dataDir} fuse`))
    onTestFinished(() => void execFileSync('umount', [dataDir]))
    report(await runFaults(() => startServiceProcess({ dataDir }), [readOnlyDisk(switchFile)], { lastsMs: LASTS_MS }))
    expect(files.exitCode).toBe(null)
  })
})

describe.skipIf(!dovecotAvailable() || !existsSync(FAKETIME))('a service through jumps of its clock', () => {
  it('goes on and loses nothing', { timeout: 600_000 }, async () => {
    const folder = await temporaryFolder(onTestFinished)
    const clockFile = join(folder, 'clock')
    writeFileSync(clockFile, '+0')
    const env = {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    const start = () => startServiceProcess({ dataDir: folder, env })
    const jumps = [clockJump(clockFile, '+1h'), clockJump(clockFile, '-1h')]
    report(await runFaults(start, jumps, { lastsMs: LASTS_MS, verifies: false }))
  })
})

describe.skipIf(!hasRedis || !dovecotAvailable())('a service through faults of Redis and', () => {
  describePostgres('PostgreSQL', () => {
    it('works again by itself and loses nothing', { timeout: 600_000 }, async () => {
      const dataDir = await temporaryFolder(onTestFinished)
      const [postgres, redis] = await Promise.all([startOwnPostgres(), startRedis()])
      onTestFinished(async () => void (await Promise.all([postgres.stop(), redis.close()])))
      const place = { dataDir, databaseUrl: postgres.url, redisUrl: redis.url, env: SHARED_KEYS }
      const faults = [
        frozenPostgres(postgres.url),
        readOnlyPostgres(postgres.url),
        flushedRedis(redis.url),
        poisonedRedis(redis.url),
      ]
      report(await runFaults(() => startServiceProcess(place), faults, { lastsMs: LASTS_MS }))
    })
  })
})

function report(outcomes: readonly FaultOutcome[]): void {
  const lines = outcomes.map(
    ({ name, responses, messages, recoveredMs, announcedMs }) =>
      `${name}: ${JSON.stringify(responses)}, recovered after ${recoveredMs} ms, announced again after ${announcedMs} ms\n    ${messages.join('\n    ')}`,
  )
  console.log(lines.join('\n  '))
  expect(outcomes.length).toBeGreaterThan(0)
}
