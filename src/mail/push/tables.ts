/** The push subscription of an account at its provider, at most one. Its owner writes it under the account's epoch. */
interface PushSubscriptionTable {
  accountId: string
  provider: 'gmail' | 'microsoft' | 'imap'
  /** The provider's id of the subscription. For Gmail, the address. */
  subscriptionId: string
  /** Where the provider sends notifications: a topic, or our URL. */
  target: string
  /** `hashClientState` of the secret in every Graph notification. Null for Gmail. */
  clientStateHash: string | null
  /** 0 when the provider reported that the subscription was removed. */
  expiresAt: number
  renewAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    pushSubscriptions: PushSubscriptionTable
  }
}
