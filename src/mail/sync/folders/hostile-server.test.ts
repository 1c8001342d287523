import type { TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { type SyncServiceOptions, syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type ImapScript, type ScriptedImap, startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import type { Db } from '../../../platform/db/index.ts'

const LIMITS = {
  workLines: 2000,
  workBytes: 1024 * 1024,
  flood: { lines: 2000, bytes: 1024 * 1024, linesPerSecond: 1, bytesPerSecond: 1 },
}
const MINUTE_MS = 60_000

/** Sends the line again and again, as fast as the client reads. */
function flood(socket: TLSSocket, line: string): true {
  const chunk = `* ${line}\r\n`.repeat(500)
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
  return true
}

describe('an account whose server exceeds the limits', () => {
  const open = databases('sqlite')

  function started(db: Db, options: SyncServiceOptions = {}) {
    const service = syncService(db, { imap: LIMITS, ...options })
    onTestFinished(() => service.stop())
    return service
  }

  async function server(script: ImapScript = {}) {
    return closing(await startScriptedImap(script))
  }

  function link(service: ReturnType<typeof started>, { access }: ScriptedImap, user: string) {
    const imap = access.settings.imap
    if (imap === undefined) throw new Error('the scripted server has no IMAP settings')
    return service.link({ host: imap.host, imapsPort: imap.port }, user, 'secret')
  }

  it.each([
    [
      'a list that never ends',
      { onCommand: (name, socket) => name === 'LIST' && flood(socket, 'LIST () "/" x') },
      'lines',
    ],
    [
      'a folder that grows for ever',
      { onCommand: (name, socket) => name === 'EXAMINE' && flood(socket, '1 EXISTS') },
      'lines',
    ],
    ['a status that never ends', { onCommand: (name, socket) => name === 'STATUS' && flood(socket, 'OK x') }, 'lines'],
    [
      'a flood while it is watched',
      { onIdle: (_say, socket) => flood(socket, '1 RECENT') },
      // The flood may begin between two commands of the first sync.
      /far more than was requested|more than 2000 lines/,
    ],
    ['a line that is too long', { selected: [`FLAGS (${'\\a '.repeat(40_000)})`] }, 'too long'],
  ] satisfies [string, ImapScript, string | RegExp][])(
    'by %s shows the error with its reason, and pauses, while others sync',
    async (_what, script, reason) => {
      const service = started(await open())
      const [hostile, healthy] = await Promise.all([server(script), server()])
      const hostileId = await link(service, hostile, 'mallory')
      const healthyId = await link(service, healthy, 'ann')
      await service.start()
      await connected(service, healthyId)
      await eventually(async () => {
        const { status, statusReason } = await service.accounts.get(hostileId)
        expect({ status, statusReason }).toEqual({ status: 'error', statusReason: expect.stringMatching(reason) })
      })
      const nextRunAt = await eventually(() => {
        const state = service.sync.state(hostileId)
        expect(state).toMatchObject({ state: 'waiting', attempts: 1 })
        return state?.nextRunAt ?? 0
      })
      expect(nextRunAt - Date.now()).toBeGreaterThan(4 * MINUTE_MS)
    },
  )

  it('is not tried again at a restart, but when a person asks for it, and then rests longer', async () => {
    const db = await open()
    const [hostile, healthy] = await Promise.all([
      server({ onCommand: (name, socket) => name === 'LIST' && flood(socket, 'LIST () "/" x') }),
      server(),
    ])
    const first = started(db)
    const hostileId = await link(first, hostile, 'mallory')
    const healthyId = await link(first, healthy, 'ann')
    await first.start()
    const isPaused = async (service: typeof first, attempts: number) => {
      expect(service.sync.state(hostileId)).toMatchObject({ state: 'waiting' })
      const row = db.read.selectFrom('syncStates').selectAll().where('accountId', '=', hostileId)
      expect(await row.executeTakeFirst()).toMatchObject({ attempts, lastError: expect.stringContaining('lines') })
    }
    await eventually(() => isPaused(first, 1))
    await first.stop()
    const attempts = hostile.commands.length

    const second = started(db)
    await second.start()
    await connected(second, healthyId)
    await second.synced(healthyId)
    await eventually(() => isPaused(second, 1))
    expect(hostile.commands).toHaveLength(attempts)
    await second.wake(hostileId)
    await eventually(() => isPaused(second, 2))
    expect(hostile.commands.length).toBeGreaterThan(attempts)
    expect((second.sync.state(hostileId)?.nextRunAt ?? 0) - Date.now()).toBeGreaterThan(9 * MINUTE_MS)
  })
})
