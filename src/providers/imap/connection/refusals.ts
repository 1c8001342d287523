import type { Refusal } from '../../contract/index.ts'

/** RFC 5530. */
const BY_CODE: Readonly<Record<string, Refusal>> = {
  OVERQUOTA: 'quota_exceeded',
  NOPERM: 'not_permitted',
  'READ-ONLY': 'folder_read_only',
}
/** Codes that leave the cause to the words. Any other one, such as CANNOT, names a cause of its own. */
const VAGUE_CODES: ReadonlySet<string> = new Set(['', 'ALERT'])
/** Gmail also sends OVERQUOTA for such limits, which end by themselves. */
const RATE_WORDS = /bandwidth|command|connection|rate limit|too many|try again|temporar/i

/**
 * Courier and Cyrus send no code:
 *
 *     NO [ALERT] You exceeded your mail quota.                                    Courier
 *     NO Over quota                                                               Cyrus
 *     NO [OVERQUOTA] Quota exceeded (mailbox for user is full)                    Dovecot
 *     NO Current box is selected READ-ONLY.                                       Courier
 *     NO Read-only mailbox.                                                       Dovecot
 *     NO Access denied for i on INBOX.x (ACL "lr" required)                       Courier
 *     NO [ALERT] COPY failed - no write permission or out of disk space.          Courier
 *     NO Permission denied                                                        Cyrus
 */
const BY_WORDS: readonly (readonly [RegExp, Refusal])[] = [
  [/quota|mailbox( for user)? is full|not enough (disk )?space/i, 'quota_exceeded'],
  [/read[- ]?only/i, 'folder_read_only'],
  [
    /(permission|access) denied|no (write )?permission|not permitted|lack .*(privilege|permission|right)|insufficient (privilege|permission|right)/i,
    'not_permitted',
  ],
]

/** Why a server refused a command; undefined for other reasons. */
export function classifyRefusal({ responseCode, words }: { responseCode: string; words: string }): Refusal | undefined {
  if (RATE_WORDS.test(words)) return undefined
  const byCode = BY_CODE[responseCode]
  if (byCode !== undefined || !VAGUE_CODES.has(responseCode)) return byCode
  return BY_WORDS.find(([pattern]) => pattern.test(words))?.[1]
}
