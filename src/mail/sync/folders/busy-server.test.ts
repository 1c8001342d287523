import { expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'

describeOneDatabase('a server that refuses logins for now', 'sqlite', (open) => {
  it.each([
    'NO [ALERT] Too many simultaneous connections. (Failure)',
    'NO [AUTHENTICATIONFAILED] Temporary authentication failure',
    'NO [CONTACTADMIN] MySQL error',
  ])('with %s causes no auth_error, is called busy, and is synced when it accepts them', async (refusal) => {
    let isRefusing = false
    const server = closing(
      await startScriptedImap({
        folders: ['Elsewhere'],
        onCommand(name, socket, tag) {
          if (name !== 'LOGIN' || !isRefusing) return false
          socket.write(`${tag} ${refusal}\r\n`)
          return true
        },
      }),
    )
    const { host = '', port: imapsPort = 0 } = server.access.settings.imap ?? {}
    const db = await open()
    const service = syncService(db, { timing: { stalledAfter: 1 } })
    onTestFinished(() => service.stop())
    const accountId = await service.link({ host, imapsPort }, 'ann', 'secret')
    await service.start()
    await connected(service, accountId)
    isRefusing = true
    server.disconnect()
    await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
    await expect(service.reader.list(accountId, { mailbox: 'Elsewhere' })).rejects.toMatchObject({
      code: 'provider_unavailable',
      message: expect.stringMatching(/^The provider is busy: (?!.*password).* Try again later\.$/),
    })
    isRefusing = false
    await eventually(async () => {
      await service.clear()
      expect(await service.accounts.get(accountId)).toMatchObject({ status: 'connected' })
    })
    const events = db.read.selectFrom('events').select('type').where('type', 'like', 'account.%').orderBy('sequence')
    expect((await events.execute()).map(({ type }) => type)).toEqual([
      'account.connected',
      'account.sync_stalled',
      'account.recovered',
    ])
  })
})
