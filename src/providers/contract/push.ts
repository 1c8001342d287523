import type { MailAccess } from './provider.ts'

/** Where the provider sends its notifications. */
export type PushTarget =
  /** Gmail: a Cloud Pub/Sub topic, `projects/x/topics/y`. */
  | { kind: 'topic'; topicName: string }
  /** Graph: an https address of ours. Every notification carries `clientState`, which authenticates it. */
  | { kind: 'webhook'; url: string; lifecycleUrl: string; clientState: string }

/** A subscription to the changes of one mailbox. */
export interface PushSubscription {
  /** Graph's id; for Gmail, which has one subscription per mailbox, the address. */
  id: string
  /** Milliseconds. Renew it before. */
  expiresAt: number
}

/** Subscribes to changes, so that sync need not poll often. Throws `ProviderError`. */
export interface PushProvider {
  begin(access: MailAccess, target: PushTarget): Promise<PushSubscription>
  /** Throws `not_found` when the subscription no longer exists: begin a new one. */
  renew(access: MailAccess, id: string, target: PushTarget): Promise<PushSubscription>
  /** Best effort; succeeds when the subscription no longer exists. */
  end(access: MailAccess, id: string): Promise<void>
}

/** Subscribes to changes of events. Throws `ProviderError`, `rejected` for a calendar whose changes the provider does not report. */
export interface CalendarPush {
  /** Whether a subscription covers one calendar or the account. For an account, `calendarId` is ignored. */
  readonly covers: 'calendar' | 'account'
  begin(access: MailAccess, calendarId: string, target: PushTarget): Promise<PushSubscription>
  /** Throws `not_found` when the subscription no longer exists. The result may have another id: Google's channels cannot be renewed. */
  renew(access: MailAccess, calendarId: string, id: string, target: PushTarget): Promise<PushSubscription>
  /** Succeeds when the subscription no longer exists. */
  end(access: MailAccess, id: string): Promise<void>
}
