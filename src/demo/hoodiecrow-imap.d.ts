/** The part of hoodiecrow-imap that the demo uses; the package has no types. */
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net'
  import type { FetchHandler } from 'hoodiecrow-imap/lib/commands/handlers/fetch.js'

  interface Mailbox {
    messages?: { raw: string; internaldate?: string; flags?: string[] }[]
    folders?: Record<string, Mailbox>
    separator?: string
    'special-use'?: string
  }
  interface Options {
    plugins: (string | ((server: ImapServer) => void))[]
    users: Record<string, { password: string }>
    storage: Record<string, Mailbox>
  }
  export interface ImapServer {
    server: Server
    /** Handlers put here come before the server's own. */
    fetchHandlers: Record<string, FetchHandler>
    listen(port: number, host: string): void
    appendMessage(mailbox: string, flags: string[], internalDate: string, raw: string): unknown
  }
  export default function hoodiecrow(options: Options): ImapServer
}

declare module 'hoodiecrow-imap/lib/commands/handlers/fetch.js' {
  /** One item of a FETCH as asked for: `BODY[HEADER]<0.65536>` has the partial `[0, 65536]`. */
  interface FetchItem {
    partial?: number[]
  }
  type FetchHandler = (connection: unknown, message: unknown, item: FetchItem) => unknown
  const handlers: { BODY: FetchHandler }
  export default handlers
  export type { FetchHandler, FetchItem }
}
