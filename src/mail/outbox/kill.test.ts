import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { databases, describePostgres } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { compose } from '../../../test/kit/service/composition.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { runSendingCrashes } from '../../../test/scenarios/sending-crashes.ts'
import { BOB, LATE, startSendingServers } from '../../../test/scenarios/sending-mailboxes.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'

/** For each kill: two of each kind of mailbox. */
const MESSAGES = 6

describe.skipIf(!dovecotAvailable())('a process killed while it sends', () => {
  let dovecot: Dovecot
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())

  const open = databases('sqlite')
  it('sends no message twice and loses none, on the file store', async () => {
    const place = await open.place()
    const { messages } = await runSendingCrashes(await open(place), place, dovecot, { kills: 2, replicas: 1 })
    expect(messages).toBe(2 * MESSAGES)
  })

  it('sends nothing again to a deferred recipient when it dies before the reply', async () => {
    const place = await open.place()
    const db = await open(place)
    let arrived = 0
    const beforeReply = async () => {
      arrived += 1
      if (arrived === 2) await kill()
    }
    const servers = await startSendingServers(
      dovecot,
      'deferred',
      beforeReply,
      (email) => email === LATE && arrived < 1,
    )
    onTestFinished(() => servers.close())
    const { features, close } = compose(db, { settings: servers.settings })
    onTestFinished(() => close())
    const [mailbox] = servers.mailboxes
    const accountId = (await mailbox?.link(db, features)) ?? ''
    const prepared = await features.outbox.prepareRequest(accountId, {
      to: [BOB, LATE],
      subject: 'once',
      body: 'Hello',
    })
    await db.transaction((tx) => features.outbox.accept(tx, prepared))
    const start = () => startWorker('sending-worker', [place.dataDir, '', '', '1000', JSON.stringify(servers.settings)])
    let child = start()
    const kill = async () => {
      const isRunning = child.exitCode === null && child.signalCode === null
      child.kill('SIGKILL')
      if (isRunning) await once(child, 'exit')
    }
    onTestFinished(kill)
    await eventually(() => expect(arrived).toBe(2))
    await eventually(() => expect(child.signalCode).toBe('SIGKILL'))
    child = start()
    await eventually(async () => {
      const [row] = await db.read.selectFrom('outbox').select(['status', 'dueAt', 'refused']).execute()
      expect(row).toMatchObject({ status: 'sent', dueAt: null })
      expect(JSON.parse(row?.refused ?? '')).toMatchObject([{ email: LATE, code: null }])
    })
    expect([mailbox?.received(BOB), mailbox?.received(LATE)]).toEqual([['once'], ['once']])
  })

  describePostgres('with two replicas', (shared) => {
    it('sends no message twice and loses none', async () => {
      const place = await shared.place()
      const { messages } = await runSendingCrashes(await shared(place), place, dovecot, { kills: 2, replicas: 2 })
      expect(messages).toBe(2 * MESSAGES)
    })
  })
})
