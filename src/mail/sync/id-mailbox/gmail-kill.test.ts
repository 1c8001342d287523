import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced, mailEvents } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { gmailMailbox } from '../../../../test/servers/gmail-mailbox.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Db } from '../../../platform/db/index.ts'

const KILLS = 2
/** Eight messages in a request, so that a page of the list, or of the history, takes several. */
const BURST = 160
const OLD = 60
const NEW_PER_ROUND = 25

describeOneDatabase('a process killed within a page of Gmail', 'sqlite', (open) => {
  it('loses no message and emits no event twice', async () => {
    const chance = random()
    const place = await open.place()
    const db = await open(place)
    const box = await gmailMailbox()
    onTestFinished(() => box.stop())
    const { google, user } = box
    const { accessToken } = await google.grant(user)
    const old = await Promise.all(named('old', OLD).map((id) => box.deliver(mail(id))))
    const ownMail = { ...box.mail, openSession: () => box.mail.openSession(box.access) }
    const options = { mail: ownMail, owning: { roundMs: 100, deadAfterMs: 400, settleMs: 0 } }
    const linking = syncService(db, options)
    const accountId = await linking.linkMailbox('gmail')
    await linking.stop()

    /** Kills the process soon after it has stored the first messages of what it finds. */
    async function runKilled() {
      const before = await storedCursors(db)
      const { dataDir, databaseUrl = '' } = place
      const child = startWorker('gmail-sync-worker', [dataDir, databaseUrl, google.url, accessToken, String(BURST)])
      await once(child.stdout, 'data')
      await eventually(async () => expect(await storedCursors(db)).not.toEqual(before))
      await sleep(chance() * 200)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }

    for (let round = 0; round < KILLS; round += 1) await runKilled()
    const between = syncService(db, options)
    await between.start()
    await eventually(async () => expect(await storedIds(db)).toEqual(idsIn(google, user)))
    await between.stop()
    expect(await announced(db, accountId)).toEqual([])

    const arrived: string[] = []
    for (let round = 0; round < KILLS; round += 1) {
      const ids = named(`new-${round}`, NEW_PER_ROUND)
      for (const id of ids) await box.deliver(mail(id))
      await box.setRead(old[round] ?? '', true)
      await box.remove(old[round + KILLS] ?? '')
      arrived.push(...ids)
      await runKilled()
    }
    const service = syncService(db, options)
    onTestFinished(() => service.stop())
    await service.start()
    await service.synced(accountId)
    await eventually(async () => expect(await storedIds(db)).toEqual(idsIn(google, user)))
    expect(await announced(db, accountId)).toEqual(arrived.map((id) => `<${id}@x>`).sort())
    expect(await announced(db, accountId, 'message.updated')).toHaveLength(KILLS)
    expect(await announced(db, accountId, 'message.deleted')).toHaveLength(KILLS)
    const events = (await mailEvents(db, accountId)).map(
      ({ type, objectId, version }) => `${type} ${objectId} ${version}`,
    )
    expect(events).toHaveLength(new Set(events).size)
  })
})

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}-${n}`)
}

async function storedCursors(db: Db): Promise<(string | null)[]> {
  const rows = await db.read.selectFrom('syncCursors').select('cursor').execute()
  return rows.map(({ cursor }) => cursor)
}

async function storedIds(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('messages').select('providerMessageId').where('goneAt', 'is', null).execute()
  return rows.map(({ providerMessageId }) => providerMessageId).sort()
}

function idsIn(google: { messages(user: string): { id: string }[] }, user: string): string[] {
  return google
    .messages(user)
    .map(({ id }) => id)
    .sort()
}
