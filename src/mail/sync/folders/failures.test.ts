import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase, describePostgres } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { announced } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected, openMailbox, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { startTcpProxy } from '../../../../test/servers/tcp-proxy.ts'
import type { Db } from '../../../platform/db/index.ts'

/** Longer than any test. */
const NEVER_MS = 1_000_000

describe.skipIf(!dovecotAvailable())('sync failures', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('of one process', 'sqlite', (open) => {
    it('reports a server that is down, recovers when it is back, and misses no message', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { db, box, service, accountId, received } = await syncedMailbox(own, open)
      await own.shutDown()
      await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
      await own.restart()
      await box.deliver('a')
      await received('a')
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled', 'account.recovered'])
    })

    it('times out on a server that stops responding, and reconnects', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { box, service, accountId, received } = await syncedMailbox(own, open, {
        timing: { pollMs: 400, stalledAfter: 1 },
        imap: { checkIntervalMs: 300, checkTimeoutMs: 2000, connectMs: 5000, silenceMs: 5000 },
      })
      own.pause()
      await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
      own.resume()
      await box.deliver('a')
      await received('a')
      await connected(service, accountId)
    })

    it.each([
      ['is idle', false],
      ['hangs in a sync', true],
    ])(
      'syncs at once over a new connection when a person requests it while a dead connection %s',
      async (_, isHanging) => {
        const proxy = await startTcpProxy(server.imapsPort)
        onTestFinished(() => proxy.close())
        const { box, service, accountId, received } = await syncedMailbox({ ...server, imapsPort: proxy.port }, open, {
          timing: { pollMs: NEVER_MS, silentMs: 300 },
          // Nothing but the request ends the dead connection.
          imap: { checkIntervalMs: NEVER_MS, checkTimeoutMs: NEVER_MS, silenceMs: NEVER_MS },
        })
        proxy.silence()
        await box.deliver('a')
        if (isHanging) {
          await service.wake(accountId)
          await eventually(() => expect(service.sync.state(accountId)?.state).toBe('active'))
        }
        await service.requestNow(accountId)
        await received('a')
      },
    )

    it('makes no attempt after a refused password until the password changes', async () => {
      const { db, user, box, service, accountId, received } = await syncedMailbox(server, open)
      await server.setPassword(user, 'two')
      await server.kick(user)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'auth_error' }),
      )
      const refusals = async () => (await server.log()).split('\n').filter((line) => isRefusalOf(line, user)).length
      const before = await refusals()
      await box.deliver('a')
      await service.synced(accountId)
      await eventually(() => expect(service.sync.state(accountId)).toMatchObject({ state: 'waiting' }))
      expect(await refusals()).toBe(before)
      await service.link(server, user, 'two')
      await received('a')
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.auth_error', 'account.updated', 'account.recovered'])
    })

    it('reports no refusal of a password that the second attempt does not confirm', async () => {
      const confirming = { timing: { refusal: { confirmMs: 3000, retry: { baseMs: 1000, capMs: 1000 } } } }
      const { db, user, box, service, accountId, received } = await syncedMailbox(server, open, confirming)
      await server.setPassword(user, 'two')
      await server.kick(user)
      const lastError = () => service.sync.state(accountId)?.lastError
      await eventually(() => expect(lastError()).toContain('refused the username or password'))
      await server.setPassword(user, 'one')
      await box.deliver('a')
      await received('a')
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual([])
    })

    it('recovers from refused passwords by itself when the server accepts them again', async () => {
      const healing = { timing: { refusal: { confirmMs: 50, retry: { baseMs: 500, capMs: 1000 } } } }
      const { db, user, box, service, accountId, received } = await syncedMailbox(server, open, healing)
      await server.setPassword(user, 'two')
      await server.kick(user)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'auth_error' }),
      )
      await box.deliver('a')
      await server.setPassword(user, 'one')
      await received('a')
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.auth_error', 'account.recovered'])
    })

    it('plans the next login of refused credentials across a restart', async () => {
      const { db, user, service, accountId } = await syncedMailbox(server, open)
      await server.setPassword(user, 'two')
      await server.kick(user)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'auth_error' }),
      )
      const planned = (await readState(db, accountId)).nextRunAt
      await service.stop()
      const refusals = async () => (await server.log()).split('\n').filter((line) => isRefusalOf(line, user)).length
      const before = await refusals()
      const next = syncService(db)
      onTestFinished(() => next.stop())
      await next.start()
      await eventually(() => expect(next.sync.state(accountId)).toMatchObject({ state: 'waiting' }))
      expect([await refusals(), (await readState(db, accountId)).nextRunAt]).toEqual([before, planned])
    })

    it('waits when the server refuses more connections, works with one, and does not report a wrong password', async () => {
      const own = await startDovecot({ maxUserIpConnections: 1 })
      onTestFinished(() => own.stop())
      const db = await open()
      await own.addUser('ann', 'one')
      const { ImapFlow } = await import('imapflow')
      const other = new ImapFlow({
        host: own.host,
        port: own.imapPort,
        secure: false,
        doSTARTTLS: false,
        logger: false,
        auth: { user: 'ann', pass: 'one' },
      })
      await other.connect()
      const service = syncService(db, { timing: { stalledAfter: 1 } })
      onTestFinished(() => service.stop())
      const accountId = await service.link(own, 'ann', 'one')
      await service.start()
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({
          status: 'error',
          statusReason: expect.stringContaining('too many'),
        }),
      )
      await other.logout()
      // The server counts a closed connection for a moment longer, and the refused run may not have ended yet.
      await eventually(async () => {
        await service.clear()
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'connected' })
      })
      await openMailbox(own, 'ann').deliver('a')
      await eventually(async () => expect(await announced(db, accountId)).toEqual(['<a@x>']))
    })

    it('syncs other accounts while one account fails', async () => {
      const { db, service, received, box } = await syncedMailbox(server, open)
      await server.addUser(`bad-${box.user}`, 'right')
      const bad = await service.link(server, `bad-${box.user}`, 'wrong')
      await eventually(async () => expect(await service.accounts.get(bad)).toMatchObject({ status: 'auth_error' }))
      await box.deliver('a')
      await received('a')
      expect(await announced(db, bad)).toEqual([])
    })

    it('closes the connections of a paused account, and catches up when it is resumed', async () => {
      const { db, user, box, service, accountId, received } = await syncedMailbox(server, open)
      await db.transaction((tx) => service.accounts.change(tx, accountId, { paused: true }))
      await eventually(async () => expect(await sessions(server, user)).toBe(0))
      await box.deliver('a')
      // Only a run that began after the delivery proves that nothing was received.
      await service.synced(accountId)
      await received()
      await db.transaction((tx) => service.accounts.change(tx, accountId, { paused: false }))
      await received('a')
    })

    it('polls an unwatched account without keeping a connection open', async () => {
      const { db, user, box, service, accountId, received } = await syncedMailbox(server, open, {
        timing: { pollMs: 700 },
        imap: { requestIdleMs: 50 },
      })
      await db.transaction((tx) => service.accounts.change(tx, accountId, { watch: false }))
      await eventually(async () => expect(await sessions(server, user)).toBe(0))
      await box.deliver('a')
      await received('a')
      await eventually(async () => expect(await sessions(server, user)).toBe(0))
    })

    it('writes nothing after another process took the account', async () => {
      const { db, user, box, accountId, received } = await syncedMailbox(server, open, {
        owning: { roundMs: 60_000, hintGapMs: 60_000 },
        imap: { requestIdleMs: 50 },
      })
      await db.transaction((tx) =>
        tx
          .updateTable('accounts')
          .set((eb) => ({ epoch: eb('epoch', '+', 1), ownerInstance: 'ins_other' }))
          .where('id', '=', accountId)
          .execute(),
      )
      await box.deliver('a')
      await eventually(async () => expect(await sessions(server, user)).toBe(0))
      await received()
      expect(await db.read.selectFrom('messages').select('id').where('accountId', '=', accountId).execute()).toEqual([])
    })

    it('a host that hangs uses only its share of the slots, and other hosts are synced', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { db, service, box, received } = await syncedMailbox(server, open, {
        timing: { pollMs: 300, concurrency: 4, perHostShare: 0.5 },
        imap: { silenceMs: 600_000, connectMs: 600_000, checkIntervalMs: 600_000 },
      })
      const hung = [1, 2, 3, 4, 5, 6].map((n) => `hung${n}`)
      for (const user of hung) await own.addUser(user, 'one')
      const accounts = await Promise.all(hung.map((user) => service.link(own, user, 'one')))
      await Promise.all(accounts.map((id) => connected(service, id)))
      own.pause()
      await eventually(() => expect(service.sync.totals().active).toBeGreaterThan(0))
      for (const id of ['a', 'b', 'c']) {
        await box.deliver(id)
        await eventually(async () => expect(await announced(db, await findOwner(db, box.user))).toContain(`<${id}@x>`))
      }
      await received('a', 'b', 'c')
      own.resume()
    })

    it('reports a configured folder that does not exist', async () => {
      const db = await open()
      const user = `lost${process.pid}-${db.engine}`
      await server.addUser(user, 'one')
      const service = syncService(db)
      onTestFinished(() => service.stop())
      const accountId = await service.link(server, user, 'one', 'Nowhere')
      await service.start()
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({
          status: 'error',
          statusReason: expect.stringContaining('Nowhere'),
        }),
      )
      await openMailbox(server, user).create('Nowhere')
      await connected(service, accountId)
    })
  })

  describePostgres('with two processes', (open) => {
    it('closes the connection when another process takes the account, and emits each event once', async () => {
      const { db, box, service, accountId, received, user } = await syncedMailbox(server, open)
      const other = syncService(db, { owning: { roundMs: 200 } })
      onTestFinished(() => other.stop())
      await other.start()
      await box.deliver('a')
      await received('a')
      await service.stop()
      await eventually(() => expect(other.ownership.owned().has(accountId)).toBe(true))
      await box.deliver('b')
      await received('a', 'b')
      await eventually(async () => expect(await sessions(server, user)).toBeLessThanOrEqual(2))
    })
  })
})

async function accountEvents(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.read
    .selectFrom('events')
    .select('type')
    .where('accountId', '=', accountId)
    .where('type', 'like', 'account.%')
    .orderBy('sequence')
    .execute()
  return rows.map((row) => row.type).filter((type) => type !== 'account.connected')
}

async function findOwner(db: Db, email: string): Promise<string> {
  const row = await db.read.selectFrom('accounts').select('id').where('email', '=', email).executeTakeFirstOrThrow()
  return row.id
}

/** Open IMAP connections of the user. */
async function sessions(server: Dovecot, user: string): Promise<number> {
  const lines = (await server.doveadm('who', '-1', user)).split('\n').slice(1)
  return lines.filter((line) => line.startsWith(`${user} `)).length
}

function isRefusalOf(line: string, user: string): boolean {
  return line.includes(user) && /auth failed/.test(line)
}

async function readState(db: Db, accountId: string) {
  return db.read.selectFrom('syncStates').selectAll().where('accountId', '=', accountId).executeTakeFirstOrThrow()
}
