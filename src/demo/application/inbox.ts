import type { Message, Posthorn } from '@posthorn/sdk'

/** The messages of the connected account, newest first, as of the last `load`. */
export interface Inbox {
  readonly messages: readonly Message[]
  readonly total: number
  load(accountId: string): Promise<void>
  /** Loads again soon. Calls during a load cause one more. */
  refresh(accountId: string): void
}

const SHOWN = 20

/** `onChange` is called after each load. */
export function inbox(posthorn: Posthorn, onChange: () => void): Inbox {
  let messages: readonly Message[] = []
  let total = 0
  let running = false
  let again = false

  async function load(accountId: string): Promise<void> {
    const page = await posthorn.messages.list(accountId, { limit: SHOWN })
    messages = page.items
    total = page.pagination.total
    onChange()
  }

  return {
    get messages() {
      return messages
    },
    get total() {
      return total
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
