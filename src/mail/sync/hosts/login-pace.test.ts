import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { fixedClock } from '../../../platform/time/clock.ts'
import type { SyncTiming } from '../index.ts'
import { LoginPace } from './login-pace.ts'

const open = databases('sqlite')

it('reserves so many logins per second for each host, and a burst after a quiet time', () => {
  const clock = fixedClock(0)
  const pace = new LoginPace(clock, { loginBurst: 3, loginsPerSecond: 10 })
  const reserved = (count: number, host = 'a') => Array.from({ length: count }, () => pace.reserve(host) - clock.now())
  expect(reserved(1000).slice(-1)).toEqual([99_700])
  expect(reserved(4, 'b')).toEqual([0, 0, 0, 100])
  clock.advance(99_700)
  pace.sweep()
  expect(reserved(2)).toEqual([100, 200])
  clock.advance(10_000)
  expect(reserved(4)).toEqual([0, 0, 0, 100])
})

/** Mailboxes of one server, which responds to a login when the test says so. */
async function takingOver(accounts: number, timing: Partial<SyncTiming>, { paused = false } = {}) {
  const db = await open()
  /** Logins in progress: how to respond to each. */
  const waiting = new Map<object, () => void>()
  let most = 0
  const server = await startScriptedImap({
    onCommand(name, socket, tag) {
      if (name !== 'LOGIN' && name !== 'AUTHENTICATE') return undefined
      waiting.set(socket, () => socket.write(`${tag} OK done\r\n`))
      socket.once('close', () => waiting.delete(socket))
      most = Math.max(most, waiting.size)
      return true
    },
  })
  onTestFinished(() => server.close())
  const service = syncService(db, { timing })
  onTestFinished(() => service.stop())
  const { host = '', port: imapsPort = 0 } = server.access.settings.imap ?? {}
  const ids: string[] = []
  for (let n = 0; n < accounts; n += 1) ids.push(await service.link({ host, imapsPort }, `user-${n}`, 'secret'))
  if (paused) for (const id of ids) await db.transaction((tx) => service.accounts.change(tx, id, { paused: true }))
  await service.start()
  return { service, ids, waiting, most: () => most }
}

it('an instance that takes over many mailboxes of a host uses its share of the slots for their logins', async () => {
  const { service, ids, waiting, most } = await takingOver(20, { concurrency: 10 })
  await eventually(() => expect(waiting.size).toBe(4))
  expect(service.sync.totals()).toMatchObject({ active: 4, waiting: 16 })
  await eventually(() => {
    for (const [login, respond] of waiting) {
      waiting.delete(login)
      respond()
    }
    const synced = { state: 'waiting', attempts: 0, lastRunAt: expect.any(Number) }
    for (const id of ids) expect(service.sync.state(id)).toMatchObject(synced)
  })
  expect(most()).toBe(4)
})

it('logins beyond the pace of the host wait without a slot, except those that a person requests', async () => {
  const { service, ids, waiting } = await takingOver(12, { loginBurst: 5, loginsPerSecond: 0.001 })
  await eventually(() => expect(waiting.size).toBe(5))
  const withoutRun = () => ids.filter((id) => service.sync.state(id)?.lastRunAt === null)
  const [late = '', ...later] = withoutRun()
  expect(later).toHaveLength(6)
  expect(service.sync.totals()).toMatchObject({ waiting: 0 })
  await service.requestNow(late)
  await eventually(() => expect(withoutRun()).toEqual(later))
})

it('paused mailboxes take no turn of the logins', async () => {
  const { service, ids, waiting } = await takingOver(12, { loginBurst: 5, loginsPerSecond: 0.001 }, { paused: true })
  const idle = { state: 'idle', lastRunAt: expect.any(Number), nextRunAt: null }
  await eventually(() => {
    for (const id of ids) expect(service.sync.state(id)).toMatchObject(idle)
  })
  expect(waiting.size).toBe(0)
})
