import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type Issuer, startIssuer } from '../../../test/servers/issuer.ts'
import { startScriptedImap } from '../../../test/servers/scripted-imap.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { MailAccess } from '../contract/index.ts'
import { imapOnThread } from './index.ts'
import { imapProvider } from './provider.ts'

const never = new AbortController().signal
const ADA = 'ada@acme.test'

/** Returns these tokens, one after the other, and what was refused. */
function withTokens(access: MailAccess, tokens: readonly string[]) {
  const left = [...tokens]
  const refused: (string | undefined)[] = []
  const accessToken = async (token?: string) => {
    refused.push(token)
    return left.shift() ?? 'none left'
  }
  return { refused, access: { ...access, secrets: {}, accessToken } }
}

describe.skipIf(!dovecotAvailable()).each([
  ['OAUTHBEARER', 'oauthbearer xoauth2 plain login'],
  ['XOAUTH2', 'xoauth2 plain login'],
])('access tokens at a Dovecot with %s', (_name, mechanisms) => {
  let issuer: Issuer
  let server: Dovecot
  beforeAll(async () => {
    issuer = await startIssuer({ redirectUris: ['http://127.0.0.1:1/'] })
    server = await startDovecot({ oauth: issuer, extraConfig: `auth_mechanisms = ${mechanisms}` })
    await server.addUser(ADA, 'unused')
  })
  afterAll(async () => {
    await server?.stop()
    await issuer?.close()
  })

  it('log in on the thread of the connections, after one that is refused', async () => {
    const { mail } = closing(imapOnThread({ guard: openGuard }))
    const { access, refused } = withTokens(imapAccess(server, ADA, ''), ['made up', await issuer.issueToken(ADA)])
    const { folders } = await mail.verify(access, never)
    expect(folders.map(({ path }) => path)).toContain('INBOX')
    expect(refused).toEqual([undefined, 'made up'])
  })

  it('are refreshed once only, and are good for the mailbox of their user', async () => {
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
    onTestFinished(() => mail.closeConnections())
    await server.addUser('bob@acme.test', 'unused')
    const { access, refused } = withTokens(imapAccess(server, 'bob@acme.test', ''), [
      await issuer.issueToken(ADA),
      await issuer.issueToken(ADA),
    ])
    await expect(mail.verify(access, never)).rejects.toMatchObject({ kind: 'auth_expired', tokenRefused: true })
    expect(refused).toHaveLength(2)
  })
})

const json = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64')

/** A server that sends these lines after AUTHENTICATE, each after a response of the client, and then refuses the login. */
async function scripted(capabilities: string, challenges: readonly string[]) {
  let pending = ''
  let left: string[] = []
  const responses: string[] = []
  const server = closing(
    await startScriptedImap({
      capabilities,
      onCommand(name, socket, tag, line) {
        const isExchange = name === 'AUTHENTICATE'
        if (!isExchange && pending === '') return false
        if (isExchange) {
          pending = tag
          left = [...challenges]
        }
        responses.push(line)
        const next = left.shift()
        socket.write(
          next === undefined ? `${pending} NO [AUTHENTICATIONFAILED] Invalid credentials\r\n` : `+ ${next}\r\n`,
        )
        if (next === undefined) pending = ''
        return true
      },
    }),
  )
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  onTestFinished(() => mail.closeConnections())
  const { access, refused } = withTokens(server.access, ['first', 'second'])
  return { verify: () => mail.verify(access, never), refused, responses }
}

describe('a server that refuses a token', () => {
  it('is answered, so that it ends the exchange, and a fresh token is tried', async () => {
    const { verify, refused, responses } = await scripted('SASL-IR AUTH=OAUTHBEARER', [
      json({ status: 'invalid_token' }),
    ])
    await expect(verify()).rejects.toMatchObject({ kind: 'auth_expired', tokenRefused: true })
    expect(refused).toEqual([undefined, 'first'])
    expect(responses.filter((line) => line.startsWith('AQ=='))).toHaveLength(2)
  })

  it('because of a scope gets no other one', async () => {
    const { verify, refused } = await scripted('SASL-IR AUTH=XOAUTH2', [json({ status: 'insufficient_scope' })])
    const message = expect.stringContaining('a scope that the access token does not have')
    await expect(verify()).rejects.toMatchObject({ kind: 'auth_expired', tokenRefused: false, message })
    expect(refused).toHaveLength(1)
  })

  it('may explain nothing that can be read', async () => {
    const { verify, refused } = await scripted('AUTH=XOAUTH2', ['', 'bm8ganNvbg=='])
    await expect(verify()).rejects.toMatchObject({ kind: 'auth_expired', tokenRefused: true })
    expect(refused).toHaveLength(2)
  })

  it.each([
    ['endless', Array.from({ length: 3000 }, () => json({ status: 'invalid_token' }))],
    ['huge', [json({ status: 'x'.repeat(4 * 1024 * 1024) })]],
  ])('with %s challenges is disconnected', async (_name, challenges) => {
    const { verify } = await scripted('SASL-IR AUTH=OAUTHBEARER', challenges)
    await expect(verify()).rejects.toMatchObject({ kind: 'limit_exceeded' })
  })

  it('because it offers no mechanism for one is another failure, and gets none', async () => {
    const { verify, refused, responses } = await scripted('AUTH=PLAIN AUTH=LOGIN', [])
    await expect(verify()).rejects.toMatchObject({ kind: 'auth_expired', problem: 'no_oauth_login' })
    expect([refused.length, responses]).toEqual([1, []])
  })
})
