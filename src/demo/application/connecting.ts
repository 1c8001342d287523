import { randomBytes } from 'node:crypto'
import { untilAborted } from '../../platform/concurrency/abort.ts'
import type { DemoApi } from '../api.ts'
import type { DemoMailbox } from '../mailbox.ts'

/** The next page of a visitor who connects the mailbox. */
export interface NextPage {
  url: string
  /** The form to post there, and the cookies to set first. Undefined when the browser only opens the URL. */
  form: { fields: Record<string, string>; cookies: string[] } | undefined
}

export interface Connecting {
  /** Creates a one-time link. */
  begin(): Promise<NextPage>
  /** Returns the id of the connected account, or null when the visitor cancelled. `query` is that of the redirect. */
  finish(query: URLSearchParams): Promise<string | null>
  /** The first connected account. Rejects when the signal aborts. */
  connected(signal: AbortSignal): Promise<string>
}

const TIMEOUT_MS = 15_000

/** Connects mailboxes through the hosted pages of the service, as any application does. */
export function connecting(api: DemoApi, mailbox: DemoMailbox, redirectUri: string): Connecting {
  /** The state of each link that has not come back, and its session. */
  const open = new Map<string, string>()
  let accept: (accountId: string) => void = () => {}
  const first = new Promise<string>((resolve) => {
    accept = resolve
  })

  return {
    async begin() {
      const { provider, user: email } = mailbox
      const { code, authUrl } = await api.post<{ code: string; authUrl: string }>('/auth/sessions', {
        provider,
        email,
        redirectUri,
      })
      const state = randomBytes(16).toString('base64url')
      open.set(state, code)
      const url = `${authUrl}&state=${state}`
      if (mailbox.signIn === undefined) return { url, form: undefined }
      const hosted = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      await hosted.body?.cancel()
      return {
        url: new URL('/auth/authorize/imap', authUrl).href,
        form: {
          // "Choose a folder" signs in and shows the rest of the form, filled in.
          fields: { session: code, state, ...mailbox.signIn, intent: 'folders' },
          cookies: hosted.headers.getSetCookie(),
        },
      }
    },

    async finish(query) {
      const state = query.get('state') ?? ''
      const code = open.get(state)
      if (code === undefined) throw new Error('The state is not one of this application. Connect again.')
      open.delete(state)
      // The query could be forged; the service knows the result.
      const { accountId } = await api.get<{ accountId: string | null }>(`/auth/sessions/${code}`)
      if (accountId !== null) accept(accountId)
      return accountId
    },

    connected: (signal) => untilAborted(first, signal),
  }
}
