import { expect } from 'vitest'
import type { Dovecot } from '../../servers/dovecot.ts'
import type { SmtpSink } from '../../servers/smtp.ts'
import { eventually } from '../eventually.ts'
import { api } from '../http/http.ts'
import type { Service } from '../service/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

export const HELLO = { to: ['Bob <bob@example.com>'], subject: 'Hello', body: 'Hello Bob' }

/** The API of a service for accounts that send over this SMTP server. */
export function sendingApi({ server, smtp, service }: { server: Dovecot; smtp: SmtpSink; service: Service }) {
  let users = 0
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await api(service.url, service.key).request(method, path, { ...(body && { body }), headers })
    return { status: response.status, body: response.json }
  }

  /** A new account. The SMTP server behaves and has forgotten its messages. */
  async function connected() {
    users += 1
    const user = `sender${users}`
    await server.addUser(user, 'one')
    smtp.behave({})
    smtp.messages.length = 0
    const { body } = await call('POST', '/accounts', {
      email: `${user}@acme.example`,
      host: server.host,
      port: server.imapsPort,
      username: user,
      password: 'one',
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
    })
    const accountId: string = body.id
    await eventually(async () => {
      expect((await call('GET', `/accounts/${accountId}`)).body.status).toBe('connected')
    })
    const send = (message: object, headers = {}) =>
      call('POST', `/accounts/${accountId}/messages/send`, message, headers)
    const outbox = async (id: string): Promise<Json> => (await call('GET', `/outbox/${id}`)).body
    const becomes = (id: string, status: string) =>
      eventually(async () => {
        const found = await outbox(id)
        expect(found).toMatchObject({ status })
        return found
      })
    const events = async (type: string): Promise<Json[]> =>
      (await call('GET', `/events?accountId=${accountId}&type=${type}`)).body.events
    return { user, accountId, send, outbox, becomes, events }
  }

  return { call, connected }
}

export type SendingApi = ReturnType<typeof sendingApi>
