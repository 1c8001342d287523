import type { MailAccess } from './provider.ts'

/** Where the provider is to tell of changes. */
export type PushTarget =
  /** Gmail: a Cloud Pub/Sub topic, `projects/x/topics/y`. */
  | { kind: 'topic'; topicName: string }
  /** Graph: an https address of ours; `clientState` comes back with every notice and proves it. */
  | { kind: 'webhook'; url: string; lifecycleUrl: string; clientState: string }

/** A standing order to tell of changes in one mailbox. */
export interface PushSubscription {
  /** Graph's id; for Gmail, which has one per mailbox, the address. */
  id: string
  /** Milliseconds. It must be renewed before. */
  expiresAt: number
}

/** Has the provider tell of changes, instead of asking it again and again. Throws `ProviderError`. */
export interface PushProvider {
  begin(access: MailAccess, target: PushTarget): Promise<PushSubscription>
  /** Throws `not_found` when the provider knows it no more: begin again. */
  renew(access: MailAccess, id: string, target: PushTarget): Promise<PushSubscription>
  /** Best effort; one that is gone already is no error. */
  end(access: MailAccess, id: string): Promise<void>
}
