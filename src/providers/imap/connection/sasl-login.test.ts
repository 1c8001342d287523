import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { MailAccess } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const never = new AbortController().signal

function signIn(access: MailAccess) {
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  return mail.verify(access, never)
}

describe.skipIf(!dovecotAvailable()).each(['scram-sha-256 scram-sha-1', 'cram-md5'])(
  'a Dovecot that offers only %s',
  (mechanisms) => {
    let server: Dovecot
    beforeAll(async () => {
      server = await startDovecot({
        extraConfig: `
auth_mechanisms = ${mechanisms}
disable_plaintext_auth = yes
passdb {
  driver = static
  args = password=pencil
}
`,
      })
      await server.addUser('ann', 'unused')
    })
    afterAll(() => server.stop())

    it('logs in with the password, and reports another one as refused', async () => {
      const { folders } = await signIn(imapAccess(server, 'ann', 'pencil'))
      expect(folders.map(({ path }) => path)).toContain('INBOX')
      await expect(signIn(imapAccess(server, 'ann', 'wrong'))).rejects.toMatchObject({ kind: 'auth_expired' })
    })
  },
)

it('does not trust a server that ends the login without proving that it knows the password', async () => {
  const server = await startScriptedImap({
    capabilities: 'AUTH=SCRAM-SHA-256 LOGINDISABLED',
    onCommand(name, socket, tag, line) {
      if (name === 'AUTHENTICATE') {
        pending = tag
        socket.write('+ \r\n')
        return true
      }
      // The only line of a login without a name.
      if (line.includes(' ') || pending === '') return false
      socket.write(`${pending} OK Logged in\r\n`)
      pending = ''
      return true
    },
  })
  let pending = ''
  onTestFinished(() => server.close())
  await expect(signIn(server.access)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('SCRAM'),
  })
})
