import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { MailboxDouble } from '../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import type { Db } from '../../platform/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'

const open = databases('sqlite')
const ACCOUNTS = 20
/** No heartbeat and no ownership round during the test. */
const QUIET_OWNER = { roundMs: 3_600_000 }

/** A counter that grows with every commit of another connection. */
async function commits(db: Db): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db.read)
  return Number(rows[0]?.data_version)
}

type Service = ReturnType<typeof syncService>

/** Waits for two more polls of each account, and returns the number of commits in that time. */
async function commitsDuringPolls(db: Db, service: Service, accounts: number): Promise<number> {
  const runs = () => service.sync.totals().completed
  await eventually(() => expect(runs()).toBeGreaterThanOrEqual(3 * accounts))
  const before = await commits(db)
  const ran = runs()
  await eventually(() => expect(runs()).toBeGreaterThanOrEqual(ran + 2 * accounts))
  return (await commits(db)) - before
}

const KINDS: [kind: 'whole' | 'folders', provider: ProviderName][] = [
  ['whole', 'gmail'],
  ['folders', 'microsoft'],
]

it.each(KINDS)('writes nothing when it polls an unchanged mailbox (%s)', async (kind, provider) => {
  const db = await open()
  const box = new MailboxDouble(kind)
  box.deliverAll(['a', 'b'])
  box.pollMs = 100
  const service = syncService(db, { mail: box.mail, owning: QUIET_OWNER, timing: { moveGraceMs: 20 } })
  onTestFinished(() => service.stop())
  for (let n = 0; n < ACCOUNTS; n += 1) await service.linkMailbox(provider, `user-${n}`)
  await service.start()
  expect(await commitsDuringPolls(db, service, ACCOUNTS)).toBe(0)
  box.deliver('c')
  await eventually(async () => {
    const rows = await db.read.selectFrom('messages').select('id').execute()
    expect(rows).toHaveLength(3 * ACCOUNTS)
  })
})

it('writes nothing when it polls an unchanged mailbox (imap)', async () => {
  const db = await open()
  const server = await startScriptedImap({})
  onTestFinished(() => server.close())
  const service = syncService(db, { owning: QUIET_OWNER, timing: { pollMs: 150 } })
  onTestFinished(() => service.stop())
  const { host = '', port: imapsPort = 0 } = server.access.settings.imap ?? {}
  for (let n = 0; n < ACCOUNTS; n += 1) await service.link({ host, imapsPort }, `user-${n}`, 'secret')
  await service.start()
  expect(await commitsDuringPolls(db, service, ACCOUNTS)).toBe(0)
})

it('stores `lastSyncAt` of an unchanged mailbox at least once an hour', async () => {
  const db = await open()
  const box = new MailboxDouble('whole')
  box.pollMs = 50
  const service = syncService(db, { mail: box.mail })
  onTestFinished(() => service.stop())
  const accountId = await service.linkMailbox('gmail')
  await service.start()
  const lastSyncMs = async () => Date.parse((await service.accounts.get(accountId)).lastSyncAt ?? '')
  await eventually(async () => expect(await lastSyncMs()).toBeGreaterThan(0))
  const hourAgo = Date.now() - 3_600_000
  await db.transaction((tx) => tx.updateTable('accounts').set({ lastSyncAt: hourAgo }).execute())
  await eventually(async () => expect(await lastSyncMs()).toBeGreaterThan(hourAgo))
})
