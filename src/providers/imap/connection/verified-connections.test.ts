import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { type ImapScript, startScriptedImap } from '../../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { MailAccess } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

async function opened(script: ImapScript = {}) {
  let open = 0
  const server = closing(
    await startScriptedImap({
      ...script,
      onCommand(name, socket, tag, line) {
        if (name === 'LOGIN') {
          open += 1
          socket.once('close', () => {
            open -= 1
          })
        }
        return script.onCommand?.(name, socket, tag, line)
      },
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { verifyMs: 5000 } })
  closing({ close: () => mail.closeConnections() })
  const { signal } = new AbortController()
  return {
    server,
    mail,
    openConnections: () => open,
    logins: () => server.commands.filter((name) => name === 'LOGIN').length,
    verify: () => mail.verify(server.access, signal, { keepConnection: true }),
    async session(access: MailAccess = server.access) {
      const session = await mail.openSession(access, { onChange() {}, onClose() {} }, signal)
      closing({ close: () => session.close() })
      return session
    },
  }
}

it('hands a verified connection to one session of the same mailbox', async () => {
  const { session, verify, logins } = await opened()
  await verify()
  const first = await session()
  expect((await first.listFolders()).map(({ path }) => path)).toEqual(['INBOX'])
  expect(logins()).toBe(1)
  await session()
  expect(logins()).toBe(2)
})

it('signs in again with another password, username, server or folder', async () => {
  const { server, session, verify, logins } = await opened()
  await verify()
  const { access } = server
  const { imap } = access.settings
  if (imap === undefined) throw new Error('no IMAP settings')
  await session({ ...access, secrets: { password: 'other' } })
  await session({ ...access, settings: { imap: { ...imap, username: 'other' } } })
  await session({ ...access, settings: { imap: { ...imap, host: 'localhost' } } })
  await session({ ...access, settings: { imap: { ...imap, mailbox: 'Other' } } })
  expect(logins()).toBe(5)
})

it('closes a kept connection on which the server sends anything', async () => {
  let say = (_text: string) => {}
  const { openConnections, session, verify, logins } = await opened({
    onCommand(_name, socket) {
      say = (text) => void socket.write(text)
      return undefined
    },
  })
  await verify()
  expect(openConnections()).toBe(1)
  say('* OK still here\r\n')
  await eventually(() => openConnections() === 0)
  await session()
  expect(logins()).toBe(2)
})

it('signs in again when the server closed the connection meanwhile', async () => {
  const { server, openConnections, session, verify, logins } = await opened()
  await verify()
  server.disconnect()
  await eventually(() => openConnections() === 0)
  await session()
  expect(logins()).toBe(2)
})

it('keeps 20 connections at most, and none when the provider is closed', async () => {
  const { mail, openConnections, verify } = await opened()
  // At once: on a busy machine, the first would expire while one after another signs in.
  await Promise.all(Array.from({ length: 21 }, () => verify()))
  await eventually(() => openConnections() === 20)
  await mail.closeConnections()
  await eventually(() => openConnections() === 0)
})

it('closes the connection after verifying where no sync will follow', async () => {
  const { mail, server, openConnections } = await opened()
  await mail.verify(server.access, new AbortController().signal)
  await eventually(() => openConnections() === 0)
})
