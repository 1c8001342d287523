import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, expect, it } from 'vitest'
import type { Db } from '../../src/platform/db/index.ts'
import { imapUser, testAccounts } from '../kit/accounts/accounts.ts'
import { describePostgres } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { startWorker } from '../kit/workers/start.ts'

const DEAD_AFTER_MS = 3000
const NEVER_MS = 3_600_000
/** A process suspended inside a transaction holds its row locks until PostgreSQL ends its session after 30 s. */

describePostgres('instances in separate processes', (open) => {
  const children: ChildProcess[] = []
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  function start(url: string | undefined, name: string, deadAfterMs: number) {
    const child = startWorker('ownership-worker', [url ?? '', name, String(deadAfterMs)])
    children.push(child)
    const reports: string[][] = []
    const dead: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      const report: { owned?: string[]; dead?: string } = JSON.parse(line)
      if (report.owned !== undefined) reports.push(report.owned)
      if (report.dead !== undefined) dead.push(report.dead)
    })
    return { child, reports, dead, owned: () => reports.at(-1) ?? [] }
  }

  /** `deadAfterMs`: how long the heartbeat of an instance must be missing. */
  async function started(accounts: number, names: string[], deadAfterMs: number) {
    const place = await open.place()
    const db = await open(place)
    const fixture = testAccounts(db)
    const ids: string[] = []
    for (let i = 0; i < accounts; i += 1) ids.push((await fixture.link(imapUser(`user-${i}`))).id)
    const instances = names.map((name) => start(place.databaseUrl, name, deadAfterMs))
    const perInstance = accounts / names.length
    await eventually(() => expect(instances.map((each) => each.owned().length)).toEqual(names.map(() => perInstance)))
    return { db, ids, instances, allOwned: () => instances.flatMap((each) => each.owned()).sort() }
  }

  /** No instance wrote to an account under an epoch that another instance had already superseded. */
  async function expectOneWriterAtATime(db: Db): Promise<void> {
    const rows = await db.read
      .selectFrom('events')
      .select(['accountId', 'objectId as instanceId', 'version as epoch'])
      .where('type', '=', 'mailbox.changed')
      .orderBy('accountId')
      .orderBy('sequence')
      .execute()
    const last = new Map<string | null, (typeof rows)[number]>()
    for (const write of rows) {
      const { accountId, epoch, instanceId } = write
      const before = last.get(accountId)
      if (before?.epoch === epoch) expect(instanceId).toBe(before.instanceId)
      else expect(epoch).toBeGreaterThan(before?.epoch ?? 0)
      last.set(accountId, write)
    }
    expect(rows.length).toBeGreaterThan(0)
  }

  it('the others take over the accounts of a killed one by its lock, and each account has one writer at a time', async () => {
    const { db, ids, instances } = await started(6, ['a', 'b', 'c'], NEVER_MS)
    const [a, b, c] = instances
    a?.child.kill('SIGKILL')
    await eventually(() => {
      expect([...(b?.owned() ?? []), ...(c?.owned() ?? [])].sort()).toEqual(ids)
      expect(b?.owned()).toHaveLength(3)
    })
    expect(instances.flatMap((each) => each.dead)).toEqual(['a'])
    b?.child.kill('SIGTERM')
    await eventually(() => expect([...(c?.owned() ?? [])].sort()).toEqual(ids))
    await eventually(() => expect(b?.child.exitCode).toBe(0))
    await expectOneWriterAtATime(db)
  })

  it('a suspended one keeps its lock, loses its accounts by its heartbeat, and gains accounts again when resumed', async () => {
    const { db, ids, instances, allOwned } = await started(6, ['a', 'b'], DEAD_AFTER_MS)
    const [a, b] = instances
    b?.child.kill('SIGSTOP')
    await eventually(() => expect([...(a?.owned() ?? [])].sort()).toEqual(ids))
    expect(b?.owned()).toHaveLength(3)
    const reportsBefore = b?.reports.length ?? 0
    b?.child.kill('SIGCONT')
    await eventually(() => expect(b?.reports[reportsBefore]).toEqual([]))
    await eventually(() => {
      expect(instances.map((each) => each.owned().length)).toEqual([3, 3])
      expect(allOwned()).toEqual(ids)
    })
    await expectOneWriterAtATime(db)
  })
})
