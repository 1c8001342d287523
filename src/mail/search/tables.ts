/** The index of PostgreSQL. On SQLite it is a file of its own, without a row of this table. */
interface MessageTermTable {
  messageId: string
  receivedAt: number
  /** A tsvector of the message's terms. */
  terms: string
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    messageTerms: MessageTermTable
  }
}
