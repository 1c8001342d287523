import type { DemoApi } from '../api.ts'

/** The fields of a message that the application shows. */
export interface InboxMessage {
  id: string
  subject: string
  from: { name: string; email: string } | null
  snippet: string
  receivedAt: string
  unread: boolean
}

interface MessageList {
  messages: InboxMessage[]
  pagination: { total: number }
}

/** The messages of the connected account, newest first, as of the last `load`. */
export interface Inbox {
  readonly messages: readonly InboxMessage[]
  readonly total: number
  load(accountId: string): Promise<void>
  /** Loads again soon. Calls during a load cause one more. */
  refresh(accountId: string): void
}

const SHOWN = 20

/** `onChange` is called after each load. */
export function inbox(api: DemoApi, onChange: () => void): Inbox {
  let list: MessageList = { messages: [], pagination: { total: 0 } }
  let running = false
  let again = false

  async function load(accountId: string): Promise<void> {
    list = await api.get<MessageList>(`/accounts/${accountId}/messages?limit=${SHOWN}`)
    onChange()
  }

  return {
    get messages() {
      return list.messages
    },
    get total() {
      return list.pagination.total
    },
    load,
    refresh(accountId) {
      if (running) {
        again = true
        return
      }
      running = true
      // The service may be stopping. The next webhook tries again.
      void load(accountId)
        .catch(() => {})
        .finally(() => {
          running = false
          if (again) {
            again = false
            this.refresh(accountId)
          }
        })
    },
  }
}
