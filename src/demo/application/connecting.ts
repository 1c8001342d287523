import { randomBytes } from 'node:crypto'
import type { Posthorn } from '@posthorn/sdk'
import { untilAborted } from '../../platform/concurrency/abort.ts'
import type { DemoMailbox } from '../mailbox.ts'

export interface Connecting {
  /** Creates a one-time link, and returns it with a state. */
  begin(): Promise<string>
  /** Returns the id of the connected account, or null when the visitor cancelled. `query` is that of the redirect. */
  finish(query: URLSearchParams): Promise<string | null>
  /** The first connected account. Rejects when the signal aborts. */
  connected(signal: AbortSignal): Promise<string>
}

/** Connects mailboxes through the hosted pages of the service, as any application does. */
export function connecting(posthorn: Posthorn, mailbox: DemoMailbox, redirectUri: string): Connecting {
  /** The state of each link that has not come back, and its session. */
  const open = new Map<string, string>()
  let accept: (accountId: string) => void = () => {}
  const first = new Promise<string>((resolve) => {
    accept = resolve
  })

  return {
    async begin() {
      const { code, authUrl } = await posthorn.sessions.create({ email: mailbox.user, redirectUri })
      const state = randomBytes(16).toString('base64url')
      open.set(state, code)
      return `${authUrl}&state=${state}`
    },

    async finish(query) {
      const state = query.get('state') ?? ''
      const code = open.get(state)
      if (code === undefined) throw new Error('The state is not one of this application. Connect again.')
      open.delete(state)
      // The query could be forged; the service knows the result.
      const { accountId } = await posthorn.sessions.get(code)
      if (accountId !== null) accept(accountId)
      return accountId
    },

    connected: (signal) => untilAborted(first, signal),
  }
}
