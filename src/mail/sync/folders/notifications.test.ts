import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { type Log, silentLog } from '../../../platform/log/index.ts'

const open = databases('sqlite')

it('disconnects from a mail server that floods the connection for minutes, and logs the reason', async () => {
  const server = closing(
    await startScriptedImap({ onIdle: (say) => say(...Array<string>(20_000).fill('1 FETCH (FLAGS (\\Seen))')) }),
  )
  const warnings: string[] = []
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), with: () => log }
  const service = syncService(await open(), {
    log,
    imap: { flood: { lines: 5000, bytes: 1024 * 1024, linesPerSecond: 10, bytesPerSecond: 1000 } },
  })
  closing({ close: () => service.stop() })
  await service.start()
  const { host = '', port: imapsPort = 0 } = server.access.settings.imap ?? {}
  const accountId = await service.link({ host, imapsPort }, 'ann', 'secret')
  await eventually(async () => {
    const { lastRunAt = null, nextRunAt = null } = service.sync.state(accountId) ?? {}
    // Its state is empty before the first run.
    return lastRunAt !== null && nextRunAt !== null && nextRunAt - lastRunAt > 4 * 60_000
  })
  expect(warnings).toContainEqual(expect.stringMatching(/pauses for \d+ s: .*far more than was requested/))
  expect(server.commands.filter((name) => name === 'LOGIN')).toHaveLength(1)
})

it('reads a change that is reported while the folders are checked, before the next poll', async () => {
  let reported = 0
  const scripted = closing(
    await startScriptedImap({
      capabilities: 'ENABLE CONDSTORE',
      folders: ['Sent'],
      selected: ['0 EXISTS', 'OK [UIDVALIDITY 7] ok', 'OK [UIDNEXT 1] ok', 'OK [HIGHESTMODSEQ 5] ok'],
      status: 'MESSAGES 0 UNSEEN 0 UIDNEXT 1 UIDVALIDITY 7 HIGHESTMODSEQ 5',
      onStatus(folder, say) {
        if (folder !== 'Sent' || reported !== 1) return
        say('1 EXISTS')
        reported = scripted.commands.length
      },
    }),
  )
  const db = await open()
  const service = syncService(db, { timing: { pollMs: 3_600_000 }, settings: { folders: ['Sent'] } })
  closing({ close: () => service.stop() })
  const { host = '', port: imapsPort = 0 } = scripted.access.settings.imap ?? {}
  const accountId = await service.link({ host, imapsPort }, 'ann', 'secret')
  await service.start()
  await connected(service, accountId)
  reported = 1
  scripted.disconnect()
  await eventually(() => expect(reported).toBeGreaterThan(1))
  await eventually(() => expect(scripted.commands.slice(reported)).toContain('UID'))
})
