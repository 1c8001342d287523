import type { MailAccess } from '../contract/index.ts'
import type { QuotaLimits, RateLimit, RestClient, RestMailbox } from '../shared/rest/index.ts'

/**
 * The two sets of Google's quota page. Projects created since May 2026 have the first; those that used the API between November 2025
 * and April 2026 keep the second.
 */
type GmailQuotaSet = 'since-2026-05' | 'before-2026-05'

/** The quota of the Google project. */
export interface GmailQuota {
  set: GmailQuotaSet
  /** In place of those that the set documents. */
  unitsPerMinute?: number
}

/** Units per method. */
type GmailCosts = Readonly<typeof COMMON & typeof READING>

const COMMON = {
  send: 100,
  list: 5,
  history: 2,
  modify: 5,
  delete: 10,
  watch: 100,
  stop: 50,
  label: 5,
  createDraft: 10,
  updateDraft: 15,
  deleteDraft: 10,
}
const READING = { message: 20, attachment: 20, readDraft: 20 }

const SETS: Readonly<Record<GmailQuotaSet, { costs: GmailCosts; unitsPerMinute: number }>> = {
  'since-2026-05': { costs: { ...COMMON, ...READING }, unitsPerMinute: 6000 },
  'before-2026-05': {
    costs: { ...COMMON, message: 5, attachment: 5, readDraft: 5 },
    unitsPerMinute: 15_000,
  },
}
const CONCURRENCY = 8
/** Of all users of a Google project together, in a minute. */
export const PROJECT_UNITS = 1_200_000

/** A mailbox that knows what its requests cost. */
export interface GmailMailbox extends RestMailbox {
  readonly costs: GmailCosts
}

export interface GmailClient {
  /** See `RestClient`. */
  mailbox(access: MailAccess, options?: { urgent?: boolean; background?: boolean }): GmailMailbox
}

export function gmailRateLimit(
  { set, unitsPerMinute = SETS[set].unitsPerMinute }: GmailQuota,
  burst?: number,
): RateLimit {
  const quota: QuotaLimits = { unitsPerMinute, ...(burst !== undefined && { burst }) }
  return { concurrency: CONCURRENCY, quota }
}

export function gmailClient(client: RestClient, { set }: GmailQuota): GmailClient {
  const { costs } = SETS[set]
  return { mailbox: (access, options) => ({ ...client.mailbox(access, options), costs }) }
}
