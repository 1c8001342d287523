/** The standing order of an account at its provider: one at most. Written by the account's owner under its epoch. */
interface PushSubscriptionTable {
  accountId: string
  provider: 'gmail' | 'microsoft' | 'imap'
  /** The provider's id of it; for Gmail the address. */
  subscriptionId: string
  /** The topic, or the address of ours, that it tells. */
  target: string
  /** SHA-256 of what comes back with every notice of Graph, in base64url; null for Gmail. */
  clientStateHash: string | null
  /** 0 when the provider said that it is gone. */
  expiresAt: number
  renewAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    pushSubscriptions: PushSubscriptionTable
  }
}
